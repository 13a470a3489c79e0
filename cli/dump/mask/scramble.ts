import { hash } from "node:crypto";

/** A place of a text that gets another character. */
interface Position {
  index: number;
  /** Number of the character there, below `radix`. */
  value: number;
  radix: number;
  /** First character of those that may stand there. */
  first: number;
}

/** Largest half of a text that is permuted, as a number: sums with 52 random bits stay exact. */
const largest = 2 ** 40;

/** Rounds of the Feistel network. FF1 of NIST SP 800-38G has ten, against attackers who choose what is masked. */
const rounds = 8;

const code = (text: string): number => text.charCodeAt(0);
const [zero, one, upper, lower] = ["0", "1", "A", "a"].map(code) as [number, number, number, number];

/**
 * Another text of the same form: a digit for each digit, a letter for each letter, the rest as it stands. Two texts of one form
 * never become the same: it is a permutation keyed by `key`, a Feistel network over both halves with SHA-256. Of a number the
 * zeros at its beginning stay, and none come.
 */
export function scramble(text: string, key: string): string {
  const characters = Array.from(text);
  const { positions, form } = positionsIn(characters);
  if (positions.length === 0) return text;
  for (let attempt = 0; ; attempt++) {
    const moved = permute(positions, `${key}${attempt};${form};`);
    const made = [...characters];
    positions.forEach(({ index, first }, at) => (made[index] = String.fromCharCode(first + (moved[at] ?? 0))));
    const scrambled = made.join("");
    // A permutation may leave a text where it is; a second one then takes it elsewhere.
    if (scrambled !== text || attempt === rounds) return scrambled;
  }
}

/** Places whose characters are replaced, and the form of all others. */
function positionsIn(characters: readonly string[]): { positions: Position[]; form: string } {
  const text = characters.join("");
  const isNumber = /^\d+(\.\d+)?$/.test(text) && text.length > 1;
  const zeros = isNumber ? (/^0*/.exec(text)?.[0].length ?? 0) : 0;
  const positions: Position[] = [];
  let form = "";
  for (const [index, character] of characters.entries()) {
    const isDigit = /\p{Nd}/u.test(character);
    const stays = isNumber ? index < zeros || character === "." : /[\0-\x7f]/.test(character) && !/\w/.test(character);
    if (stays || character === "_") {
      form += character;
      continue;
    }
    const isEdge = isNumber && (index === zeros || (text.includes(".") && index === characters.length - 1));
    const [radix, first] = isDigit ? (isEdge ? [9, one] : [10, zero]) : [26, /\p{Lu}/u.test(character) ? upper : lower];
    const isPlain = character.length === 1 && code(character) >= first && code(character) < first + radix;
    const value = isPlain ? code(character) - first : (character.codePointAt(0) ?? 0) % radix;
    positions.push({ index, value, radix, first });
    form += isPlain ? `\u0001${radix}` : `\u0002${character}`;
  }
  return { positions, form };
}

function permute(positions: readonly Position[], key: string): number[] {
  const middle = Math.ceil(positions.length / 2);
  const halves = [positions.slice(0, middle), positions.slice(middle)] as const;
  const [sizeA, sizeB] = halves.map((half) => half.reduce((size, { radix }) => size * radix, 1)) as [number, number];
  if (sizeA > largest || sizeB > largest) return drawAll(positions, key);
  let [a, b] = halves.map((half) => half.reduce((sum, { value, radix }) => sum * radix + value, 0)) as [number, number];
  if (sizeB === 1) a = (a + 1 + (draw(`${key}alone`) % (sizeA - 1))) % sizeA;
  else
    for (let round = 0; round < rounds; round++) {
      if (round % 2 === 0) a = (a + draw(`${key}${round}:${b}`)) % sizeA;
      else b = (b + draw(`${key}${round}:${a}`)) % sizeB;
    }
  return [...charactersOf(a, halves[0]), ...charactersOf(b, halves[1])];
}

function charactersOf(number: number, half: readonly Position[]): number[] {
  let rest = number;
  return half
    .map(({ radix }) => radix)
    .reduceRight<number[]>((all, radix) => {
      const digit = rest % radix;
      rest = Math.floor(rest / radix);
      return [digit, ...all];
    }, []);
}

/** Long texts: each place by itself, keyed by the whole text. Two of them become the same one with odds below 2^-80. */
function drawAll(positions: readonly Position[], key: string): number[] {
  const text = positions.map(({ value }) => value).join(",");
  let bytes = "";
  return positions.map(({ radix }, index) => {
    if (index * 4 >= bytes.length) bytes += hash("sha256", `${key}${index}>${text}`, "binary");
    let drawn = 0;
    for (let byte = 0; byte < 4; byte++) drawn = drawn * 256 + bytes.charCodeAt(index * 4 + byte);
    return drawn % radix;
  });
}

/** 52 bits of a keyed digest. */
function draw(text: string): number {
  const bytes = hash("sha256", text, "binary");
  let drawn = bytes.charCodeAt(6) & 15;
  for (let byte = 0; byte < 6; byte++) drawn = drawn * 256 + bytes.charCodeAt(byte);
  return drawn;
}

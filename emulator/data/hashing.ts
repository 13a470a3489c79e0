import { createHash, randomBytes, randomInt, scryptSync, timingSafeEqual } from "node:crypto";

// Cheap on purpose: a seed with many users must not slow the start down, and what is kept here are test accounts.
const cost = { N: 1024, r: 8, p: 1 };
const length = 32;

/** Digests of passwords by the hash that they were seen to have: a password is hashed once in a process. */
const known = new Map<string, string>();
const maxKnown = 10_000;

function remember(kept: string, password: string): void {
  if (known.size >= maxKnown) known.clear();
  known.set(kept, hashToken(kept + password));
}

/** Hashes a password with a salt of its own. */
export function hashPassword(password: string): string {
  const salt = randomBytes(16);
  const kept = `${salt.toString("base64url")}.${scryptSync(password, salt, length, cost).toString("base64url")}`;
  remember(kept, password);
  return kept;
}

export function isPassword(password: string, kept: string): boolean {
  if (known.get(kept) === hashToken(kept + password)) return true;
  const [salt = "", hash = ""] = kept.split(".");
  const actual = scryptSync(password, Buffer.from(salt, "base64url"), length, cost);
  const expected = Buffer.from(hash, "base64url");
  const isRight = actual.length === expected.length && timingSafeEqual(actual, expected);
  if (isRight) remember(kept, password);
  return isRight;
}

/** Returns a token that somebody chose; throws for one that could be guessed. */
export function requireLongToken(token: string): string {
  if (/^[\w-]{16,}$/.test(token)) return token;
  throw new Error("the emulator's token must have 16 letters, digits, hyphens or underscores at least");
}

export const newToken = (): string => randomBytes(32).toString("base64url");

/** Hashes a token or key, which is random or long enough to need no salt. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Names a session in the call log, which must not know its token. */
export const sessionID = (token: string): string => hashToken(token).slice(0, 12);

const digits = "0123456789abcdefghjkmnpqrstvwxyz"; // 32 that can't be confused, in the order of their codes

/** Makes IDs that sort in the order in which they were made, also when the clock stands still or goes back. */
export class Identifiers {
  #time = -1;
  #prefix = "";
  #suffix = 0;

  next(now: number): string {
    if (now > this.#time) {
      this.#time = Math.floor(now);
      this.#prefix = encode(this.#time);
      this.#suffix = randomInt(2 ** 47); // far from the end of ten digits, so that counting up can't overflow
    } else {
      this.#suffix += 1;
    }
    return this.#prefix + encode(this.#suffix);
  }
}

/** Ten digits of 5 bits. */
function encode(value: number): string {
  let text = "";
  for (let rest = value; text.length < 10; rest = Math.floor(rest / 32)) text = digits.charAt(rest % 32) + text;
  return text;
}

/** An ID that is the same for the same names, for what the seed describes. */
export function deriveID(...names: string[]): string {
  const digest = createHash("sha256").update(JSON.stringify(names)).digest();
  return Array.from(digest.subarray(0, 17), (byte) => digits.charAt(byte & 31)).join("");
}

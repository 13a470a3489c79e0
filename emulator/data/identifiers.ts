import { createHash, randomInt } from "node:crypto";

const digits = "0123456789abcdefghjkmnpqrstvwxyz"; // 32 that can't be confused, in the order of their codes

/** Makes IDs that sort in the order in which they were made, also when the clock stands still or goes back. */
export class Identifiers {
  #time = -1;
  #prefix = "";
  #suffix = 0;
  #number = 0;

  /** The same as whole numbers below 2^53, in digits. */
  nextNumber(now: number): string {
    this.#number = Math.max(this.#number + 1, Math.floor(now) * 1000);
    return String(this.#number);
  }

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

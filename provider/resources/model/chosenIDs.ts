import { createHash, randomBytes } from "node:crypto";

const letters = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * The ID under which a resource creates its thing: derived from its URN and the inputs that force replacement, so that
 * a later run that remembers nothing still finds what an interrupted one made. Without a URN (an import by hand) the
 * platform chooses.
 */
export function chosenID(urn: string | undefined, ...parts: string[]): string | undefined {
  if (urn === undefined) return undefined;
  const digest = createHash("sha256")
    .update(JSON.stringify([urn, ...parts]))
    .digest();
  return lettersOf(digest);
}

/** A random ID. */
export const randomID = (): string => lettersOf(randomBytes(24));

/** 24 letters of 55: 138 bits. */
const lettersOf = (bytes: Buffer): string =>
  Array.from(bytes.subarray(0, 24), (byte) => letters[byte % letters.length] ?? "").join("");

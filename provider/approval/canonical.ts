import { createHash } from "node:crypto";

/** JSON in which nothing but the content counts: maps in the order of their keys, nothing for undefined in them. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(
          Object.entries(inner)
            .filter(([, one]) => one !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
        )
      : inner,
  );
}

/** Full SHA-256 of a value as canonical JSON, in hex. */
export const digestOf = (value: unknown): string => createHash("sha256").update(canonical(value)).digest("hex");

import type { Json } from "../../provider/contract/wire.ts";

// How the platform embeds text is not documented. This embedding is assumed: words and their beginnings, counted in a
// fixed number of buckets. It is always the same, needs no model, and finds what shares words with the search.

const buckets = 512;

function bucket(text: string): number {
  let hash = 2166136261; // FNV-1a
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return (hash >>> 0) % buckets;
}

/** A text as a vector of length 1, or of zeros when it has no words. */
export function embedding(text: string): Float32Array {
  const vector = new Float32Array(buckets);
  for (const [word] of text
    .normalize("NFKD")
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    for (const [part, weight] of [
      [word, 1],
      [word.slice(0, 4), 0.5],
    ] as const) {
      const place = bucket(part);
      vector[place] = (vector[place] ?? 0) + weight;
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Similarity of two vectors, from 0 (nothing in common) to 1. */
export function similarity(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

/** The text of a row that is searched: all texts under its labels. */
export const textOf = (row: Json, labels: Iterable<string>): string =>
  Array.from(labels, (label) => row[label])
    .flat()
    .filter((value) => typeof value === "string")
    .join(" ");

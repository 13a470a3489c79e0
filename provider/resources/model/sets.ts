/** The set of a key; an empty one is made where there is none. */
export function setAt(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key) ?? new Set();
  sets.set(key, known);
  return known;
}

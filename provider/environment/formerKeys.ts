import { entryIn } from "../../platform/contract/wire.ts";
import { keyPlace, type Place, type Problem, type Value, valuePlace } from "../layers/document.ts";

/** The former keys of an entry, as the file has them: one text or a list. */
export type Formerly = string | readonly string[] | undefined;

/** The keys that an entry had before; one that is listed twice, as an overlay may do, counts once. */
export const formerKeys = (formerly: Formerly): string[] =>
  formerly === undefined ? [] : [...new Set(typeof formerly === "string" ? [formerly] : formerly)];

/** Entries by the key that they have now. */
type Entries = Readonly<Record<string, { formerly?: Formerly }>>;

interface Check {
  root: Value;
  report: (problem: Problem) => void;
}

/** Where something stands, as seen from another place. */
export const spot = (there: Place, from: Place): string =>
  there.line === 0
    ? `at ${there.file}`
    : there.file === from.file
      ? `in line ${there.line}`
      : `in ${there.file}:${there.line}`;

/**
 * Reports former keys that can't be meant: each is the key of one entry at most, and of none that is declared.
 * @param kind what the entries are, in the singular
 * @param path where their map stands
 * @param declared keys of the map, those of entries that are wrong inside among them
 */
export function checkFormerKeys(
  { root, report }: Check,
  kind: string,
  path: readonly string[],
  entries: Entries,
  declared: readonly string[],
): void {
  const takers = new Map<string, { key: string; at: Place }>();
  for (const [key, { formerly }] of Object.entries(entries)) {
    for (const former of formerKeys(formerly)) {
      const at = placeOf(root, [...path, key, "formerly"], formerly, former);
      const taker = takers.get(former);
      if (former === key) {
        report({ at, message: `${kind} "${key}" has the key "${former}" now; remove it from formerly` });
      } else if (declared.includes(former)) {
        const there = spot(keyPlace(root, [...path, former]), at);
        report({
          at,
          message: `${kind} "${former}" is declared ${there}, so "${key}" is not what it became; remove one of the two, or give the one ${there} another key`,
        });
      } else if (taker) {
        const there = spot(taker.at, at);
        report({ at, message: `${kind} "${taker.key}" was "${former}" formerly, too (${there}); keep one of them` });
      } else takers.set(former, { key, at });
    }
  }
}

function placeOf(root: Value, path: readonly string[], formerly: Formerly, former: string): Place {
  const index = typeof formerly === "string" ? -1 : (formerly?.indexOf(former) ?? -1);
  return valuePlace(root, index < 0 ? path : [...path, index]);
}

/** The key that an entry has now which had this one formerly, if any. */
export const keyNow = (former: string, entries: Entries): string | undefined =>
  Object.entries(entries).find(([, { formerly }]) => formerKeys(formerly).includes(former))?.[0];

/** Organizations with their teams, by the keys that they have now. */
export type Organizations = Readonly<Record<string, { formerly?: Formerly; teams?: Entries | undefined }>>;

/** Current name of a team that is named by former keys of it or its organization; it may no longer be declared. */
export function findPresentName(name: string, organizations: Organizations): string {
  const [organization = "", team = ""] = name.split("/");
  const keyOf = (key: string, entries: Entries): string =>
    Object.hasOwn(entries, key) ? key : (keyNow(key, entries) ?? key);
  const there = keyOf(organization, organizations);
  const teams = entryIn(organizations, there)?.teams;
  return `${there}/${keyOf(team, teams ?? {})}`;
}

/** The present name of a declared team. */
export function teamNow(name: string, organizations: Organizations): string | undefined {
  const now = findPresentName(name, organizations);
  const [organization = "", team = ""] = now.split("/");
  const teams = entryIn(organizations, organization)?.teams;
  return teams && Object.hasOwn(teams, team) ? now : undefined;
}

import { some } from "../../messages/text.ts";
import type { Named } from "../../reconcile/rosters.ts";
import { nameOf } from "./rosterLists.ts";

/** A roster as far as messages about it depend on it. */
interface Secrecy {
  sensitive?: boolean | undefined;
}

/** Names that a message gives of each kind. */
export const maxNamed = { plan: 5, failures: 20 };

/** The first few of some members, for people; only how many when the roster is secret. */
export const names = (members: readonly Named[], { sensitive }: Secrecy): string =>
  sensitive ? `${members.length} of them` : some(members.map(nameOf), maxNamed.plan);

/** Does something for each of many; answers those for whom it failed, with the reason. */
export async function each<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Map<Item, unknown>> {
  const failures = new Map<Item, unknown>();
  await Promise.all(items.map((item) => work(item).catch((reason: unknown) => failures.set(item, reason))));
  return failures;
}

/** Failures, a sentence for each person. */
export function sentences(what: string, failures: ReadonlyMap<Named, unknown>, { sensitive }: Secrecy): string[] {
  if (failures.size === 0) return [];
  // The platform's own words may hold the address.
  if (sensitive) return [`${failures.size} members were ${what}`];
  const first = [...failures].slice(0, maxNamed.failures).map(([member, reason]) => {
    return `${nameOf(member)} was ${what}: ${reason instanceof Error ? reason.message : String(reason)}`;
  });
  return failures.size > first.length ? [...first, `and ${failures.size - first.length} more were ${what}`] : first;
}

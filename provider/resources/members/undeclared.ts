import { formatCount } from "../../messages/text.ts";
import type { Named } from "../../reconcile/rosters.ts";
import { toYamlList, withoutLine, type RemovalLine } from "../model/removals.ts";
import { ResourceError, type OfflineContext } from "../model/resource.ts";
import { readPeople, type PeopleFile } from "./peopleList.ts";
import { nameOf } from "./rosterLists.ts";

interface Roster {
  removal?: RemovalLine | undefined;
  source?: string | undefined;
  team?: string | undefined;
  sensitive?: boolean | undefined;
}

/** Throws when members are about to leave a roster for whom the Environment file wants a line and has none. */
export async function refuseUndeclaredMembers(
  { removals, directory }: Pick<OfflineContext, "removals" | "directory">,
  { removal, source, team: part, sensitive }: Roster,
  leaving: readonly Named[],
): Promise<void> {
  if (!removal || leaving.length === 0) return;
  const [kind = "", team = ""] = removal.path;
  const { allows } = await removals(removal.file, directory);
  // A person who still stands in the list leaves by an end, which is declared.
  const listed = source === undefined ? [] : await namesIn({ source, team: part, sensitive }, directory);
  const isListed = (name: string): boolean => listed.includes(name.toLowerCase());
  const left = leaving.map(nameOf).filter((name) => !allows([kind, team, name]) && !isListed(name));
  if (left.length === 0) return;
  const names = sensitive ? `[${formatCount(left.length, "member")}]` : toYamlList(left);
  throw new ResourceError(
    withoutLine(removal, `${formatCount(left.length, "member")} of ${team}`, [`members: { ${team}: ${names} }`]),
  );
}

const namesIn = async (file: PeopleFile, directory: string): Promise<string[]> =>
  Object.keys((await readPeople(file, directory)).members).map((name) => name.toLowerCase());

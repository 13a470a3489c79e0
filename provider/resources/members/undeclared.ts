import { numbered } from "../../messages/text.ts";
import type { Named } from "../../reconcile/rosters.ts";
import { toYamlList, withoutLine, type Removal } from "../model/removals.ts";
import { ResourceError, type OfflineContext } from "../model/resource.ts";
import { nameOf } from "./rosterLists.ts";

/** Throws when members are about to leave a roster for whom the Environment file wants a line and has none. */
export async function refuseUndeclaredMembers(
  { removals, directory }: Pick<OfflineContext, "removals" | "directory">,
  { removal, sensitive }: { removal?: Removal | undefined; sensitive?: boolean | undefined },
  leaving: readonly Named[],
): Promise<void> {
  if (!removal || leaving.length === 0) return;
  const [kind = "", team = ""] = removal.path;
  const { allows } = await removals(removal.file, directory);
  const left = leaving.map(nameOf).filter((name) => !allows([kind, team, name]));
  if (left.length === 0) return;
  const names = sensitive ? `[${numbered(left.length, "member")}]` : toYamlList(left);
  throw new ResourceError(
    withoutLine(removal, `${numbered(left.length, "member")} of ${team}`, [`members: { ${team}: ${names} }`]),
  );
}

import { z } from "zod";
import { formatCount } from "../messages/text.ts";
import { toYamlList, withoutLine, type Removals } from "../resources/model/removals.ts";
import { ResourceError } from "../resources/model/resource.ts";
import type { Properties } from "./properties.ts";

const guarded = z.object({
  removal: z.object({ file: z.string(), path: z.array(z.string()) }),
  members: z.record(z.string(), z.unknown()).optional(),
  sensitive: z.boolean().optional(),
});

/** Loaded when it is needed: most programs declare no removals. */
export const removalsIn = async (file: string, directory: string): Promise<Removals> =>
  (await import("../environment/removals.ts")).removalsIn(file, directory);

/** Throws when a thing is about to be deleted whose Environment file wants a line for that and has none. */
export async function refuseUndeclared(state: Properties, directory: string): Promise<void> {
  const { data } = guarded.safeParse(state);
  if (!data) return;
  const { removal, members = {}, sensitive = false } = data;
  const { allows } = await removalsIn(removal.file, directory);
  const [kind = "", key = "", person] = removal.path;
  if (kind !== "members") {
    if (!allows(removal.path))
      throw new ResourceError(withoutLine(removal, `${kind.slice(0, -1)} ${key}`, [`${kind}: ${toYamlList([key])}`]));
    return;
  }
  // A roster has all of them.
  const people = person === undefined ? Object.keys(members) : [person];
  const left = people.filter((one) => !allows([kind, key, one]));
  if (left.length === 0) return;
  const named = sensitive ? `[${formatCount(left.length, "member")}]` : toYamlList(left);
  throw new ResourceError(
    withoutLine(removal, `${formatCount(left.length, "member")} of ${key}`, [`members: { ${key}: ${named} }`]),
  );
}

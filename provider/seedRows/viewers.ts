import { messageOf } from "../../machine/failures.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { orUndefinedIfNotFound, entryIn } from "../../platform/contract/wire.ts";
import { formatCount, quote } from "../../platform/messages/text.ts";
import { ResourceError } from "../resources/common.ts";
import type { Report, Context } from "../resources/resource.ts";
import { viewersChanged, type Seed, type SeedInputs, type SeedState } from "./inputs.ts";

/** User IDs by the addresses that a seed names. */
type ViewerIDs = Readonly<Record<string, string>>;

/** True for an address, which no ID is. */
const isAddress = (name: string): boolean => name.includes("@");

/** The seed with user IDs in place of the addresses that are known. */
export function withViewerIDs<One extends Seed>(seed: One, ids: ViewerIDs = {}): One {
  const idOf = (name: string): string => entryIn(ids, name) ?? name;
  const { viewers, userID } = seed;
  const known = {
    viewers: viewers && [...new Set(viewers.map(idOf))],
    userID: userID === undefined ? undefined : idOf(userID),
  };
  return { ...seed, ...withoutUndefined(known) };
}

const names = ["viewers", "teamViewers", "userID"] as const;

/** True when rows that are there have other viewers than declared. Mode updateOnly never sets any. */
const changesViewers = (old: Seed | undefined, inputs: SeedInputs): boolean =>
  old !== undefined && inputs.mode !== "updateOnly" && viewersChanged(old, inputs);

const listChanged = (last: Seed, now: Seed): string =>
  names.filter((name) => JSON.stringify(last[name]) !== JSON.stringify(now[name])).join(", ");

/** `1 row keeps its`, `2 rows keep their`. */
const keeping = (count: number): string => `${formatCount(count, "row")} ${count === 1 ? "keeps its" : "keep their"}`;

const refusal = (count: number, which: string): string =>
  `${keeping(count)} ${which}, which act when a row is inserted. Put viewers under the label of their field to change them in rows that are there, or set onViewersChange to newRows if new rows alone are meant.`;

/** Reports the effect of other viewers on existing rows, or refuses them: they act on insert alone. */
export function sayViewers(report: Report, old: SeedState, inputs: SeedInputs): void {
  const [last, now] = [withViewerIDs(old, old.viewerIDs), withViewerIDs(inputs, old.viewerIDs)];
  if (old.rowCount === 0 || !changesViewers(last, now)) return;
  const which = listChanged(last, now);
  if (addressesOf(now).length > 0)
    report.forecast(`${which}: addresses are looked up by the update, which shows if they are those of other users`);
  else if (inputs.onViewersChange === "newRows")
    report.forecast(`${keeping(old.rowCount)} ${which}: the declared ones are for new rows`);
  else throw new ResourceError(refusal(old.rowCount, which));
}

/**
 * Throws, before anything is sent, when addresses lead to other users than those that rows have.
 * @param last the last run, with user IDs
 * @param now with user IDs, too
 */
export function refuseOtherViewers(last: SeedState, now: SeedInputs, viewerIDs: ViewerIDs = {}): void {
  if (last.rowCount === 0 || now.onViewersChange === "newRows" || !changesViewers(last, now)) return;
  const moved = Object.entries(viewerIDs).flatMap(([address, id]) => {
    const was = last.viewerIDs?.[address];
    return was === undefined || was === id ? [] : [`${quote(address)} is user ${id} now, and was ${was}`];
  });
  throw new ResourceError([...moved, refusal(last.rowCount, listChanged(last, now))].join("\n"));
}

/** The addresses that a seed names, each with its place. */
const addressesOf = ({ viewers = [], userID }: Seed): { place: string; address: string }[] =>
  [
    ...viewers.map((address, at) => ({ place: `viewers[${at}]`, address })),
    ...(userID === undefined ? [] : [{ place: "userID", address: userID }]),
  ].filter(({ address }) => isAddress(address));

/** Looks up the addresses that a seed names. Throws for those that nobody has; undefined where it names none. */
export async function lookUpViewers(context: Context, seed: Seed): Promise<ViewerIDs | undefined> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const { place, address } of addressesOf(seed)) {
    if (found.has(address)) continue;
    try {
      const user = await orUndefinedIfNotFound(context.client.userid({ email: address }, { signal: context.signal }));
      const id = user?.userID;
      if (id === undefined) missing.push(`${place}: no user of the platform has the address ${quote(address)}`);
      else found.set(address, id);
    } catch (error) {
      throw new ResourceError(
        `${place}: ${quote(address)} can't be looked up, so name the user's ID: ${messageOf(error)}`,
      );
    }
  }
  if (missing.length > 0)
    throw new ResourceError(
      `${missing.join("\n")}\nInvite who is missing first, as a member of a team, or correct the address.`,
    );
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

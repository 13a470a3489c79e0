import { withoutUndefined } from "../../../platform/contract/values.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import { formatCount, quote } from "../../../platform/messages/text.ts";
import { type Report, ResourceError } from "../../resources/model/resource.ts";
import { viewersChanged, type RowTarget } from "../declared/target.ts";
import type { SeedInputs } from "./state.ts";

/** User IDs by the addresses that a seed names. */
export type ViewerIDs = Readonly<Record<string, string>>;

export type NamedViewers = Pick<RowTarget, "viewers" | "teamViewers" | "userID">;

/** True for an address, which no ID is. */
export const isAddress = (name: string): boolean => name.includes("@");

/** The seed with user IDs in place of the addresses that are known. */
export function withViewerIDs<Seed extends NamedViewers>(seed: Seed, ids: ViewerIDs = {}): Seed {
  const idOf = (name: string): string => entryIn(ids, name) ?? name;
  const { viewers, userID } = seed;
  const known = {
    viewers: viewers && [...new Set(viewers.map(idOf))],
    userID: userID === undefined ? undefined : idOf(userID),
  };
  return { ...seed, ...withoutUndefined(known) };
}

type Old = Pick<SeedInputs, "viewers" | "teamViewers" | "userID"> &
  RowTarget & { rowCount: number; viewerIDs?: ViewerIDs | undefined };

const names = ["viewers", "teamViewers", "userID"] as const;

/** True when rows that are there have other viewers than declared. Mode updateOnly never sets any. */
const changesViewers = (old: RowTarget | undefined, inputs: SeedInputs): boolean =>
  old !== undefined && inputs.mode !== "updateOnly" && viewersChanged(old, inputs);

/** True when new addresses may be those of the users that the last run had: only a look shows it. */
function mayBeSame(last: RowTarget, now: RowTarget): boolean {
  const isUnknown = now.userID !== undefined && isAddress(now.userID);
  const before = last.viewers ?? [];
  const [addresses, known] = [now.viewers ?? [], now.viewers ?? []].map((all, at) =>
    all.filter((name) => isAddress(name) === (at === 0)),
  );
  const left = before.filter((name) => !known?.includes(name));
  const isOtherUser = isUnknown ? last.userID === undefined : last.userID !== now.userID;
  if (isOtherUser || known?.some((name) => !before.includes(name)) || left.length !== addresses?.length) return false;
  const teams = ({ teamViewers = [] }: RowTarget): string => JSON.stringify(teamViewers.toSorted());
  return teams(last) === teams(now);
}

const listChanged = (last: RowTarget, now: RowTarget): string =>
  names.filter((name) => JSON.stringify(last[name]) !== JSON.stringify(now[name])).join(", ");

/** `1 row keeps its`, `2 rows keep their`. */
const keeping = (count: number): string => `${formatCount(count, "row")} ${count === 1 ? "keeps its" : "keep their"}`;

const refusal = (count: number, which: string): string =>
  `${keeping(count)} ${which}, which act when a row is inserted. Put viewers under the label of their field to change them in rows that are there, or set onViewersChange to newRows if new rows alone are meant.`;

/** Reports the effect of other viewers on existing rows, or refuses them: they act on insert alone. */
export function sayViewers(report: Report, old: Old, inputs: SeedInputs): void {
  const [last, now] = [withViewerIDs(old, old.viewerIDs), withViewerIDs(inputs, old.viewerIDs)];
  if (old.rowCount === 0 || !changesViewers(last, now)) return;
  const which = listChanged(last, now);
  if (mayBeSame(last, now)) {
    report.forecast(`${which}: addresses are looked up by the update, which shows if they are those of other users`);
    return;
  }
  if (inputs.onViewersChange !== "newRows") throw new ResourceError(refusal(old.rowCount, which));
  report.forecast(`${keeping(old.rowCount)} ${which}: the declared ones are for new rows`);
}

/**
 * Throws, before anything is sent, when addresses lead to other users than those that rows have.
 * @param last the last run, with user IDs
 * @param now with user IDs, too
 */
export function refuseOtherViewers(last: Old, now: SeedInputs, viewerIDs: ViewerIDs = {}): void {
  if (last.rowCount === 0 || now.onViewersChange === "newRows" || !changesViewers(last, now)) return;
  const moved = Object.entries(viewerIDs).flatMap(([address, id]) => {
    const was = last.viewerIDs?.[address];
    return was === undefined || was === id ? [] : [`${quote(address)} is user ${id} now, and was ${was}`];
  });
  throw new ResourceError([...moved, refusal(last.rowCount, listChanged(last, now))].join("\n"));
}

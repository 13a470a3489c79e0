import type { RowData } from "../../../provider/contract/values.ts";
import { read } from "../../../provider/sources/read.ts";
import type { RowFileEdit } from "../../edits/kinds.ts";
import { PlacingRefusal, type EnvironmentFiles } from "./environmentFiles.ts";

/** The rows of a team in the file of people that its roster names. */
export interface PeopleRows {
  source: string;
  team: string | undefined;
  labels: ReadonlySet<string>;
  /** By address in small letters. */
  rows: ReadonlyMap<string, RowData>;
}

/** A change of one person: `role` is the new one. */
export interface PersonChange {
  do: "add" | "change" | "remove";
  name: string;
  role?: string;
}

/** Reads the rows of a team's people; what is wrong with a row has its place elsewhere. Throws a SourceError. */
export async function readPeopleRows(source: string, team: string | undefined, folder: string): Promise<PeopleRows> {
  const rows = new Map<string, RowData>();
  const labels = new Set<string>();
  for await (const block of read({ source, key: ["email"] }, folder, () => undefined)) {
    for (const { values } of block) {
      for (const label of Object.keys(values)) labels.add(label);
      if (team === undefined || trimmed(values["team"]) === team)
        rows.set(trimmed(values["email"]).toLowerCase(), values);
    }
  }
  return { source, team, labels, rows };
}

/** The refusal of somebody who is on the platform, and whose last day in a file is over. */
export const refuseEnded = (name: string, place: string): PlacingRefusal =>
  new PlacingRefusal(`${name} stands in ${place} with a last day that is over: change until there`);

/** Brings a change of a person into that file. Throws a PlacingRefusal. */
export function placePerson(files: EnvironmentFiles, people: PeopleRows, change: PersonChange): RowFileEdit[] {
  const { source, team, labels, rows } = people;
  const { name, role } = change;
  if (!files.isOwn(source)) {
    const other = files.isShared(source) ? "other environments have it as well" : "--into names another file";
    throw new PlacingRefusal(`the people of this team stand in ${source}, and ${other}: edit it there`);
  }
  const target = { source, key: team === undefined ? ["email"] : ["email", "team"] };
  const row = rows.get(name.toLowerCase());
  if (change.do === "add") {
    if (row) throw refuseEnded(name, source);
    if (!name.includes("@"))
      throw new PlacingRefusal(`the platform shows no address of ${name}: write it into ${source} yourself`);
    // A row without a role is that of a plain member.
    const isRoleWritten = labels.has("role") || role !== "member";
    const added = { email: name, ...(isRoleWritten ? { role } : {}), ...(team === undefined ? {} : { team }) };
    return [{ kind: "row", source: target, do: "add", row: added }];
  }
  if (!row) throw new PlacingRefusal(`${source} has no row of ${name} any more`);
  const key = Object.fromEntries(target.key.map((label) => [label, row[label]]));
  return change.do === "remove"
    ? [{ kind: "row", source: target, do: "remove", row: key }]
    : [{ kind: "row", source: target, do: "change", row: key, values: { role } }];
}

const trimmed = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

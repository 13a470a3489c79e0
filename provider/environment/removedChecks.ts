import { isDeepStrictEqual } from "node:util";
import { find, keyPlace, toPlainValue, valuePlace, type Place, type Problem, type Value } from "../layers/document.ts";
import { describePlace } from "../layers/verbs.ts";
import { keyText } from "../reconcile/digests.ts";
import type { Removed } from "./policy.ts";

interface Check {
  root: Value;
  report: (problem: Problem) => void;
}

/** Reports each line under `removed` about something that the file declares still. */
export function checkRemoved({ root, report }: Check, removed: Removed): void {
  const { organizations = [], teams = [], seeds = [], apps = [], members = {}, rows = {} } = removed;
  const line = (what: string, at: Place, declared: Place | undefined): void => {
    if (!declared) return;
    report({
      at,
      message: `${what} is declared at ${describePlace(declared)} and removed here; remove one of the two`,
    });
  };
  const placeOf = (path: readonly string[]): Place | undefined => find(root, path)?.at;
  const item = (...path: PropertyKey[]): Place => valuePlace(root, ["removed", ...path]);
  organizations.forEach((key, at) =>
    line(`organization "${key}"`, item("organizations", at), placeOf(["organizations", key])),
  );
  seeds.forEach((key, at) => line(`seed "${key}"`, item("seeds", at), placeOf(["seeds", key])));
  apps.forEach((key, at) => line(`app "${key}"`, item("apps", at), placeOf(["apps", key])));
  teams.forEach((name, at) => {
    const path = teamPath(name);
    if (path) line(`team "${name}"`, item("teams", at), placeOf(path));
    else report({ at: item("teams", at), message: `"${name}" is no team; write organization/team` });
  });
  for (const [team, addresses] of Object.entries(members)) {
    const path = teamPath(team);
    const here = ["members", team];
    if (!path)
      report({ at: keyPlace(root, ["removed", ...here]), message: `"${team}" is no team; write organization/team` });
    addresses.forEach((email, at) => {
      const declared = path && memberPlace(root, path, email);
      line(`member "${email}" of ${team}`, item(...here, at), declared);
    });
  }
  for (const [seed, keys] of Object.entries(rows)) {
    keys.forEach((key, at) =>
      line(`row ${JSON.stringify(key)} of seed "${seed}"`, item("rows", seed, at), rowPlace(root, seed, key)),
    );
  }
}

export function teamPath(name: string): string[] | undefined {
  const [organization, team, ...rest] = name.split("/");
  return organization && team && rest.length === 0 ? ["organizations", organization, "teams", team] : undefined;
}

export function memberPlace(root: Value, team: readonly string[], email: string): Place | undefined {
  for (const list of [["members"], ["roster", "members"]]) {
    const map = find(root, [...team, ...list])?.value;
    if (map?.kind !== "map") continue;
    const entry = [...map.entries].find(([address]) => address.toLowerCase() === email.toLowerCase());
    if (entry) return entry[1].at;
  }
  return undefined;
}

/** Where the file itself declares a row; rows of a source are looked at when it is read. */
function rowPlace(root: Value, seed: string, key: unknown): Place | undefined {
  const labels = [find(root, ["seeds", seed, "key"])]
    .flatMap((entry) => entry && toPlainValue(entry.value))
    .map(String);
  const texts = [key].flat().map((part) => keyText(part));
  for (const list of ["rows", "rows+"]) {
    const rows = find(root, ["seeds", seed, list])?.value;
    if (rows?.kind !== "list") continue;
    const row = rows.items.find((one) => {
      const values = toPlainValue(one) as Record<string, unknown> | null;
      return isDeepStrictEqual(
        labels.map((label) => keyText(values?.[label])),
        texts,
      );
    });
    if (row) return row.at;
  }
  return undefined;
}

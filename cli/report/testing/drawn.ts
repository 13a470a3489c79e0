import fc from "fast-check";
import type { Files } from "./twoFolders.ts";

/** Rows by code: name, size, and the code they are linked to. */
type Rows = Partial<Record<string, { name: number; size: number | undefined; region: string }>>;

interface Entry {
  /** Under which of its keys it stands. */
  key: number;
  name: number;
  description: string | null;
}

export interface Seed extends Pick<Entry, "key"> {
  rows: Rows;
  mode: "exact" | "upsert" | "insertOnly";
  /** Where its rows stand: in the file, beside it, or beside it with verbs. */
  form: "inline" | "file" | "verbs";
}

interface Team extends Entry {
  people: Partial<Record<string, { role: "admin" | "member"; targetRoute: string | undefined }>>;
  isRoster: boolean;
}

interface Organization extends Entry {
  teams: Partial<Record<string, Team>>;
}

/** An environment as a person could have written it. */
export interface Drawn {
  organizations: Partial<Record<string, Organization>>;
  seeds: Partial<Record<"regions" | "offices", Seed>>;
}

export const people = ["ada", "Bob", "eve", "kay"].map((name) => `${name}@example.com`);
export const codes = ["N", "E", "S", "W"];

/** The tables that seeds write to, as an emulator has them. */
export const tables = {
  regions: { fields: { Code: "text", Name: "text", Size: "number" } },
  offices: {
    fields: {
      Code: "text",
      Name: "text",
      Size: "number",
      Region: { type: "linked", table: "regions", field: "Code" },
    },
  },
} as const;

const some = <Value>(
  names: readonly string[],
  value: fc.Arbitrary<Value>,
): fc.Arbitrary<Partial<Record<string, Value>>> =>
  fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });
const entry = { key: fc.nat({ max: 1 }), name: fc.nat({ max: 1 }), description: fc.constantFrom("one", "two", null) };
const person = fc.record({
  role: fc.constantFrom("admin" as const, "member" as const),
  targetRoute: maybe(fc.constantFrom("app", "go")),
});
const team = fc.record({ ...entry, people: some(people, person), isRoster: fc.boolean() });
const row = fc.record({ name: fc.nat({ max: 2 }), size: maybe(fc.nat({ max: 2 })), region: fc.constantFrom(...codes) });
const seed: fc.Arbitrary<Seed> = fc.record({
  key: entry.key,
  rows: some(codes, row).filter((rows) => Object.keys(rows).length > 0),
  mode: fc.constantFrom("exact" as const, "exact" as const, "upsert" as const, "insertOnly" as const),
  form: fc.constantFrom("inline" as const, "file" as const, "verbs" as const),
});

/** Environments of up to two organizations, two teams in each, four people and two seeds, one of them linked. */
export const drawn: fc.Arbitrary<Drawn> = fc.record({
  organizations: some(["acme", "umbrella"], fc.record({ ...entry, teams: some(["crew", "ops"], team) })),
  seeds: fc.record({ regions: seed, offices: seed }, { requiredKeys: [] }),
});

/** The key of an entry in a file. */
export const keyOf = (name: string, { key }: Pick<Entry, "key">): string => `${name}${key}`;

/** The keys that an entry had in the versions before, as long as it was there in all of them. */
function formerly(name: string, entries: readonly (Pick<Entry, "key"> | undefined)[]): { formerly?: string[] } {
  const [now, ...before] = entries.toReversed();
  const gone = before.indexOf(undefined);
  const known = (gone < 0 ? before : before.slice(0, gone)).flatMap((each) => (each ? [keyOf(name, each)] : []));
  const others = [...new Set(known)].filter((key) => now && key !== keyOf(name, now));
  return others.length > 0 ? { formerly: others } : {};
}

const said = ({ name, description }: Entry, identity: string): { name: string; description: string | null } => ({
  name: `${identity} ${name}`,
  description,
});

/** The files of the last of several versions, the earlier ones of which say what was called otherwise. */
export function filesOf(versions: readonly Drawn[]): Files {
  const last = versions.at(-1);
  const organizations = Object.entries(last?.organizations ?? {}).flatMap(([identity, one]) => {
    if (!one) return [];
    const all = versions.map((version) => version.organizations[identity]);
    const teams = Object.entries(one.teams).flatMap(([name, each]) => {
      if (!each) return [];
      const former = formerly(
        name,
        all.map((version) => version?.teams[name]),
      );
      return [[keyOf(name, each), { ...said(each, name), ...former, ...membersOf(each) }] as const];
    });
    const former = formerly(identity, all);
    return [[keyOf(identity, one), { ...said(one, identity), ...former, teams: Object.fromEntries(teams) }] as const];
  });
  const files: Record<string, string> = {};
  const seeds = (["regions", "offices"] as const).flatMap((name) => {
    const one = last?.seeds[name];
    if (!one) return [];
    const former = formerly(
      name,
      versions.map((version) => version.seeds[name]),
    );
    const regions = name === "offices" ? last.seeds.regions : undefined;
    const { csv, ...rows } = rowsOf(name, one, regions);
    if (csv !== undefined) files[`${name}.csv`] = csv;
    const links = regions ? { references: { Region: { seed: keyOf("regions", regions) } } } : {};
    const settings = {
      table: name,
      key: "Code",
      mode: one.mode,
      maxRemovals: 1,
      adopt: true,
      types: { Size: "number" },
    };
    return [[keyOf(name, one), { ...settings, ...former, ...links, ...rows }] as const];
  });
  const content = { organizations: Object.fromEntries(organizations), seeds: Object.fromEntries(seeds) };
  return { ...files, "env.yaml": JSON.stringify(content, null, 1) };
}

function membersOf({ people, isRoster }: Team): object {
  const members = Object.entries(people).flatMap(([email, one]) => (one ? [[email, one] as const] : []));
  if (!isRoster) return { members: Object.fromEntries(members) };
  const roles = Object.fromEntries(members.map(([email, { role }]) => [email, role]));
  return { roster: { members: roles, maxRemovals: 1, minAdmins: 0 } };
}

type Cells = Record<string, string | number>;

/** The rows of a seed: a link leads to a row that is there, or there is none. */
export function cellsOf(name: string, { rows }: Seed, regions: Seed | undefined): Cells[] {
  const targets = Object.keys(regions?.rows ?? {});
  return Object.entries(rows).flatMap(([Code, one]): Cells[] => {
    if (!one) return [];
    const region = targets.length === 0 ? undefined : targets[codes.indexOf(one.region) % targets.length];
    return [
      {
        ...{ Code, Name: `${name} ${Code} ${one.name}` },
        ...(one.size === undefined ? {} : { Size: one.size }),
        ...(region === undefined ? {} : { Region: region }),
      },
    ];
  });
}

function rowsOf(name: string, seed: Seed, regions: Seed | undefined): { csv?: string; [verb: string]: unknown } {
  const cells = cellsOf(name, seed, regions);
  if (seed.form === "inline") return { rows: cells };
  const source = { source: `${name}.csv` };
  const [first, ...others] = cells;
  if (seed.form === "file" || !first) return { ...source, csv: csvOf(cells, regions) };
  const last = others.at(-1);
  const written = [{ ...first, Name: "otherwise" }, ...others.slice(0, -1), { Code: "Z", Name: "leaves" }];
  return {
    ...source,
    csv: csvOf(written, regions),
    ...(last ? { "rows+": [last] } : {}),
    "rows~": [{ Code: first["Code"], Name: first["Name"] }],
    "rows-": ["Z"],
  };
}

function csvOf(cells: readonly Cells[], regions: Seed | undefined): string {
  const labels = ["Code", "Name", "Size", ...(regions ? ["Region"] : [])];
  const lines = cells.map((one) => labels.map((label) => one[label] ?? "").join(","));
  return [labels.join(","), ...lines, ""].join("\n");
}

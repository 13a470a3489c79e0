import fc from "fast-check";

export const people = ["ada", "bob", "eve", "kay"].map((name) => `${name}@example.com`);

export interface Row {
  Name: string;
  Extra?: string;
  /** Code of the row of `places` that a row of `spots` is linked to. */
  Of?: string;
}

interface Seed {
  name: string;
  formerly: string[];
  table: "places" | "spots";
  key: "Code" | "Name";
  rows: Map<string, Row>;
}

/** An Environment as its files have it. */
export interface World {
  seeds: readonly Seed[];
  team: { name: string; formerly: string[]; isRoster: boolean; people: ReadonlyMap<string, "admin" | "member"> };
  /** True if the organization stands in a layer below. */
  isLayered: boolean;
  /** The next name of a seed, and code of a row. */
  next: number;
}

const kinds = [
  ...["rename", "renameUnsaid", "split", "merge", "moveRow", "changeKey", "changeTable", "dropLabel", "dropLabels"],
  ...["editRow", "addRow", "removeRow", "removeHalf", "removeSeed", "addSeed", "rosterOrMembers", "role", "person"],
  ...["renameTeam", "layer", "linkRow"],
] as const;

/** An edit; numbers choose what it is done to. */
export const edit = fc.record({
  kind: fc.constantFrom(...kinds),
  which: fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 11 })),
  /** Calls before the run that brings it up is killed. */
  kill: fc.option(fc.nat({ max: 20 }), { nil: undefined, freq: 2 }),
});
export type Edit = typeof edit extends fc.Arbitrary<infer Drawn> ? Drawn : never;

const rowOf = (code: string): Row => ({ Name: `Name of ${code}`, Extra: `more of ${code}` });
const rowsFrom = (first: number, count: number): Map<string, Row> =>
  new Map(Array.from({ length: count }, (_, at) => [`C${first + at}`, rowOf(`C${first + at}`)]));

export const start: World = {
  seeds: [
    { name: "one", formerly: [], table: "places", key: "Code", rows: rowsFrom(0, 12) },
    {
      ...{ name: "two", formerly: [], table: "spots", key: "Code" },
      rows: new Map([...rowsFrom(50, 3)].map(([code, row], at) => [code, { ...row, Of: `C${at}` }])),
    },
  ],
  team: {
    name: "crew",
    formerly: [],
    isRoster: false,
    people: new Map([
      ["ada@example.com", "admin"],
      ["bob@example.com", "member"],
    ]),
  },
  isLayered: false,
  next: 100,
};

/** The rows that a world declares, by table and code. */
export const rowsIn = ({ seeds }: World): Map<string, Row> =>
  new Map(seeds.flatMap(({ table, rows }) => [...rows].map(([code, row]) => [`${table} ${code}`, row] as const)));

/** True where each link leads to a row: what is refused otherwise is told in rearranged/rows. */
const isWhole = (world: World): boolean => {
  const rows = rowsIn(world);
  return [...rows].every(([at, { Of }]) => Of === undefined || at.startsWith("places") || rows.has(`places ${Of}`));
};

/** The world after an edit; the same one where there is nothing to do it to. */
export function edited(world: World, edit: Edit): World {
  const next = withEdit(world, edit);
  return isWhole(next) ? next : world;
}

function withEdit(world: World, { kind, which: [first, second] }: Edit): World {
  const { seeds, team, next } = world;
  const at = seeds.length === 0 ? -1 : first % seeds.length;
  const seed = seeds[at];
  const more = { next: next + 20 };
  const put = (now: Seed | undefined, ...others: Seed[]): World => ({
    ...world,
    ...more,
    seeds: [...seeds.flatMap((each) => (each === seed ? (now ?? []) : each)), ...others],
  });
  const called = `s${next}`;
  switch (kind) {
    case "rosterOrMembers":
      return { ...world, team: { ...team, isRoster: !team.isRoster } };
    case "layer":
      return { ...world, isLayered: !world.isLayered };
    case "renameTeam":
      return { ...world, ...more, team: { ...team, name: `t${next}`, formerly: [team.name] } };
    case "role":
    case "person": {
      const all = new Map(team.people);
      const person = people[first % people.length] ?? "";
      if (kind === "person" && all.has(person)) all.delete(person);
      else all.set(person, all.get(person) === "member" ? "admin" : "member");
      return { ...world, team: { ...team, people: all } };
    }
    case "addSeed":
      return put(seed, {
        name: called,
        formerly: [],
        table: second % 2 === 0 ? "places" : "spots",
        key: "Code",
        rows: rowsFrom(next, 3),
      });
    default:
      return seed ? ofSeed(kind, seed, put, { seeds, second, next, called }) : world;
  }
}

function ofSeed(
  kind: Edit["kind"],
  seed: Seed,
  put: (now: Seed | undefined, ...others: Seed[]) => World,
  { seeds, second, next, called }: { seeds: readonly Seed[]; second: number; next: number; called: string },
): World {
  const codes = [...seed.rows.keys()];
  const code = codes[second % codes.length] ?? "";
  const row = seed.rows.get(code) ?? rowOf(code);
  const less = (left: readonly string[]): Seed => ({
    ...seed,
    rows: new Map([...seed.rows].filter(([each]) => !left.includes(each))),
  });
  const half = codes.slice(0, Math.ceil(codes.length / 2));
  const other = seeds.find((each) => each !== seed && each.table === seed.table && each.key === seed.key);
  switch (kind) {
    case "rename":
      return put({ ...seed, name: called, formerly: [seed.name] });
    case "renameUnsaid":
      return put({ ...seed, name: called, formerly: [] });
    case "split":
      return codes.length < 2
        ? put(seed)
        : put(less(half), {
            ...seed,
            name: called,
            formerly: [],
            rows: new Map([...seed.rows].filter(([each]) => half.includes(each))),
          });
    case "merge": {
      if (!other) return put(seed);
      const { seeds: left, ...world } = put(undefined);
      return {
        ...world,
        seeds: left.map((each) => (each === other ? { ...other, rows: new Map([...other.rows, ...seed.rows]) } : each)),
      };
    }
    case "moveRow": {
      if (!other || codes.length < 2) return put(seed);
      const { seeds: left, ...world } = put(less([code]));
      const moved = next % 3 === 0 ? { ...row, Extra: `other ${next}` } : row;
      return {
        ...world,
        seeds: left.map((each) =>
          each === other ? { ...other, rows: new Map([...other.rows, [code, moved]]) } : each,
        ),
      };
    }
    case "changeKey":
      return put({ ...seed, key: seed.key === "Code" ? "Name" : "Code" });
    case "changeTable":
      return put({ ...seed, table: seed.table === "places" ? "spots" : "places" });
    case "dropLabel":
      return put({ ...seed, rows: new Map([...seed.rows, [code, { Name: row.Name }]]) });
    case "dropLabels":
      return put({ ...seed, rows: new Map([...seed.rows].map(([each, { Name }]) => [each, { Name }])) });
    case "editRow":
      return put({ ...seed, rows: new Map([...seed.rows, [code, { ...row, Extra: `other ${next}` }]]) });
    case "linkRow":
      return put({ ...seed, rows: new Map([...seed.rows, [code, { ...row, Of: `C${next % 12}` }]]) });
    case "addRow":
      return put({ ...seed, rows: new Map([...seed.rows, ...rowsFrom(next, 1)]) });
    case "removeRow":
      return codes.length < 2 ? put(seed) : put(less([code]));
    case "removeHalf":
      return codes.length < 2 ? put(seed) : put(less(half));
    default:
      return put(undefined);
  }
}

/** The files of a world. */
export function filesOf({ seeds, team, isLayered }: World): Record<string, string> {
  const files: Record<string, string> = {};
  const all = seeds.map(({ name, formerly, table, key, rows }) => {
    const isWide = [...rows.values()].some(({ Extra }) => Extra !== undefined);
    const isLinked = table === "spots" && [...rows.values()].some(({ Of }) => Of !== undefined);
    const labels = ["Code", "Name", ...(isWide ? ["Extra"] : []), ...(isLinked ? ["Of"] : [])];
    const lines = [...rows].map(([Code, row]) =>
      Object.entries({ Code, Extra: "", Of: "", ...row })
        .filter(([label]) => labels.includes(label))
        .toSorted(([one], [other]) => labels.indexOf(one) - labels.indexOf(other))
        .map(([, value]) => value)
        .join(","),
    );
    files[`${name}.csv`] = [labels.join(","), ...lines, ""].join("\n");
    const links = isLinked ? { references: { Of: { table: "places", key: "Code" } } } : {};
    const former = formerly.length > 0 ? { formerly } : {};
    return [name, { table, key, source: `${name}.csv`, ...links, ...former }] as const;
  });
  const roles = Object.fromEntries(team.people);
  const members = team.isRoster ? { roster: { members: roles, minAdmins: 0, maxRemovals: 1 } } : { members: roles };
  const crew = { name: "Crew", ...(team.formerly.length > 0 ? { formerly: team.formerly } : {}), ...members };
  const organizations = { acme: { name: "Acme", teams: { [team.name]: crew } } };
  const content = { seeds: Object.fromEntries(all) };
  files["env.yaml"] = JSON.stringify(isLayered ? { extends: "base.yaml", ...content } : { organizations, ...content });
  if (isLayered) files["base.yaml"] = JSON.stringify({ organizations });
  return files;
}

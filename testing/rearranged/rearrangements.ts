/** A data table of the platform. Rows of `offices` may be linked to rows of `regions`. */
export type Table = "regions" | "offices";

/** A row as a program has it, by its code: `region` is the code of the row that it is linked to. */
interface Row {
  note: number;
  region: string;
}

export interface Seed {
  table: Table;
  key: "Code" | "Name";
  /** By which label of `regions` its rows name what they are linked to; none when they are not linked. */
  references: "Code" | "Name" | undefined;
  rows: ReadonlyMap<string, Row>;
}

/** Memberships by name of the resource. */
export type Members = ReadonlyMap<string, { email: string; role: "admin" | "member" }>;

/** What a program declares. */
export interface Model {
  seeds: ReadonlyMap<string, Seed>;
  teams: ReadonlyMap<string, Members>;
}

export const people = ["ada", "grace", "kay", "linus", "mary"].map((name) => `${name}@example.com`);
const codes = ["N", "E", "S", "W", "X", "Y"];
const seedNames = ["depots", "branches", "sites", "places", "spots"];
const memberNames = ["a", "b", "c", "d", "e", "f", "g"];
/** A row of `regions` that is somebody else's. */
export const foreign = "theirs";

const row = (note = 0, region = foreign): Row => ({ note, region });

/** Three seeds of two tables, two teams and five people. */
export const start: Model = {
  seeds: new Map<string, Seed>([
    [
      "depots",
      {
        table: "regions",
        key: "Code",
        references: undefined,
        rows: new Map([
          ["N", row()],
          ["E", row()],
        ]),
      },
    ],
    ["branches", { table: "regions", key: "Code", references: undefined, rows: new Map([["S", row()]]) }],
    [
      "sites",
      {
        table: "offices",
        key: "Code",
        references: "Code",
        rows: new Map([
          ["N", row(0, "N")],
          ["S", row(0, "S")],
        ]),
      },
    ],
  ]),
  teams: new Map([
    [
      "crew",
      new Map(people.slice(0, 3).map((email, at) => [memberNames[at] ?? "", { email, role: "member" as const }])),
    ],
    [
      "desk",
      new Map([
        ["d", { email: people[3] ?? "", role: "admin" as const }],
        ["e", { email: people[4] ?? "", role: "member" as const }],
      ]),
    ],
  ]),
};

/** An edit of a program: what kind, and numbers that choose what it is made to. */
export interface Edit {
  kind: keyof typeof edits;
  which: readonly [number, number, number];
}

/** The program after an edit; the same one when there is nothing that it could be made to. */
export const edited = (model: Model, { kind, which }: Edit): Model => edits[kind](model, which) ?? model;

type Which = Edit["which"];
type Editing = (model: Model, which: Which) => Model | undefined;

const pick = <Item>(items: readonly Item[], at: number): Item | undefined => items[at % Math.max(items.length, 1)];

/** Chooses a seed, and gives back the program with what takes its place. */
const onSeed =
  (
    change: (seed: Seed, which: Which, name: string, model: Model) => Iterable<readonly [string, Seed]> | undefined,
  ): Editing =>
  (model, which) => {
    const chosen = pick([...model.seeds], which[0]);
    const instead = chosen && change(chosen[1], which, chosen[0], model);
    if (!instead) return undefined;
    const replaced = new Map(instead);
    // What is edited stays where it was, what is new comes at the end or the beginning.
    const kept = [...model.seeds].flatMap(([name, seed]): [string, Seed][] => {
      const now = replaced.get(name);
      replaced.delete(name);
      return name === chosen[0] ? (now ? [[name, now]] : []) : [[name, now ?? seed]];
    });
    const seeds = new Map(which[2] % 2 === 0 ? [...kept, ...replaced] : [...replaced, ...kept]);
    return hasTwoOwners(seeds) ? undefined : { ...model, seeds };
  };

const changed =
  (change: (seed: Seed, which: Which) => Partial<Seed> | undefined): Editing =>
  (model, which) =>
    onSeed((seed, which, name) => {
      const now = change(seed, which);
      return now && [[name, { ...seed, ...now }]];
    })(model, which);

/** Two seeds of one table with one row are refused by a check: that has tests of its own. */
function hasTwoOwners(seeds: ReadonlyMap<string, Seed>): boolean {
  const rows = [...seeds.values()].flatMap(({ table, rows }) => [...rows.keys()].map((code) => `${table} ${code}`));
  return new Set(rows).size < rows.length;
}

const unused = (model: Model, at: number): string | undefined =>
  pick(
    seedNames.filter((name) => !model.seeds.has(name)),
    at,
  );

const without = <Value>(map: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> =>
  new Map([...map].filter(([key]) => !keys.includes(key)));

const only = <Value>(map: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> =>
  new Map([...map].filter(([key]) => keys.includes(key)));

const rowEdits = {
  renameSeed: onSeed((seed, [, at], _, model) => {
    const name = unused(model, at);
    return name === undefined ? undefined : [[name, seed]];
  }),
  moveRow: onSeed((seed, [, at, to], name, model) => {
    const other = pick(
      [...model.seeds].filter(([each, { table }]) => each !== name && table === seed.table),
      to,
    );
    const code = pick([...seed.rows.keys()], at);
    if (!other || code === undefined || seed.rows.size < 2) return undefined;
    const [otherName, into] = other;
    const rows = new Map([...into.rows, ...only(seed.rows, [code])]);
    return [
      [name, { ...seed, rows: without(seed.rows, [code]) }],
      [otherName, { ...into, rows }],
    ];
  }),
  split: onSeed((seed, [, at], name, model) => {
    const half = [...seed.rows.keys()].slice(0, Math.floor(seed.rows.size / 2));
    const second = unused(model, at);
    if (second === undefined || half.length === 0 || model.seeds.size > 3) return undefined;
    return [
      [name, { ...seed, rows: without(seed.rows, half) }],
      [second, { ...seed, rows: only(seed.rows, half) }],
    ];
  }),
  merge: onSeed((seed, [, at], name, model) => {
    const other = pick(
      [...model.seeds].filter(([each, { table }]) => each !== name && table === seed.table),
      at,
    );
    if (!other) return undefined;
    const [into, { rows, ...rest }] = other;
    return [[into, { ...rest, rows: new Map([...rows, ...seed.rows]) }]];
  }),
  changeKey: changed(({ key }) => ({ key: key === "Code" ? "Name" : "Code" })),
  changeTable: changed(({ table }) => ({ table: table === "regions" ? "offices" : "regions" })),
  changeReferences: changed(({ references }, [, at]) => ({
    references: pick(
      ([undefined, "Code", "Name"] as const).filter((one) => one !== references),
      at,
    ),
  })),
  editRow: changed(({ rows }, [, at, note]) => {
    const code = pick([...rows.keys()], at) ?? "";
    return { rows: new Map([...rows, [code, row(note, rows.get(code)?.region)]]) };
  }),
  linkRow: changed(({ rows }, [, at, to]) => {
    const code = pick([...rows.keys()], at) ?? "";
    return { rows: new Map([...rows, [code, row(rows.get(code)?.note, pick([...codes, foreign], to))]]) };
  }),
  addRow: changed(({ rows }, [, at]) => {
    const code = pick(
      codes.filter((each) => !rows.has(each)),
      at,
    );
    return code === undefined ? undefined : { rows: new Map([...rows, [code, row()]]) };
  }),
  removeRow: changed(({ rows }, [, at]) =>
    rows.size < 2 ? undefined : { rows: without(rows, [pick([...rows.keys()], at) ?? ""]) },
  ),
  removeSeed: onSeed(() => []),
  restoreSeed: (model, [which]) => {
    const name = unused(model, which);
    const gone = pick([...start.seeds.values()], which);
    if (name === undefined || !gone || model.seeds.size > 3) return undefined;
    const seeds = new Map([...model.seeds, [name, gone]]);
    return hasTwoOwners(seeds) ? undefined : { ...model, seeds };
  },
} satisfies Record<string, Editing>;

/** Chooses a team, and gives back the program with other members of it. */
const onTeam =
  (
    change: (
      members: Members,
      which: Which,
      team: string,
      model: Model,
    ) => Iterable<readonly [string, Members]> | undefined,
  ): Editing =>
  (model, which) => {
    const chosen = pick([...model.teams], which[0]);
    const instead = chosen && change(chosen[1], which, chosen[0], model);
    return instead && { ...model, teams: new Map([...model.teams, ...instead]) };
  };

const freeName = (model: Model, at: number): string | undefined => {
  const taken = [...model.teams.values()].flatMap((members) => [...members.keys()]);
  return pick(
    memberNames.filter((name) => !taken.includes(name)),
    at,
  );
};

const peopleEdits = {
  renameMember: onTeam((members, [, at, to], team, model) => {
    const chosen = pick([...members], at);
    const name = freeName(model, to);
    if (!chosen || name === undefined) return undefined;
    return [[team, new Map([...without(members, [chosen[0]]), [name, chosen[1]]])]];
  }),
  swapMembers: onTeam((members, _, team) => {
    const [first, second, ...rest] = [...members];
    if (!first || !second) return undefined;
    return [[team, new Map([[first[0], second[1]], [second[0], first[1]], ...rest])]];
  }),
  changeTeam: onTeam((members, [, at], team, model) => {
    const chosen = pick([...members], at);
    const other = [...model.teams].find(([name]) => name !== team);
    if (!chosen || !other || [...other[1].values()].some(({ email }) => email === chosen[1].email)) return undefined;
    return [
      [team, without(members, [chosen[0]])],
      [other[0], new Map([...other[1], chosen])],
    ];
  }),
  changeRole: onTeam((members, [, at], team) => {
    const chosen = pick([...members], at);
    if (!chosen) return undefined;
    const [name, { email, role }] = chosen;
    return [[team, new Map([...members, [name, { email, role: role === "admin" ? "member" : "admin" }]])]];
  }),
  removeMember: onTeam((members, [, at], team) => {
    const chosen = pick([...members.keys()], at);
    return chosen === undefined ? undefined : [[team, without(members, [chosen])]];
  }),
  addMember: onTeam((members, [, at, to], team, model) => {
    const there = [...members.values()].map(({ email }) => email);
    const email = pick(
      people.filter((each) => !there.includes(each)),
      at,
    );
    const name = freeName(model, to);
    return email === undefined || name === undefined
      ? undefined
      : [[team, new Map([...members, [name, { email, role: "member" }]])]];
  }),
} satisfies Record<string, Editing>;

export const kinds = { rows: rowEdits, people: peopleEdits };
const edits = { ...rowEdits, ...peopleEdits };

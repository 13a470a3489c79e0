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

/** Declarations of a program. */
export interface Model {
  seeds: ReadonlyMap<string, Seed>;
  teams: ReadonlyMap<string, Members>;
}

export const people = ["ada", "grace", "kay", "linus", "mary"].map((name) => `${name}@example.com`);
export const codes = ["N", "E", "S", "W", "X", "Y"];
export const seedNames = ["depots", "branches", "sites", "places", "spots"];
export const memberNames = ["a", "b", "c", "d", "e", "f", "g"];
/** A row of `regions` that is somebody else's. */
export const foreign = "theirs";

export const row = (note = 0, region = foreign): Row => ({ note, region });

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

/** Numbers that choose what an edit is made to. */
export type Which = readonly [number, number, number];

/** The program after an edit; undefined when there is nothing that it could be made to. */
export type Editing = (model: Model, which: Which) => Model | undefined;

export const pick = <Item>(items: readonly Item[], at: number): Item | undefined =>
  items[at % Math.max(items.length, 1)];

export const without = <Value>(map: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> =>
  new Map([...map].filter(([key]) => !keys.includes(key)));

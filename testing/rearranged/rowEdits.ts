import {
  codes,
  foreign,
  pick,
  row,
  seedNames,
  start,
  without,
  type Editing,
  type Model,
  type Seed,
  type Which,
} from "./model.ts";

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
    // An edited seed keeps its place, a new one comes at the end or the beginning.
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

const only = <Value>(map: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> =>
  new Map([...map].filter(([key]) => keys.includes(key)));

/** Edits of a program's seeds. */
export const rowEdits = {
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

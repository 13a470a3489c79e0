import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { canonical, type Cells } from "../../../provider/seedRows/digests.ts";
import { isLong } from "../../../testing/harness/drawn.ts";
import { readDeclaration } from "../../report/environments.ts";
import type { Repository } from "../../report/testing/repository.ts";
import { planEdits } from "../editor/edits.ts";
import { readToEdit, writeFiles } from "../editor/writing.ts";
import { mergeRecords } from "../merge.ts";
import { EnvironmentFiles, type RowChange } from "../placing.ts";
import { findSeed, readRows } from "./plan.ts";
import { made, promoteIn, withTaken } from "./testing/promotions.ts";

const names = ["dev", "staging", "prod"] as const;
type Name = (typeof names)[number];
const keys = ["DE", "FR", "IT", "PT"];
const rows = "Code,Name,Area\nDE,Germany,357\nFR,France,643\nIT,Italy,301\n";
const entries = [...names, "twin"].map((name) => ({ name, file: `${name}.yaml` }));
const own = (name: string): string => `extends: base.yaml\nseeds: { places: { source: ${name}.csv } } # of ${name}\n`;

// dev and staging have files of their own; prod overrides one that it shares.
const files = {
  "environments.yaml": entries.map(({ name, file }) => `${name}: { file: ${file} }\n`).join(""),
  "base.yaml": "seeds:\n  places: { table: places, key: Code, source: places.csv }\n",
  "places.csv": rows,
  ...{ "dev.yaml": own("dev"), "staging.yaml": own("staging"), "prod.yaml": "extends: base.yaml # of prod\n" },
  ...{ "twin.yaml": "extends: base.yaml\n", "dev.csv": rows, "staging.csv": rows.replaceAll("\n", "\r\n") },
};

const step = fc.record({
  edits: fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      key: fc.constantFrom(...keys),
      label: fc.constantFrom("Name", "Area"),
      value: fc.constantFrom("a", "b, c", 'say "d"', "5", "# e"),
      isRemoval: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  pair: fc.constantFrom<readonly [Name, Name]>(
    ...names.flatMap((from) => names.flatMap((to) => (from === to ? [] : [[from, to] as const]))),
  ),
  side: fc.constantFrom<"ours" | "theirs">("ours", "theirs"),
});

type Records = ReadonlyMap<string, Cells>;

/** The content of records, without their order and without cells that have no value. */
const contentOf = (records: Records): [string, [string, unknown][]][] =>
  [...records]
    .map(([key, cells]): [string, [string, unknown][]] => [
      key,
      Object.entries(cells)
        .filter(([, value]) => canonical(value) !== undefined)
        .sort(),
    ])
    .sort(([one], [other]) => (one < other ? -1 : 1));

function declaredIn({ folder }: Repository, name: string) {
  const { declared, problems } = readDeclaration(`${name}.yaml`, folder);
  if (!declared) throw new Error(JSON.stringify(problems));
  return declared;
}

async function readRecords(repository: Repository, name: Name): Promise<Records> {
  const side = findSeed(declaredIn(repository, name), "places", name);
  return side ? await readRows(side) : new Map<string, Cells>();
}

/** Somebody's edit of an environment's files, and its commit. */
async function edit(repository: Repository, name: Name, change: RowChange): Promise<void> {
  const { folder } = repository;
  const files = new EnvironmentFiles(declaredIn(repository, name), { name, file: `${name}.yaml` }, entries);
  const edits = files.rows("places").place(change);
  const { files: edited, refused } = await planEdits(edits, (file) => readToEdit(folder, file));
  expect(refused).toEqual([]);
  await writeFiles(folder, edited);
  repository.commit();
}

class Year {
  readonly #repository = made(files);
  /** The rows of the first of two environments when these were last alike, by their names. */
  #start: Records | undefined;
  readonly #bases = new Map<string, Records>();

  async live({
    edits,
    pair: [from, to],
    side,
  }: typeof step extends fc.Arbitrary<infer One> ? One : never): Promise<void> {
    const start = (this.#start ??= await readRecords(this.#repository, "dev")); // all three have the same rows
    for (const one of edits) await this.#edit(one);
    const before = new Map<Name, Records>();
    for (const name of names) before.set(name, await readRecords(this.#repository, name));
    const [is, there] = [before.get(from) ?? new Map<string, Cells>(), before.get(to) ?? new Map<string, Cells>()];
    const sides = { base: this.#bases.get(`${from} ${to}`) ?? start, from: is, to: there };
    const open = mergeRecords(sides, { key: ["Code"] }).conflicts.map(({ key }) => `places/${key}`);
    const shown = await promoteIn(this.#repository, [from, to], { write: open.length > 0 });
    expect(shown.conflicts.map(({ name }) => name).sort()).toEqual(open.sort());
    expect(this.#repository.git("status", "--porcelain")).toBe("");
    const meant = mergeRecords(sides, { key: ["Code"], decide: () => side });
    const promoted = await promoteIn(this.#repository, [from, to], { [side]: open });
    // Each diff is readable: a line or two for a row, and those that begin an override.
    const lines = this.#repository.git("diff", "--unified=0", "--", ":!promotions.yaml").split("\n");
    const changed = lines.filter((line) => /^[-+](?![-+])/.test(line)).length;
    expect(changed).toBeLessThanOrEqual(6 * meant.taken.length + 4);
    this.#repository.commit();
    const after = await readRecords(this.#repository, to);
    expect(contentOf(after)).toEqual(contentOf(withTaken(there, meant.taken)));
    for (const name of names.filter((each) => each !== to))
      expect(contentOf(await readRecords(this.#repository, name))).toEqual(contentOf(before.get(name) ?? new Map()));
    if (!promoted.written.includes("promotions.yaml")) return;
    this.#bases.set(`${from} ${to}`, is);
    this.#bases.set(`${to} ${from}`, after);
  }

  async #edit({
    name,
    key,
    label,
    value,
    isRemoval,
  }: {
    name: Name;
    key: string;
    label: string;
    value: string;
    isRemoval: boolean;
  }) {
    const all = await readRecords(this.#repository, name);
    const row = all.get(key);
    if (!row) await edit(this.#repository, name, { do: "add", key, cells: { Code: key, [label]: value } });
    else if (!isRemoval) await edit(this.#repository, name, { do: "change", key, row, cells: { [label]: value } });
    else if (all.size > 2) await edit(this.#repository, name, { do: "remove", key, row, cells: row });
  }
}

// Others with PROPERTY_SEED.
test(
  "a year of promotions back and forth with edits by hand between: nothing is lost, and each diff is readable",
  async () => {
    const steps = fc.array(step, { minLength: 10, maxLength: isLong ? 30 : 10 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const year = new Year();
        for (const each of all) await year.live(each);
      }),
      { numRuns: isLong ? 20 : 1, endOnFailure: true },
    );
  },
  isLong ? 1_800_000 : 120_000,
);

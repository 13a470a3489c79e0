import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeFiles } from "../../cli/between/editor/writing.ts";
import { promote, type Promoted } from "../../cli/between/promotion/promote.ts";
import { renderPromotion } from "../../cli/between/promotion/rendering.ts";
import { declarationIn, pullFrom, type Login } from "../../cli/between/testing/pullFrom.ts";
import { changedLines } from "../../cli/between/testing/pullStage.ts";
import { createEmulator } from "../../cli/commands/emulator/createEmulator.ts";
import { Repository } from "../../cli/report/testing/repository.ts";
import type { Emulator } from "../../emulator/index.ts";
import { createClient } from "../../platform/client/index.ts";
import { InProcessEngine } from "../harness/inProcessEngine.ts";

const account = { email: "admin@example.com", password: "correct-horse" };
const names = ["dev", "staging", "prod"] as const;
type Name = (typeof names)[number];

const files = {
  "environments.yaml": names.map((name) => `${name}: { file: ${name}.yaml }\n`).join(""),
  "base.yaml": `seeds:
  countries:
    table: countries
    key: Code
    source: countries.csv
    expect: { unique: [Code], notNull: [Name], rowCount: { min: 2 } }
  people:
    table: people
    key: Email
    source: people.csv
    references: { Country: { seed: countries } }
    expect: { unique: [Email], notNull: [Name, Country], acceptedValues: { Country: [DE, FR, IT] } }
`,
  "countries.csv": "Code,Name,Capital\nDE,Germany,Berlin\nFR,France,Paris\nIT,Italy,Rome\n",
  "people.csv": "Email,Name,Country\neva.brandt@mail.example,Eva Brandt,DE\nluc.moreau@mail.example,Luc Moreau,FR\n",
  "dev.yaml": "extends: base.yaml\n",
  "staging.yaml": "extends: base.yaml\n",
  "prod.yaml": "extends: base.yaml\n",
};
const fields = {
  countries: { fields: { Code: "text", Name: "text", Capital: "text" } },
  people: { fields: { Email: "text", Name: "text", Country: { type: "linked", table: "countries", field: "Code" } } },
} as const;

const platforms = new Map<string, { emulator: Emulator; engine: InProcessEngine; login: Login }>();
let repository: Repository;

beforeAll(async () => {
  repository = new Repository(files);
  for (const name of names) {
    const emulator = await createEmulator({ seed: { administrator: account, tables: fields } });
    const login = { endpoint: emulator.url, ...account };
    platforms.set(name, { emulator, engine: new InProcessEngine(login), login });
    await up(name);
  }
});
afterAll(async () => {
  repository.remove();
  for (const { emulator } of platforms.values()) await emulator.close();
});

function at(name: string) {
  const found = platforms.get(name);
  if (!found) throw new Error(name);
  return found;
}
const up = (name: string) => at(name).engine.run(declarationIn(repository.folder, `${name}.yaml`), true);

async function cells(name: string, table: string, label: string): Promise<unknown[]> {
  const client = createClient(at(name).login);
  try {
    const { microAppRows } = await client.microappdata({ microAppID: table, searchFilter: [{ skip: 0, limit: 100 }] });
    return microAppRows.map((row) => row[label]);
  } finally {
    await client.close();
  }
}

async function editByHand(name: Name, code: string, rowData: Record<string, string>): Promise<void> {
  const client = createClient(at(name).login);
  try {
    const { microAppRows } = await client.microappdata({
      microAppID: "countries",
      searchFilter: [{ skip: 0, limit: 100 }],
    });
    const rowID = microAppRows.find((row) => row["Code"] === code)?._id ?? "";
    await client.updatemicroapprow({ microAppID: "countries", rowID, rowData });
  } finally {
    await client.close();
  }
}

const promoteTo = (to: Name, more: Partial<Parameters<typeof promote>[0]> = {}): Promise<Promoted> =>
  promote({
    folder: repository.folder,
    ...{ from: to === "staging" ? "dev" : "staging", to, write: true, dirty: false },
    ...{ only: [], ours: [], theirs: [], conflicts: "cell", ...more },
  });

test("an edit by hand in dev becomes a file, goes on to staging, meets one of prod, and is applied once that is decided", async () => {
  await editByHand("dev", "DE", { Capital: "Berlin (Mitte)" });
  // The nightly job offers it: the diff of its request has the lines of what changed.
  repository.git("switch", "--quiet", "--create", "microapps/pull-dev");
  const entries = names.map((name) => ({ name, file: `${name}.yaml` }));
  const pulled = await pullFrom(at("dev").login, at("dev").engine, { folder: repository.folder, name: "dev", entries });
  expect(pulled.items.map(({ refused }) => refused)).toEqual([undefined]);
  await writeFiles(repository.folder, pulled.files);
  expect(changedLines(repository.git("diff", "--no-color", "--unified=0"))).toEqual([
    "+seeds:",
    "+  countries:",
    "+    rows~:",
    "+      - Code: DE",
    "+        Capital: Berlin (Mitte)",
  ]);
  repository.commit();
  repository.git("switch", "--quiet", "main");
  repository.git("merge", "--quiet", "--no-ff", "--no-edit", "microapps/pull-dev");
  const since = at("dev").emulator.lastCall();
  await up("dev");
  expect(at("dev").emulator.calls({ since, mutating: true })).toEqual([]);

  expect((await promoteTo("staging")).taken.map(({ name }) => name)).toEqual(["countries/DE"]);
  repository.commit();
  await up("staging");
  expect(await cells("staging", "countries", "Capital")).toContain("Berlin (Mitte)");

  repository.commit({
    "prod.yaml": 'extends: base.yaml\nseeds: { countries: { rows~: [{ Code: DE, Capital: "Berlin, Germany" }] } }\n',
  });
  const met = await promoteTo("prod");
  expect([met.written, repository.git("status", "--porcelain")]).toEqual([[], ""]);
  expect(renderPromotion(met)).toContain(
    "  ! countries/DE/Capital  conflict\n      base     Berlin\n      staging  Berlin (Mitte)\n      prod     Berlin, Germany\n",
  );
  const decided = await promoteTo("prod", { theirs: ["countries/DE"] });
  expect(decided.written).toEqual(["prod.yaml", "promotions.yaml"]);
  expect(changedLines(repository.git("diff", "--no-color", "--unified=0", "prod.yaml"))).toHaveLength(2);
  repository.commit();
  await up("prod");
  expect(await cells("prod", "countries", "Capital")).toEqual(
    expect.arrayContaining(["Berlin (Mitte)", "Paris", "Rome"]),
  );
  expect((await promoteTo("prod")).taken).toEqual([]);
});

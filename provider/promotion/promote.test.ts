import { afterEach, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Repository } from "../changes/testing/repository.ts";
import { promote, type Promoted, type PromotionRequest } from "./promote.ts";
import { renderPromotion } from "./rendering.ts";
import { writePromotion } from "./writing.ts";

const repositories: Repository[] = [];
afterEach(() => repositories.splice(0).forEach((repository) => repository.remove()));

function made(files: Readonly<Record<string, string>>): Repository {
  const repository = new Repository(files);
  repositories.push(repository);
  return repository;
}

const base = `organizations:
  acme: { name: Acme, teams: { crew: { name: Crew, members: { ada@example.com: admin } } } }
seeds:
  countries: { table: countries, key: Code, source: countries.csv }
  cities: { table: cities, key: Name, source: cities.csv, references: { Country: { seed: countries } } }
`;
const countries = "Code,Name,Area\nDE,Germany,357\nFR,France,643\n";
const project = {
  "environments.yaml": "dev: { file: dev.yaml }\nstaging: { file: staging.yaml }\nprod: { file: prod.yaml }\n",
  "base.yaml": base,
  "countries.csv": countries,
  "cities.csv": "Name,Country\nBerlin,DE\n",
  "dev.yaml": "extends: base.yaml\n",
  "staging.yaml": "# what staging has of its own\nextends: base.yaml\n",
  "prod.yaml": "extends: base.yaml\norganizations: { acme: { name: Acme Inc. } } # the name in contracts\n",
};

const promoteIn = (
  repository: Repository,
  [from, to]: [string, string],
  more: Partial<PromotionRequest> = {},
): Promise<Promoted> =>
  promote({
    folder: repository.folder,
    from,
    to,
    only: [],
    ours: [],
    theirs: [],
    conflicts: "cell",
    write: true,
    dirty: false,
    ...more,
  });

const read = (repository: Repository, file: string): string => readFileSync(join(repository.folder, file), "utf8");
const names = ({ taken }: Promoted): string[] => taken.map(({ do: verb, name }) => `${verb} ${name}`);
const changedLines = (repository: Repository): string[] =>
  repository
    .git("diff", "--unified=0")
    .split("\n")
    .filter((line) => /^[-+][^-+]/.test(line));

const staging = [
  "extends: base.yaml",
  "organizations: { acme: { teams: { crew: { members: { bob@example.com: member } } } } }",
  "seeds:",
  "  countries:",
  "    rows+:",
  "      - { Code: IT, Name: Italy, Area: '301' }",
  "    rows~:",
  "      - { Code: DE, Area: '358' }",
  "    rows-: [FR]",
  "",
].join("\n");

describe("what staging changed", () => {
  test("is shown, and written into prod's own layer: its name stays, twice changes nothing", async () => {
    const repository = made(project);
    repository.commit({ "staging.yaml": staging });
    const head = repository.git("rev-parse", "HEAD").trim();
    const shown = await promoteIn(repository, ["staging", "prod"], { write: false });
    expect(renderPromotion(shown).replace(/since [0-9a-f]{12}/, "since COMMIT")).toBe(
      [
        "staging → prod, what changed since COMMIT (both files are there since)",
        "  + acme/crew/bob@example.com  role: member",
        "  ~ countries/DE  Area: 357 → 358",
        "  + countries/IT  Name: Italy, Area: 301",
        "  - countries/FR",
        "2 added, 1 changed, 1 removed, 1 of prod alone, untouched",
        "--write brings this into the files of prod",
        "",
      ].join("\n"),
    );
    expect(repository.git("status", "--porcelain")).toBe("");
    const { written } = await promoteIn(repository, ["staging", "prod"]);
    expect(written).toEqual(["prod.yaml", "promotions.yaml"]);
    expect(read(repository, "prod.yaml")).toContain("organizations: { acme: { name: Acme Inc., ");
    expect(read(repository, "prod.yaml")).toContain("# the name in contracts");
    expect(read(repository, "promotions.yaml")).toContain(head);
    await expect(promoteIn(repository, ["staging", "prod"])).rejects.toThrow(
      /^prod.yaml, promotions.yaml are not committed: commit first, or go on with --dirty$/,
    );
    expect(names(await promoteIn(repository, ["staging", "prod"], { dirty: true }))).toEqual([]);
    repository.commit();
    const again = await promoteIn(repository, ["staging", "prod"]);
    expect([again.written, again.taken, again.base.by]).toEqual([[], [], "entry"]);
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("goes into the file where a row stands, line by line, where no other environment has it", async () => {
    const own = (name: string): string =>
      `extends: base.yaml\nseeds: { countries: { source: ${name}/countries.csv } }\n`;
    const repository = made({
      ...project,
      "staging.yaml": own("staging"),
      "prod.yaml": own("prod"),
      "staging/countries.csv": countries,
      "prod/countries.csv": '\uFEFFArea,Code,"Name"\r\n357,DE,"Germany"\r\n643,FR,France',
    });
    repository.commit({
      "staging/countries.csv": "Code,Name,Area,Zone\nDE,Germany,358,CET\nFR,France,643,\nIT,Italy,301,\n",
    });
    expect(names(await promoteIn(repository, ["staging", "prod"]))).toEqual([
      "change countries/DE",
      "add countries/IT",
    ]);
    expect(read(repository, "prod/countries.csv")).toBe(
      '\uFEFFArea,Code,"Name",Zone\r\n358,DE,"Germany",CET\r\n643,FR,France,\r\n301,IT,Italy,',
    );
    expect(repository.git("status", "--porcelain")).toBe(" M prod/countries.csv\n?? promotions.yaml\n");
  });

  test("brings a new seed with its file, things that went, and nothing of an emptied list", async () => {
    const repository = made({
      ...project,
      "staging.yaml": "extends: base.yaml\napps: { shop: { userEmail: ada@example.com, appPrompt: A shop } }\n",
      "prod.yaml": "extends: base.yaml\napps: { shop: { userEmail: ada@example.com, appPrompt: A shop } }\n",
    });
    repository.commit({
      "staging.yaml":
        "extends: base.yaml\nseeds: { languages: { table: languages, key: Tag, source: staging/languages.csv }, cities: null }\n",
      "staging/languages.csv": "Tag\nde\n",
    });
    const promoted = await promoteIn(repository, ["staging", "prod"]);
    expect(names(promoted)).toEqual(["add languages", "remove cities"]);
    expect(promoted.notes).toEqual([
      "staging has none of apps any more: nothing of it is removed; remove it in prod yourself",
    ]);
    expect(read(repository, "prod/languages.csv")).toBe("Tag\nde\n");
    expect(read(repository, "prod.yaml")).toContain("cities: null");
    repository.commit();
    expect(names(await promoteIn(repository, ["staging", "prod"]))).toEqual([]);
  });
});

describe("a conflict", () => {
  const conflicting = (): Repository => {
    const repository = made(project);
    repository.commit({
      "staging.yaml":
        "extends: base.yaml\nseeds: { countries: { rows~: [{ Code: DE, Area: '358', Name: Deutschland }] } }\n",
      "prod.yaml": "extends: base.yaml\nseeds: { countries: { rows~: [{ Code: DE, Area: '359' }] } }\n",
    });
    return repository;
  };

  test("has three values, and nothing is written", async () => {
    const repository = conflicting();
    const promoted = await promoteIn(repository, ["staging", "prod"]);
    expect(promoted.conflicts).toMatchObject([
      { name: "countries/DE", label: "Area", base: "357", from: "358", to: "359" },
    ]);
    expect(renderPromotion(promoted)).toContain(
      "  ! countries/DE/Area  conflict\n      base     357\n      staging  358\n      prod     359\n",
    );
    expect(repository.git("status", "--porcelain")).toBe("");
    const rows = await promoteIn(repository, ["staging", "prod"], { conflicts: "row" });
    expect(rows.conflicts).toMatchObject([{ name: "countries/DE", base: { Area: "357" }, to: { Area: "359" } }]);
    expect(rows.taken).toEqual([]);
  });

  test("is decided by key, for either side, and stays so", async () => {
    const theirs = conflicting();
    await promoteIn(theirs, ["staging", "prod"], { theirs: ["countries/DE"] });
    expect(changedLines(theirs)).toEqual([
      "-seeds: { countries: { rows~: [{ Code: DE, Area: '359' }] } }",
      "+seeds: { countries: { rows~: [{ Code: DE, Area: '358', Name: Deutschland }] } }",
    ]);
    const ours = conflicting();
    const kept = await promoteIn(ours, ["staging", "prod"], { ours: ["countries/DE"] });
    expect([kept.kept, names(kept)]).toEqual([1, ["change countries/DE"]]);
    ours.commit();
    const again = await promoteIn(ours, ["staging", "prod"]);
    expect([again.conflicts, again.taken, again.written]).toEqual([[], [], []]);
  });
});

describe("--only", () => {
  const two = (): Repository => {
    const repository = made(project);
    repository.commit({
      "staging.yaml":
        "extends: base.yaml\nseeds:\n  countries: { rows+: [{ Code: IT, Name: Italy }, { Code: ES, Name: Spain }] }\n  cities: { rows+: [{ Name: Roma, Country: IT }] }\n",
    });
    return repository;
  };

  test("takes along what the chosen rows link to, says so, and leaves the rest for another time", async () => {
    const repository = two();
    const promoted = await promoteIn(repository, ["staging", "prod"], { only: ["cities/Roma"] });
    expect(names(promoted)).toEqual(["add countries/IT", "add cities/Roma"]);
    expect(renderPromotion(promoted)).toContain(
      "  + countries/IT  Name: Italy (taken along: cities/Roma links to it)\n",
    );
    expect(promoted.written).toEqual(["prod.yaml"]);
    repository.commit();
    const rest = await promoteIn(repository, ["staging", "prod"]);
    expect(names(rest)).toEqual(["add countries/ES"]);
    expect(rest.written).toEqual(["prod.yaml", "promotions.yaml"]);
  });

  test("with a name that nobody has ends with the one that was meant", async () => {
    const wrong = promoteIn(two(), ["staging", "prod"], { only: ["countrys"] });
    await expect(wrong).rejects.toThrow("neither environment has countrys: did you mean countries?");
  });

  test("disjoint promotions commute", async () => {
    const texts = [];
    for (const order of [
      ["cities", "countries/ES"],
      ["countries/ES", "cities"],
    ]) {
      const repository = two();
      for (const only of order) {
        await promoteIn(repository, ["staging", "prod"], { only: [only] });
        repository.commit();
      }
      texts.push((await promoteIn(repository, ["staging", "prod"])).taken, read(repository, "promotions.yaml").length);
    }
    expect(texts.slice(0, 2)).toEqual(texts.slice(2));
  });
});

describe("there and back", () => {
  test("ten promotions with edits by hand between: nothing is lost, and no difference that was meant goes", async () => {
    const layer = (name: string, rows: Record<string, string>): string =>
      `extends: base.yaml\norganizations: { acme: { name: ${name} } }\nseeds:\n  countries:\n    rows~:\n${Object.entries(
        rows,
      )
        .map(([code, area]) => `      - { Code: ${code}, Area: '${area}' }\n`)
        .join("")}`;
    const repository = made({
      ...project,
      "dev.yaml": layer("Acme (dev)", { DE: "1", FR: "1" }),
      "staging.yaml": layer("Acme (staging)", { DE: "1", FR: "1" }),
    });
    let [de, fr] = [1, 1];
    const edit = (file: string, code: string, value: number): void => {
      const text = read(repository, file).replace(new RegExp(`(Code: ${code}, Area: )'\\d+'`), `$1'${value}'`);
      repository.commit({ [file]: text });
    };
    for (let turn = 0; turn < 5; turn++) {
      edit("dev.yaml", "DE", ++de);
      const there = await promoteIn(repository, ["dev", "staging"]);
      expect([names(there), there.conflicts]).toEqual([["change countries/DE"], []]);
      repository.commit();
      edit("staging.yaml", "FR", ++fr);
      const back = await promoteIn(repository, ["staging", "dev"]);
      expect([names(back), back.conflicts]).toEqual([["change countries/FR"], []]);
      repository.commit();
    }
    for (const [file, name] of [
      ["dev.yaml", "dev"],
      ["staging.yaml", "staging"],
    ] as const) {
      const expected = layer(`Acme (${name})`, { DE: String(de), FR: String(fr) });
      expect(read(repository, file)).toBe(expected);
    }
  });
});

test("promotions.yaml is written behind the files: it is never ahead of them", async () => {
  const repository = made(project);
  const file = { file: "prod.yaml", before: Buffer.from("as somebody read it"), after: Buffer.from("else") };
  const value = { from: "staging", commit: "0".repeat(40) };
  const entry = { kind: "value", do: "set", file: "promotions.yaml", path: ["prod"], value } as const;
  await expect(writePromotion(repository.folder, [file], [entry])).rejects.toThrow("prod.yaml was changed");
  expect(repository.git("status", "--porcelain")).toBe("");
});

describe("what can't be promoted is refused in one sentence", () => {
  const refusal = async (repository: Repository, more: Partial<PromotionRequest> = {}): Promise<string> => {
    try {
      return JSON.stringify((await promoteIn(repository, ["staging", "prod"], more)).written);
    } catch (error) {
      return (error as Error).message;
    }
  };

  test("a base commit that is gone", async () => {
    const gone = "f".repeat(40);
    const repository = made({ ...project, "promotions.yaml": `prod: { from: staging, commit: ${gone} }\n` });
    expect(await refusal(repository)).toBe(
      "promotions.yaml:1:32: there is no commit ffffffffffff, perhaps because the history was rewritten: name a commit at which staging was promoted last, or remove the entry to begin where both files came to be",
    );
  });

  test("a shallow clone, and a detached head is none", async () => {
    const repository = made(project);
    repository.commit({ "staging.yaml": staging });
    repository.git("checkout", "--quiet", "--detach");
    expect(await refusal(repository)).toBe('["prod.yaml","promotions.yaml"]');
    const shallow = mkdtempSync(join(tmpdir(), "microapps-shallow-"));
    try {
      execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${repository.folder}`, shallow]);
      const refused = promoteIn({ folder: shallow } as Repository, ["staging", "prod"]);
      await expect(refused).rejects.toThrow(/^staging was not promoted to prod yet, and .*fetch-depth: 0\)$/);
    } finally {
      rmSync(shallow, { recursive: true });
    }
  });

  test("a key that changed on one side alone; on both sides alike it is followed", async () => {
    const keyed = (key: string, more = ""): string =>
      `extends: base.yaml\nseeds: { countries: { key: ${key}${more} } }\n`;
    const repository = made(project);
    repository.commit({ "staging.yaml": keyed("Name") });
    expect(await refusal(repository)).toBe(
      "the key of countries is Name in staging and Code in prod: change it in prod as in staging (key: Name), then promote",
    );
    repository.commit({
      "staging.yaml": keyed("Name", ", rows~: [{ Name: France, Area: '644' }]"),
      "prod.yaml": keyed("Name"),
    });
    const { taken, conflicts } = await promoteIn(repository, ["staging", "prod"], { write: false });
    expect([taken.map(({ name }) => name), conflicts]).toEqual([["countries/France"], []]);
  });

  test("a seed that one side alone calls otherwise; on both sides it is followed", async () => {
    const own = (name: string, more = ""): string =>
      `extends: base.yaml\nseeds: { ${name}: { table: languages, key: Tag, rows: [{ Tag: de, Text: a${more} }]${name === "tongues" ? ", formerly: languages" : ""} } }\n`;
    const repository = made({ ...project, "staging.yaml": own("languages"), "prod.yaml": own("languages") });
    repository.commit({ "staging.yaml": own("tongues", "b") });
    expect(await refusal(repository)).toBe(
      "staging calls languages tongues now: rename it in prod as well (languages → tongues, with formerly), then promote",
    );
    repository.commit({ "prod.yaml": own("tongues") });
    expect(names(await promoteIn(repository, ["staging", "prod"]))).toEqual(["change tongues/de"]);
    expect(read(repository, "prod.yaml")).toBe(own("tongues", "b"));
  });

  test("a row that two seeds of one table would have", async () => {
    const both = (eu: string): string =>
      `extends: base.yaml\nseeds: { eu: { table: countries, key: Code, rows: [${eu}] } }\n`;
    const repository = made({
      ...project,
      "staging.yaml": both("{ Code: IT }"),
      "prod.yaml": both("{ Code: IT }, { Code: PT }"),
    });
    repository.commit({
      "staging.yaml": `${both("{ Code: IT }").trimEnd().slice(0, -2)}, countries: { rows+: [{ Code: PT }] } }\n`,
    });
    expect(await refusal(repository)).toBe(
      "countries/PT is a row of eu in prod, and the table countries has one row of a key: move it to countries there, then promote",
    );
  });

  test("a row that two layers touch is changed where each cell stands", async () => {
    const repository = made({
      ...project,
      "eu.yaml": "extends: base.yaml\nseeds: { countries: { rows~: [{ Code: DE, Area: '1' }] } }\n",
      "staging.yaml": "extends: eu.yaml\nseeds: { countries: { rows~: [{ Code: DE, Name: D }] } }\n",
      "prod.yaml": "extends: eu.yaml\nseeds: { countries: { rows~: [{ Code: DE, Name: D }] } }\n",
    });
    repository.commit({
      "staging.yaml": "extends: eu.yaml\nseeds: { countries: { rows~: [{ Code: DE, Name: E, Area: '2' }] } }\n",
    });
    expect(await refusal(repository)).toBe('["prod.yaml","promotions.yaml"]');
    expect(read(repository, "prod.yaml")).toBe(
      'extends: eu.yaml\nseeds: { countries: { rows~: [{ Code: DE, Name: E, Area: "2" }] } }\n',
    );
  });

  test("a source without rows removes nothing, and secrets are named and left", async () => {
    const secret = (rows: string): string =>
      `extends: base.yaml\nseeds: { keys: { table: keys, key: Name, secretLabels: [Token], rows: [${rows}] } }\n`;
    const repository = made({
      ...project,
      "staging.yaml": secret("{ Name: a, Token: hunter22, Use: x }"),
      "prod.yaml": secret("{ Name: a, Token: hunter33, Use: x }"),
    });
    repository.commit({
      "staging.yaml": secret("{ Name: a, Token: hunter44, Use: y }").replace(
        "seeds: {",
        "seeds: { cities: { source: none.csv },",
      ),
      "none.csv": "Name,Country\n",
    });
    const promoted = await promoteIn(repository, ["staging", "prod"]);
    expect(names(promoted)).toEqual(["change keys/a"]);
    expect(promoted.notes).toEqual([
      "staging has no rows of cities any more: nothing is removed; remove the seed instead, or the rows in prod yourself",
      "Token of keys is secret: it is not compared; bring it over yourself",
    ]);
    expect(read(repository, "prod.yaml")).toContain("Token: hunter33, Use: y");
    expect(JSON.stringify(promoted)).not.toContain("hunter");
  });
});

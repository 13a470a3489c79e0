import { describe, expect, test } from "@jest/globals";
import type { Repository } from "../../report/testing/repository.ts";
import { renderPromotion, writePromotion } from "./promote.ts";
import { countries, made, names, project, promoteIn, read, staging } from "./testing/promotions.ts";

const changedLines = (repository: Repository): string[] =>
  repository
    .git("diff", "--unified=0")
    .split("\n")
    .filter((line) => /^[-+][^-+]/.test(line));

describe("what staging changed", () => {
  test("is shown, and written into prod's own layer: its name stays, twice changes nothing", async () => {
    const repository = made(project);
    repository.commit({ "staging.yaml": staging });
    const head = repository.git("rev-parse", "HEAD").trim();
    const shown = await promoteIn(repository, ["staging", "prod"], { write: false });
    expect(renderPromotion(shown).replace(/since [0-9a-f]{12}/, "since COMMIT")).toBe(
      [
        "staging → prod, what changed since COMMIT (the first commit with both files)",
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

  test("is an override alone of what the shared file has since, and no removal of what staging never had", async () => {
    const repository = made(project);
    const offices = "{ table: offices, key: City, rows: [{ City: Lisbon, Desks: 3 }, { City: Paris, Desks: 4 }] }";
    repository.commit({
      "base.yaml": `${project["base.yaml"]}  offices: ${offices}\n  halls: { table: halls, key: Name, rows: [{ Name: A }] }\n`,
      "staging.yaml":
        "extends: base.yaml\nseeds: { offices: { maxRemovals: 0.5, rows~: [{ City: Lisbon, Desks: 33 }], rows-: [Paris] }, halls: null }\n",
    });
    const promoted = await promoteIn(repository, ["staging", "prod"]);
    expect(promoted.conflicts).toEqual([]);
    expect(names(promoted)).toEqual(["change offices", "change offices/Lisbon"]);
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

const own = (name: string, more = ""): string =>
  `extends: base.yaml\nseeds: { countries: { source: ${name}.csv${more} } }\n`;
const apart = {
  ...project,
  ...{ "staging.yaml": own("staging"), "prod.yaml": own("prod"), "staging.csv": countries, "prod.csv": countries },
};

test("a row that both sides changed in other cells has both; one that staging removed and prod changed is a conflict", async () => {
  const repository = made(apart);
  repository.commit({
    "staging.csv": "Code,Name,Area\nDE,Germany,358\n",
    "prod.csv": "Code,Name,Area\nDE,Deutschland,357\nFR,France,644\n",
  });
  const { conflicts } = await promoteIn(repository, ["staging", "prod"]);
  expect(conflicts).toMatchObject([{ name: "countries/FR", base: { Area: "643" }, to: { Area: "644" } }]);
  expect(repository.git("status", "--porcelain")).toBe("");
  await promoteIn(repository, ["staging", "prod"], { ours: ["countries/FR"] });
  expect(read(repository, "prod.csv")).toBe("Code,Name,Area\nDE,Deutschland,358\nFR,France,644\n");
});

test("a natural key that both sides corrected otherwise is a conflict of one row, decided for either side", async () => {
  const corrected = (): Repository => {
    const repository = made(apart);
    repository.commit({
      "staging.csv": countries.replace("DE,", "DEU,"),
      "prod.csv": countries.replace("DE,", "GER,"),
    });
    return repository;
  };
  const repository = corrected();
  const { conflicts, taken } = await promoteIn(repository, ["staging", "prod"]);
  expect(conflicts).toMatchObject([
    { name: "countries/DE", base: { Code: "DE" }, from: { Code: "DEU" }, to: { Code: "GER" } },
  ]);
  expect([taken, repository.git("status", "--porcelain")]).toEqual([[], ""]);
  await promoteIn(repository, ["staging", "prod"], { theirs: ["countries/DE"] });
  expect(read(repository, "prod.csv")).toBe("Code,Name,Area\nFR,France,643\nDEU,Germany,357\n");
  const ours = corrected();
  expect((await promoteIn(ours, ["staging", "prod"], { ours: ["countries/DE"] })).written).toEqual(["promotions.yaml"]);
  ours.commit();
  expect((await promoteIn(ours, ["staging", "prod"])).taken).toEqual([]);
});

describe("a column that got another name", () => {
  const sized = (text: string): string => text.replace("Area", "Size");

  test("is one change, beside those of its cells, and never a second column", async () => {
    const typed = (name: string, label: string): string => own(name, `, types: { ${label}: number }`);
    const repository = made({ ...apart, "staging.yaml": typed("staging", "Area"), "prod.yaml": typed("prod", "Area") });
    repository.commit({
      "staging.yaml": typed("staging", "Size"),
      "staging.csv": sized(`${countries.replace("357", "358")}IT,Italy,301\n`),
      "prod.csv": countries.replace("643", "644"),
    });
    const promoted = await promoteIn(repository, ["staging", "prod"]);
    expect(names(promoted)).toEqual([
      "change countries",
      "rename countries",
      "change countries/DE",
      "add countries/IT",
    ]);
    expect(renderPromotion(promoted)).toContain(
      "  ~ countries  column Area → Size\n  ~ countries/DE  Size: 357 → 358\n",
    );
    expect(read(repository, "prod.csv")).toBe("Code,Name,Size\nDE,Germany,358\nFR,France,644\nIT,Italy,301\n");
    expect(read(repository, "prod.yaml")).toBe(typed("prod", "Size"));
    repository.commit();
    expect((await promoteIn(repository, ["staging", "prod"])).taken).toEqual([]);
  });

  test("is refused by name where prod has given another one, and nothing where both gave the same", async () => {
    const more = `${countries}IT,Italy,301\n`;
    for (const [staging, prod] of [
      [more, sized(countries)],
      [sized(countries), countries.replace("Area", "Extent")],
    ] as const) {
      const repository = made(apart);
      repository.commit({ "staging.csv": staging, "prod.csv": prod });
      await expect(promoteIn(repository, ["staging", "prod"])).rejects.toThrow(
        /^prod calls the column Area of countries (Size|Extent) now: rename it in staging as well, then promote$/,
      );
    }
    const alike = made(apart);
    alike.commit({ "staging.csv": sized(more), "prod.csv": sized(countries) });
    expect(names(await promoteIn(alike, ["staging", "prod"]))).toEqual(["add countries/IT"]);
    expect(read(alike, "prod.csv")).toBe(sized(more));
  });

  test("is one change in a key; in rows of NDJSON and of a layer it is left to people", async () => {
    const keyed = made(apart);
    keyed.commit({ "staging.yaml": own("staging", ", key: Iso"), "staging.csv": countries.replace("Code", "Iso") });
    await promoteIn(keyed, ["staging", "prod"]);
    expect(read(keyed, "prod.csv")).toBe(countries.replace("Code", "Iso"));
    expect(read(keyed, "prod.yaml")).toContain("key: Iso");
    const lines = '{"Code":"DE","Area":357}\n{"Code":"FR","Area":643}\n';
    const inLines = (name: string): string => `extends: base.yaml\nseeds: { countries: { source: ${name}.ndjson } }\n`;
    const layer = (name: string): string => own(name, ", rows~: [{ Code: FR, Area: 644 }]");
    const left: [Record<string, string>, string][] = [
      [{ "prod.yaml": layer("prod") }, "prod.yaml has it in its rows"],
      [{ "prod.yaml": inLines("prod"), "prod.ndjson": lines }, "prod.ndjson has it in each row"],
    ];
    for (const [files, why] of left) {
      const repository = made({ ...apart, ...files });
      repository.commit({ "staging.csv": sized(countries) });
      await expect(promoteIn(repository, ["staging", "prod"])).rejects.toThrow(
        `the column Area is Size by now, and ${why}: rename it there by hand`,
      );
    }
  });
});

test("numbers are compared as they are written: what no number keeps is refused by its place", async () => {
  const typed = (name: string): string => own(name, ", types: { Area: number }");
  const repository = made({ ...apart, "staging.yaml": typed("staging"), "prod.yaml": typed("prod") });
  for (const area of ["12345678901234567", "1234567890.123456789", "1e400"]) {
    repository.commit({ "staging.csv": `Code,Name,Area\nDE,Germany,${area}\n` });
    await expect(promoteIn(repository, ["staging", "prod"])).rejects.toThrow(/^staging: staging.csv:2: Area /);
  }
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

  test("refuses by name what a chosen row links to and it leaves out; the rest is left for another time", async () => {
    const repository = two();
    const refused = promoteIn(repository, ["staging", "prod"], { only: ["cities/Roma"] });
    await expect(refused).rejects.toThrow(
      /^cities\/Roma links to countries\/IT, which --only leaves out: name it as well \(--only cities\/Roma, countries\/IT\)$/,
    );
    expect(repository.git("status", "--porcelain")).toBe("");
    const promoted = await promoteIn(repository, ["staging", "prod"], { only: ["cities/Roma", "countries/IT"] });
    expect(names(promoted)).toEqual(["add countries/IT", "add cities/Roma"]);
    expect(promoted.written).toEqual(["prod.yaml"]);
    repository.commit();
    const rest = await promoteIn(repository, ["staging", "prod"]);
    expect(names(rest)).toEqual(["add countries/ES"]);
    expect(rest.written).toEqual(["prod.yaml", "promotions.yaml"]);
  });

  test("refuses what is expected to stand elsewhere, and nothing for a label that others write", async () => {
    const repository = made({
      ...project,
      "base.yaml": `seeds:
  countries: { table: countries, key: Code, source: countries.csv }
  cities:
    table: cities
    key: Name
    source: cities.csv
    ignoreLabels: [Twin]
    expect: { relationships: { Country: { seed: countries }, Twin: { seed: countries } } }
`,
      "cities.csv": "Name,Country,Twin\nBerlin,DE,FR\n",
      "prod.yaml": "extends: base.yaml\n",
    });
    repository.commit({
      "staging.yaml": `extends: base.yaml
seeds:
  countries: { rows+: [{ Code: IT, Name: Italy }, { Code: ES, Name: Spain }] }
  cities: { rows+: [{ Name: Roma, Country: IT }], rows~: [{ Name: Berlin, Twin: ES }] }
`,
    });
    const only = (name: string) => promoteIn(repository, ["staging", "prod"], { only: [name], write: false });
    await expect(only("cities/Roma")).rejects.toThrow("cities/Roma links to countries/IT, which --only leaves out");
    expect(names(await only("cities/Berlin"))).toEqual(["change cities/Berlin"]);
  });

  test("with a name that nobody has ends with the one that was meant", async () => {
    const wrong = promoteIn(two(), ["staging", "prod"], { only: ["countrys"] });
    await expect(wrong).rejects.toThrow("neither environment has countrys: did you mean countries?");
    const row = promoteIn(two(), ["staging", "prod"], { only: ["contries/IT"] });
    await expect(row).rejects.toThrow("neither environment has contries/IT: did you mean countries?");
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

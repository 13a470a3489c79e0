import { describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Repository } from "../../report/testing/repository.ts";
import { commitOf } from "../../report/trees.ts";
import { readRows, type SeedOfSide } from "./plan.ts";
import type { PromotionRequest } from "./promote.ts";
import { countries, made, names, project, promoteIn, read, staging } from "./testing/promotions.ts";

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

  test("a second row of one key, with its place", async () => {
    const seed = { table: "t", key: ["code"], rows: [{ code: "a" }, { code: "a", area: 1 }] };
    const twins = { declared: { folder: "." }, seed, side: "prod" } as unknown as SeedOfSide;
    await expect(readRows(twins)).rejects.toThrow(
      "prod: rows[1]: a row before this one has the same natural key; change or remove one",
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
      await expect(refused).rejects.toThrow(/^this clone has a part of the history: .*fetch-depth: 0\)$/);
      const before = repository.git("rev-parse", "HEAD~1").trim();
      await expect(commitOf(shallow, before)).rejects.toThrow(
        `there is no commit "${before}" here, since this clone has a part of the history: fetch the rest ("git fetch --unshallow"; in a pipeline: fetch-depth: 0)`,
      );
    } finally {
      rmSync(shallow, { recursive: true });
    }
  });

  test("what is not committed is named, in a folder below the top, with line ends of Windows; --dirty goes on", async () => {
    const repository = made({});
    const below = (files: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(files).map(([file, text]) => [`app/${file}`, text.replaceAll("\n", "\r\n")] as const),
      );
    repository.git("config", "core.autocrlf", "false");
    repository.commit(below(project));
    repository.commit(below({ "staging.yaml": staging }));
    const folder = join(repository.folder, "app");
    repository.write({ "app/countries.csv": `${countries}IS,Iceland,103\n`, "notes.txt": "of nobody\n" });
    expect(await refusal(repository, { folder })).toBe(
      "app/countries.csv is not committed: commit first, or go on with --dirty",
    );
    const { written } = await promoteIn(repository, ["staging", "prod"], { folder, dirty: true });
    expect(written).toEqual(["prod.yaml", "promotions.yaml"]);
    expect(read(repository, "app/prod.yaml")).toMatch(/^extends: base.yaml\r\n([^\n]*\r\n)+$/);
  });

  test("a CSV with another column order is no change; a row that differs goes into the columns of the other file", async () => {
    const own = (name: string): string => `extends: base.yaml\nseeds: { countries: { source: ${name}.csv } }\n`;
    const repository = made({
      ...project,
      ...{ "staging.yaml": own("staging"), "prod.yaml": own("prod") },
      ...{ "staging.csv": countries, "prod.csv": "Area,Code,Name\n357,DE,Germany\n643,FR,France\n" },
    });
    repository.commit({ "staging.csv": "Name,Area,Code\nGermany,357,DE\nFrance,644,FR\nItaly,301,IT\n" });
    expect(names(await promoteIn(repository, ["staging", "prod"]))).toEqual([
      "change countries/FR",
      "add countries/IT",
    ]);
    expect(read(repository, "prod.csv")).toBe("Area,Code,Name\n357,DE,Germany\n644,FR,France\n301,IT,Italy\n");
  });

  test("a key that changed on one side alone, or since the base", async () => {
    const keyed = (key: string, more = ""): string =>
      `extends: base.yaml\nseeds: { countries: { key: ${key}${more} } }\n`;
    const repository = made(project);
    repository.commit({ "staging.yaml": keyed("Name") });
    expect(await refusal(repository)).toBe(
      "the key of countries is Name in staging and Code in prod: change it in prod as in staging (key: Name), then promote",
    );
    repository.commit({ "prod.yaml": keyed("Name") });
    expect(await refusal(repository)).toBe(
      "the key of countries is Name by now, and was Code: write the commit that changed it into promotions.yaml, then promote",
    );
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

import { afterEach, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Repository } from "../changes/testing/repository.ts";
import { installDriver } from "./install.ts";

const executable = fileURLToPath(new URL("../../bundle/microapps.js", import.meta.url));
const words = [process.execPath, "--no-warnings", executable];

const repositories: Repository[] = [];
function made(files: Readonly<Record<string, string>>): Repository {
  const repository = new Repository(files);
  repositories.push(repository);
  return repository;
}
afterEach(() => repositories.splice(0).forEach((repository) => repository.remove()));

/** Merges a branch with other changes into main; returns what Git prints where there is a conflict. */
function merge(
  repository: Repository,
  theirs: Record<string, string>,
  ours: Record<string, string>,
): string | undefined {
  repository.git("switch", "--quiet", "--create=theirs");
  repository.commit(theirs);
  repository.git("switch", "--quiet", "main");
  repository.commit(ours);
  try {
    repository.git("merge", "--quiet", "--no-edit", "theirs");
    return undefined;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const environment = (source: string): string =>
  `seeds: { countries: { table: countries, key: Code, source: ${source} } }\n`;
const rows = "Name,Code,Area\nGermany,DE,357\nFrance,FR,643\n";

test("two branches of one CSV merge by the key of its seed, in a project below the top", async () => {
  const repository = made({
    "deploy/Pulumi.yaml": "name: crew\nruntime: nodejs\n",
    "deploy/environments.yaml": "dev: { file: dev.yaml }\n",
    "deploy/dev.yaml": environment("../data/countries.csv"),
    "data/countries.csv": rows,
    "other.csv": "a,b\n1,2\n",
  });
  repository.git("rm", "--quiet", "Pulumi.yaml");
  const first = await installDriver(repository.folder, "deploy", words);
  expect(first.added).toContain("data/countries.csv merge=microapps");
  expect(first.added).toContain("deploy/**/*.csv merge=microapps");
  expect((await installDriver(repository.folder, "deploy", words)).added).toEqual([]);
  repository.commit();
  const file = join(repository.folder, "data/countries.csv");
  const failed = merge(
    repository,
    { "data/countries.csv": "Name,Code,Area,Zone\nGermany,DE,358,CET\nFrance,FR,643,\nSpain,ES,505,\n" },
    { "data/countries.csv": rows.replace("Germany", "Deutschland") + "Portugal,PT,92\n" },
  );
  expect(failed).toBeUndefined();
  expect(readFileSync(file, "utf8")).toBe(
    "Name,Code,Area,Zone\nDeutschland,DE,358,CET\nFrance,FR,643,\nSpain,ES,505,\nPortugal,PT,92,\n",
  );
  // Its first column has one name twice; the key of the seed does not.
  repository.git("branch", "--quiet", "--delete", "--force", "theirs");
  const text = readFileSync(file, "utf8");
  const conflict = merge(
    repository,
    { "data/countries.csv": text.replace("643", "644").replace("Spain,ES", "Portugal,ES") },
    { "data/countries.csv": text.replace("643", "645") },
  );
  expect(conflict).toContain("CONFLICT (content): Merge conflict in data/countries.csv");
  expect(readFileSync(file, "utf8")).toBe(
    "Name,Code,Area,Zone\nDeutschland,DE,358,CET\n<<<<<<< ours\nFrance,FR,645,\n=======\nFrance,FR,644,\n>>>>>>> theirs\nPortugal,ES,505,\nPortugal,PT,92,\n",
  );
  expect(repository.git("status", "--porcelain")).toBe("UU data/countries.csv\n");
});

test("what can't be merged by rows is merged by lines, as Git does without a driver", async () => {
  const repository = made({ "rows.csv": "a,b\n1,2\n1,3\n5,5\n6,6\n" });
  await installDriver(repository.folder, "", words);
  repository.commit();
  expect(
    merge(repository, { "rows.csv": "a,b\n1,9\n1,3\n5,5\n6,6\n" }, { "rows.csv": "a,b\n1,2\n1,3\n5,5\n6,7\n" }),
  ).toBe(undefined);
  expect(readFileSync(join(repository.folder, "rows.csv"), "utf8")).toBe("a,b\n1,9\n1,3\n5,5\n6,7\n");
});

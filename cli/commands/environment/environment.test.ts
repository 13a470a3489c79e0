import { beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../../testing/harness/commands.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";

const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: p\nruntime: nodejs\n");
  writeFileSync(
    join(folder, "base.yaml"),
    "organizations: { acme: { name: Acme } }\nseeds:\n  s: { table: t, key: Code, source: s.csv }\n",
  );
  writeFileSync(join(folder, "s.csv"), "Code,Name\nA,a\n");
  writeFileSync(join(folder, "prod.yaml"), "extends: base.yaml\nseeds: { s: { rows~: [{ Code: B, Name: b }] } }\n");
  writeFileSync(join(folder, "dev.yaml"), "extends: base.yaml\nseeds: { s: { rows~: [{ Code: A, Name: b }] } }\n");
});

/** A command in a clone that has nothing but its files: no stack, passphrase, packages or network. */
const run = (...words: string[]): Promise<{ status: number; output: string }> =>
  runCommand({
    ...{ words, folder },
    environment: { PATH: process.env["PATH"], HOME: folder, https_proxy: "http://127.0.0.1:9" },
  });

test("a file is checked down to its rows, and every problem ends it with status 2", async () => {
  expect(await run("environment", "check", "dev.yaml")).toEqual({
    status: 0,
    output: "environment dev.yaml is sound: 1 organization, 1 seed\n",
  });
  expect(await run("environment", "check", "-s", "prod", "-C", "sub")).toEqual({
    status: 2,
    output:
      'error: environment prod.yaml has a problem:\n  prod.yaml:2:23: s.csv has no row "B" to change: correct the key, or leave it out\n',
  });
  expect(await run("environment", "check")).toEqual({
    status: 1,
    output: "error: name the Environment file, or its stack with --stack\n",
  });
  // Nothing is written.
  expect(readdirSync(folder).toSorted()).toEqual(["Pulumi.yaml", "base.yaml", "dev.yaml", "prod.yaml", "s.csv", "sub"]);
});

test.each([
  ["spaces", "A", "A "],
  ["spaces", "A B", "A\u00a0B"],
  ["invisible characters", "A", "A\u200b"],
  ["Unicode form", "Caf\u00e9", "Cafe\u0301"],
  ["letter case", "A", "a"],
])("keys that differ by %s alone are two rows, and a warning names both", async (what, one, other) => {
  writeFileSync(join(folder, "spaced.csv"), `Code,Name\n${one},a\nB ,b\n${other},c\n`);
  writeFileSync(join(folder, "spaced.yaml"), "seeds: { s: { table: t, key: Code, source: spaced.csv } }\n");
  expect(await run("environment", "check", "spaced.yaml")).toEqual({
    status: 0,
    output:
      `warning: spaced.csv:4:1: the key "${other}" differs from "${one}" at spaced.csv:2 by ${what} alone: two rows; if one is meant, delete the other\n`.replace(
        "\u200b",
        "\\u200b",
      ) + "environment spaced.yaml is sound: 1 seed\n",
  });
  for (const file of ["spaced.csv", "spaced.yaml"]) rmSync(join(folder, file));
});

test("a file is shown as one, as YAML or JSON", async () => {
  const { status, output } = await run("environment", "show", "-s", "dev", "--json", "--origin");
  expect(status).toBe(0);
  expect(JSON.parse(output)).toEqual({
    environment: {
      organizations: { acme: { name: "Acme" } },
      seeds: { s: { table: "t", key: "Code", source: "s.csv", "rows~": [{ Code: "A", Name: "b" }] } },
    },
    origins: {
      "/organizations/acme/name": "base.yaml:1:32",
      "/seeds/s/table": "base.yaml:3:15",
      "/seeds/s/key": "base.yaml:3:23",
      "/seeds/s/source": "base.yaml:3:37",
      "/seeds/s/rows~0/0/Code": "dev.yaml:2:31",
      "/seeds/s/rows~0/0/Name": "dev.yaml:2:40",
    },
  });
  expect((await run("environment", "show", "nothing.yaml")).output).toBe(
    "error: environment nothing.yaml has a problem:\n  nothing.yaml:1:1: can't be read: there is no such file; correct the name of the file\n",
  );
});

test("what would stop a change from a commit ends the check, and a name given up may be a new key", async () => {
  const git = (...words: string[]): unknown =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { cwd: folder });
  const file = (...lines: string[]): void =>
    writeFileSync(join(folder, "main.yaml"), ["organizations: {}", ...lines, ""].join("\n"));
  const check = () => run("environment", "check", "main.yaml", "--base", "HEAD");
  writeFileSync(join(folder, "s.csv"), "Code,Name\nA,a\nB,b\nC,c\n");
  file("seeds: { s: { table: t, key: Code, source: s.csv } }");
  git("init", "-q");
  git("add", "main.yaml", "s.csv");
  git("commit", "-qm", "first");
  file("seeds: { s: { table: t, key: Code, source: s.csv } }", "removals: declared");
  expect(await check()).toMatchObject({ status: 2, output: expect.stringContaining("removals and removed are gone") });
  expect((await run("environment", "check", "main.yaml", "--base", "nowhere")).output).toContain(
    "removals and removed",
  );
  writeFileSync(join(folder, "s.csv"), "Code,Name\nA,a\nB,b\n");
  file("seeds: { letters: { table: t, key: Code, source: s.csv } }");
  const hint =
    'perhaps "s" is "letters" now: to keep it the same thing, add "formerly: s" under seeds.letters (main.yaml:2:10). ' +
    'Without it, 2 rows stay for "letters" and 1 row is removed';
  const { status, output } = await check();
  expect([status, output]).toEqual([0, expect.stringContaining(`warning: ${hint}\n`)]);
  expect((await run("environment", "check", "main.yaml", "--base", "nowhere")).output).toContain('no commit "nowhere"');
  file("seeds: { letters: { formerly: s, table: t, key: Code, source: s.csv } }");
  expect((await check()).output).not.toContain("perhaps");
});

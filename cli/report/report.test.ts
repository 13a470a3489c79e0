import { afterEach, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isUnchanged, stops } from "./changeSet.ts";
import { markdown } from "./rendering.ts";
import { Repository } from "./testing/repository.ts";

let repository: Repository;
afterEach(() => repository.remove());

const files = {
  "environments.yaml": "prod: { file: prod.yaml }\n",
  "base.yaml":
    "organizations:\n  acme: { name: Acme }\nseeds:\n  cities: { table: cities, key: Code, source: data/cities.csv }\n",
  "prod.yaml": "extends: base.yaml\n",
  "data/cities.csv": "Code,Name\nA,Aachen\n",
};
const acme = (name: string): string => files["base.yaml"].replace("Acme", name);

const linked =
  (target: string) =>
  (place: string): void =>
    symlinkSync(target, place);
const pointer = (place: string): void =>
  writeFileSync(place, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n");

describe("the base", () => {
  test("is read from Git: an unchanged tree is one line, and a private folder is not left behind", async () => {
    repository = new Repository(files);
    const folders = join(repository.folder, ".git/tmp"); // of its own: other tests make such folders, too
    mkdirSync(folders);
    const { TMPDIR } = process.env;
    process.env["TMPDIR"] = folders;
    const set = await repository.report();
    expect(set.environments.every(isUnchanged)).toBe(true);
    expect(markdown(set)).toMatch(/^<!-- microapps-report --> Nothing changes in [^\n]*\n$/);
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
    expect(readdirSync(folders)).toEqual([]);
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("is compared with what is not committed, through what a file extends and its sources", async () => {
    repository = new Repository(files);
    repository.write({ "base.yaml": acme("Acme 2"), "data/cities.csv": "Code,Name\nA,Aix\n" });
    const { change } = await repository.environment();
    expect(change.things.map(({ kind, name, changes }) => [kind, name, changes[0]?.fields[0]?.after])).toEqual([
      ["organization", "acme", "Acme 2"],
      ["seed", "cities", "Aix"],
    ]);
  });

  test("has a seed with retain that leaves: its rows stay", async () => {
    repository = new Repository({
      ...files,
      "base.yaml": files["base.yaml"].replace("{ table", "{ retain: true, table"),
    });
    repository.write({ "base.yaml": "organizations:\n  acme: { name: Acme }\n" });
    const { change } = await repository.environment();
    expect(change.things.map(({ op, rows, notes }) => [op, rows?.remove ?? 0, notes])).toEqual([
      ["remove", 0, ["retain is set: it stays on the platform, and is managed no more"]],
    ]);
  });

  test("without the file declares nothing, and everything is new", async () => {
    repository = new Repository({ "README.md": "" });
    repository.commit(files);
    const environment = await repository.environment({ base: "HEAD~1" });
    expect(environment.notes).toEqual(["prod.yaml is not in the base: everything it declares is new"]);
    expect(environment.change.things.map(({ op }) => op)).toEqual(["add", "add"]);
  });

  test("has its file under another name: environments.yaml of the base says which", async () => {
    repository = new Repository(files);
    renameSync(join(repository.folder, "prod.yaml"), join(repository.folder, "production.yaml"));
    repository.write({ "environments.yaml": "prod: { file: production.yaml }\n" });
    const environment = await repository.environment();
    expect(environment.change.things).toEqual([]);
    expect(environment.flags).toEqual([
      { text: "file changes from prod.yaml to production.yaml", place: "environments.yaml" },
    ]);
  });

  test("that can't be read is not compared, instead of seeming unchanged; a request may mend it", async () => {
    repository = new Repository({ ...files, "base.yaml": "organizations:\n  acme: { nmae: Acme }\n" });
    repository.write({ "base.yaml": acme("Acme") });
    const environment = await repository.environment();
    expect(environment.change.compared).toBe(false);
    expect(environment.change.why).toContain('base.yaml:2:11: unknown key "nmae"');
    expect(environment.problems).toEqual([]);
    expect(isUnchanged(environment)).toBe(false);
  });

  test("of a branch that is behind: this change is shown from where it began", async () => {
    repository = new Repository(files);
    repository.git("switch", "--quiet", "--create", "topic");
    repository.commit({ "data/cities.csv": "Code,Name\nA,Aachen\nB,Berlin\n" });
    repository.git("switch", "--quiet", "main");
    repository.commit({ "base.yaml": acme("Acme of main") });
    repository.commit();
    repository.git("switch", "--quiet", "topic");
    const set = await repository.report({ base: "main" });
    expect(set.base?.behind).toBe(2);
    expect(set.environments[0]?.change.things.map(({ name }) => name)).toEqual(["cities"]);
    expect(markdown(set)).toContain("the branch lacks 2 commits of it, so this is shown from where it began");
  });

  test("names that look like options, or that are no commit, are refused in one sentence", async () => {
    repository = new Repository(files);
    for (const base of ["--output=/tmp/x", "nowhere", "HEAD:prod.yaml", "-h"]) {
      await expect(repository.report({ base })).rejects.toThrow(`there is no commit "${base}" in this clone`);
    }
  });

  test("outside of a repository there is none", async () => {
    repository = new Repository(files);
    rmSync(join(repository.folder, ".git"), { recursive: true });
    await expect(repository.report()).rejects.toThrow("is not in a Git repository");
  });

  test.each<[string, file: string, put: (place: string) => void, why: string]>([
    ["a source", "data/cities.csv", linked("/etc/passwd"), "rows not compared: data/cities.csv is a symbolic link"],
    ["a source", "data/cities.csv", pointer, "rows not compared: data/cities.csv is a pointer of Git LFS"],
    ["a folder above a source", "data", linked("/etc"), "rows not compared: data is a symbolic link"],
    ["a layer", "base.yaml", linked("/etc/passwd"), "base.yaml is a symbolic link"],
  ])("has a link or a pointer of Git LFS for %s, %s: it is named and not followed", async (_, file, put, why) => {
    repository = new Repository(files);
    const place = join(repository.folder, file);
    rmSync(place, { recursive: true });
    put(place);
    repository.commit();
    rmSync(place);
    repository.write(files);
    const { change } = await repository.environment();
    const said = change.things.map(({ notes: [note] }) => note);
    expect(change.compared ? said : [change.why, ...said]).toEqual([expect.stringContaining(`${why} at the base`)]);
  });
});

describe("in the working tree", () => {
  const submodule = (place: string): void => {
    mkdirSync(place);
    execFileSync("git", ["init", "--quiet", "."], { cwd: place });
    writeFileSync(join(place, "cities.csv"), "Code,Name\nX,Xanten\n");
    writeFileSync(join(place, "base.yaml"), acme("Xanten"));
  };
  test.each<[string, string, (place: string) => void, string]>([
    ["is a link out of it", "data/cities.csv", linked("/etc/passwd"), "data/cities.csv is a symbolic link"],
    ["is a link within it", "data/cities.csv", linked("../elsewhere/cities.csv"), "data/cities.csv is a symbolic link"],
    ["is a link to what Git keeps", "data/cities.csv", linked("../.git/config"), "data/cities.csv is a symbolic link"],
    ["is below a link", "data", linked("elsewhere"), "data is a symbolic link"],
    ["is in a submodule", "data", submodule, "data is a submodule"],
  ])("a source that %s is named and not followed, and stops it", async (_, file, put, named) => {
    repository = new Repository({ ...files, "elsewhere/cities.csv": "Code,Name\nX,Xanten\n" });
    const place = join(repository.folder, file);
    rmSync(place, { recursive: true });
    put(place);
    const environment = await repository.environment();
    const reason = `${named}: it is not ${file === "data" && put === submodule ? "read" : "followed"}`;
    expect(environment.change.things.map(({ notes }) => notes)).toEqual([[`rows not compared: ${reason}`]]);
    expect(stops(environment)).toEqual([reason]);
    expect(JSON.stringify(environment)).not.toMatch(/root:|Xanten|repositoryformatversion/);
  });

  test.each<[string, (place: string) => void, string]>([
    ["is a link out of it", linked("/etc/passwd"), "prod.yaml:1:10: base.yaml can't be read: it is outside of the"],
    ["is a link within it", linked("other.yaml"), "base.yaml is a symbolic link: it is not followed"],
    ["is a pointer of Git LFS", pointer, "base.yaml is a pointer of Git LFS"],
    ["is a submodule", submodule, "prod.yaml:1:10: base.yaml can't be read: it is a folder"],
  ])("a layer that %s is named and not followed, and stops it", async (_, put, reason) => {
    repository = new Repository({ ...files, "other.yaml": acme("Xanten") });
    const place = join(repository.folder, "base.yaml");
    rmSync(place);
    put(place);
    const environment = await repository.environment();
    expect(environment.change).toMatchObject({ compared: false, things: [] });
    expect(stops(environment)[0]).toContain(reason);
    expect(JSON.stringify(environment)).not.toMatch(/root:|Xanten/);
  });

  test("a source that is a pointer of Git LFS is named", async () => {
    repository = new Repository(files);
    pointer(join(repository.folder, "data/cities.csv"));
    const { change } = await repository.environment();
    expect(change.things.map(({ notes }) => notes)).toEqual([
      ['rows not compared: data/cities.csv is a pointer of Git LFS: fetch the file with "git lfs pull"'],
    ]);
  });
});

describe("a hostile branch", () => {
  test("an environment that environments.yaml lists no more is shown, with what it would lose", async () => {
    repository = new Repository({
      ...files,
      "environments.yaml": "prod: { file: prod.yaml }\ndev: { file: dev.yaml }\n",
      "dev.yaml": "organizations: {}\n",
    });
    repository.write({ "environments.yaml": "dev: { file: dev.yaml }\n" });
    rmSync(join(repository.folder, "prod.yaml"));
    const { environments } = await repository.report();
    const prod = environments.find(({ name }) => name === "prod");
    expect(prod?.flags).toEqual([{ text: "environments.yaml does not list it any more", place: "environments.yaml" }]);
    expect(prod?.change.things.map(({ op }) => op)).toEqual(["remove", "remove"]);
  });
});

describe("which environments", () => {
  test("by name or by stack, with --file in place of the list, and unknown ones are refused", async () => {
    repository = new Repository({ ...files, "environments.yaml": "prod: { stack: live, file: prod.yaml }\n" });
    expect((await repository.environment({ stacks: ["live"] })).name).toBe("prod");
    expect((await repository.environment({ stacks: ["prod"] })).stack).toBe("live");
    expect((await repository.environment({ stacks: ["test"], file: "prod.yaml" })).name).toBe("test");
    await expect(repository.report({ stacks: ["staging"] })).rejects.toThrow(
      "environments.yaml does not list staging; there is prod",
    );
  });

  test("without a list and without --file it says what to write; a list with a mistake names its place", async () => {
    repository = new Repository({ "prod.yaml": "organizations: {}\n" });
    await expect(repository.report()).rejects.toThrow("there is no environments.yaml beside Pulumi.yaml");
    repository.write({ "environments.yaml": "prod: { file: prod.yaml }\ndev: { flie: dev.yaml }\n" });
    await expect(repository.report()).rejects.toThrow("environments.yaml:2:1: ");
  });
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stops, type ChangeSet } from "../../cli/report/changeSet.ts";
import { Repository } from "../../cli/report/testing/repository.ts";

// Data is read, code is not believed: a pull request's author tries to have his report run something, to hide something, to
// free himself of a rule.

let repository: Repository;
afterEach(() => repository.remove());

const files = {
  "environments.yaml": "prod: { file: prod.yaml, endpoint: https://platform.example.com }\n",
  "base.yaml": `rules:
  - { path: organizations.*.teams.*.roster.maxRemovals, atMost: 0.1, because: audits }
organizations:
  acme:
    name: Acme
    teams: { crew: { name: Crew, roster: { maxRemovals: 0.1, members: { ada@example.com: admin, eve@example.com: member } } } }
`,
  "prod.yaml": "extends: base.yaml\nseeds: { s: { table: t, key: Code, source: s.csv } }\n",
  "s.csv": "Code\nA\n",
};
const texts = ({ environments }: ChangeSet): string[] =>
  environments.flatMap((each) => each.flags).map(({ text }) => text);

describe("policy counts as it stands at the base", () => {
  test("rules that the same change loosens hold still, and that is said first", async () => {
    repository = new Repository(files);
    repository.write({
      "base.yaml": files["base.yaml"]
        .replace("atMost: 0.1", "atMost: 1")
        .replace("maxRemovals: 0.1", "maxRemovals: 1")
        .replace(", eve@example.com: member", ""),
      "Pulumi.yaml": "name: tests\nruntime: go\n",
    });
    const set = await repository.report();
    expect(texts(set)[0]).toBe(
      "the rule on organizations.*.teams.*.roster.maxRemovals is removed or changed: until that is merged, the one of the base applies",
    );
    const [prod] = set.environments;
    expect(prod && stops(prod)).toEqual([
      "base.yaml:6:57: organizations.acme.teams.crew.roster.maxRemovals is the number 1; the base's rule at base.yaml:2:5 says at most 0.1, because audits",
    ]);
  });

  test("a layer with the rules that is extended no more frees nobody, nor does another file", async () => {
    repository = new Repository(files);
    const alone =
      "organizations: { acme: { name: Acme, teams: { crew: { name: Crew, roster: { maxRemovals: 1, members: { ada@example.com: admin } } } } } }\n";
    repository.write({ "prod.yaml": alone });
    const one = await repository.environment();
    expect(stops(one).join("\n")).toContain("the base's rule at base.yaml:2:5 says at most 0.1");
    repository.write({
      "other.yaml": alone,
      "environments.yaml": files["environments.yaml"].replace("prod.yaml", "other.yaml"),
    });
    const other = await repository.environment();
    expect(stops(other).join("\n")).toContain("the base's rule at base.yaml:2:5 says at most 0.1");
    expect(other.flags.map(({ text }) => text)).toContain("file changes from prod.yaml to other.yaml");
  });

  test("environments.yaml that says something else is flagged; credentials in an address are not shown", async () => {
    repository = new Repository(files);
    repository.write({
      "environments.yaml":
        "prod: { file: prod.yaml, endpoint: 'https://user:hush@evil.example' }\nevil: { stack: prod, file: evil.yaml }\n",
      "evil.yaml": "organizations: {}\n",
    });
    const set = await repository.report();
    expect(texts(set)).toEqual([
      "endpoint changes from https://platform.example.com to https://evil.example",
      "environments.yaml did not list it before: the stack prod",
    ]);
    expect(set.alsoChanged).toEqual({ count: 1, files: ["environments.yaml"] });
    expect(JSON.stringify(set)).not.toContain("hush");
  });
});

describe("whatever no declaration reads is named", () => {
  const others = {
    "Pulumi.prod.yaml": "config: { microapps:endpoint: https://b.example }\n",
    "Pulumi.json": '{"name":"shop","runtime":"nodejs","main":"evil.js"}',
    "Pulumi.yaml": "name: tests\nruntime: go\n",
    "drift.yaml": "- { environment: prod, thing: acme/crew, because: mine, until: 2030-01-01 }\n",
    ".github/workflows/ci.yaml": "on: push\n",
    ".gitattributes": "*.csv text eol=crlf\n",
    ".npmrc": "registry=https://evil.example\n",
    "package-lock.json": "{}\n",
    "node_modules/a/index.js": "",
    ".microapps/intents/a.json": "{}\n",
    "profile.yaml": "version: 1\n",
    "lib/__pycache__/x.pyc": "x",
    "data/unused.csv": "Code\nZ\n",
    "with space\nand line.sh": "",
    constructor: "x",
  };

  test.each([true, false])("at the top, whatever it is called; committed: %s", async (isCommitted) => {
    repository = new Repository(files);
    const changed = { ...others, "s.csv": "Code\nB\n", "prod.yaml": `${files["prod.yaml"]}# more\n` };
    if (isCommitted) repository.commit(changed);
    else repository.write(changed);
    symlinkSync("/etc/hosts", join(repository.folder, "hosts"));
    const { alsoChanged } = await repository.report({ base: isCommitted ? "HEAD~1" : "HEAD" });
    // What runs leave in folders of what is installed is not a branch's, unless somebody commits it.
    const left = isCommitted ? [] : ["node_modules/a/index.js"];
    const wanted = [...Object.keys(others), "hosts"].filter((name) => !left.includes(name));
    expect(alsoChanged?.files.toSorted()).toEqual(wanted.sort());
    expect(alsoChanged?.files[0]).toBe("Pulumi.yaml"); // which was there before
  });

  test("data are the files of all environments, on both sides, in a project below the top too", async () => {
    const project = {
      "app/environments.yaml": "prod: { file: prod.yaml }\ndev: { file: dev.yaml }\n",
      "shared/base.yaml": "seeds: { s: { table: t, key: Code, source: rows.csv } }\n",
      "shared/rows.csv": "Code\nA\n",
      "app/prod.yaml": "extends: ../shared/base.yaml\n",
      "app/dev.yaml":
        "organizations: { acme: { name: Acme, teams: { crew: { name: Crew, roster: { source: crew.csv } } } } }\n",
      "app/crew.csv": "email\nada@example.com\n",
      "app/Pulumi.yaml": "name: tests\nruntime: nodejs\n",
    };
    repository = new Repository(project);
    repository.write({ "shared/rows.csv": "Code\nB\n", "app/crew.csv": "email\neve@example.com\n" });
    const folder = join(repository.folder, "app");
    for (const stacks of [[], ["prod"]])
      expect((await repository.report({ folder, stacks })).alsoChanged).toEqual({ count: 0, files: [] });
    // A source that moves: the base read the one, and the working tree reads the other.
    rmSync(join(repository.folder, "shared/rows.csv"));
    repository.write({
      "shared/base.yaml": project["shared/base.yaml"].replace("rows.csv", "more.csv"),
      "shared/more.csv": "Code\nA\n",
    });
    expect((await repository.report({ folder })).alsoChanged).toEqual({ count: 0, files: [] });
  });

  test("a file that becomes data with this change was something else before, and its mode alone makes a program", async () => {
    repository = new Repository({ ...files, "tool.csv": "Code\nA\n", "run.csv": "x\n" });
    repository.commit({ "prod.yaml": files["prod.yaml"].replace("s.csv", "tool.csv"), "tool.csv": "Code\nB\n" });
    chmodSync(join(repository.folder, "run.csv"), 0o755);
    repository.commit();
    const { alsoChanged } = await repository.report({ base: "HEAD~2" });
    expect(alsoChanged?.files).toEqual(["run.csv", "tool.csv"]);
  });

  test("a link, a submodule and a declaration that can't be read make no data", async () => {
    repository = new Repository(files);
    rmSync(join(repository.folder, "s.csv"));
    symlinkSync("other.csv", join(repository.folder, "s.csv"));
    repository.commit({ "other.csv": "Code\nZ\n" });
    expect((await repository.report({ base: "HEAD~1" })).alsoChanged?.files).toEqual(["s.csv", "other.csv"]);
    rmSync(join(repository.folder, "s.csv"));
    repository.commit({ "s.csv": "Code\nC\n", "prod.yaml": "seeds: [\n" });
    expect((await repository.report({ base: "HEAD~1" })).alsoChanged?.files).toEqual(["s.csv"]);
  });

  test("a branch with any number of files hides none of those that were there", async () => {
    repository = new Repository({ ...files, "z.sh": "" });
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`a/${at}`, ""]));
    repository.commit({ ...many, "z.sh": "evil\n" });
    const { alsoChanged } = await repository.report({ base: "HEAD~1" });
    expect([alsoChanged?.count, alsoChanged?.files.length, alsoChanged?.files[0]]).toEqual([1_501, 1_000, "z.sh"]);
  });
});

describe("nothing of the branch runs", () => {
  test("neither its program, runtime, packages, filters, hooks nor a bare repository in a folder of it", async () => {
    repository = new Repository(files);
    const { folder } = repository;
    const witness = join(folder, "ran");
    const script = join(folder, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${witness}\nexit 1\n`);
    chmodSync(script, 0o755);
    mkdirSync(join(folder, "sub"));
    const bare = join(folder, "sub");
    const hook = join(folder, ".git/hooks/post-checkout");
    writeFileSync(hook, `#!/bin/sh\ntouch ${witness}\n`, { mode: 0o755 });
    execFileSync("git", ["init", "--quiet", "--bare", "."], { cwd: bare });
    for (const [key, value] of Object.entries({
      "core.fsmonitor": script,
      "core.hooksPath": folder,
      "diff.x.textconv": script,
      "diff.external": script,
      "filter.x.smudge": script,
      "filter.x.clean": script,
      "filter.x.process": script,
      "filter.x.required": "true",
      "alias.rev-parse": `!${script}`,
      "core.sshCommand": script,
      "core.pager": script,
    }))
      for (const cwd of [bare, folder]) execFileSync("git", ["config", key, value], { cwd });
    const nested = {
      ...files,
      "Pulumi.yaml":
        "name: tests\nruntime: { name: nodejs, options: { nodeargs: --import ./evil.mjs } }\nplugins: { providers: [{ name: microapps, path: . }] }\n",
    };
    repository.write({
      ...Object.fromEntries(Object.entries(nested).map(([name, text]) => [`sub/${name}`, text])),
      ".gitattributes": "* filter=x diff=x\n",
      "sub/evil.mjs": `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(witness)}, "");`,
      "sub/index.ts": `import "./evil.mjs";\n`,
      "sub/package.json": JSON.stringify({ scripts: { preinstall: "../evil.sh", prepare: "../evil.sh" } }),
      "sub/node_modules/pulumi-microapps/index.js": `require("fs").writeFileSync(${JSON.stringify(witness)}, "");`,
    });
    const set = await repository.report({ folder: join(folder, "sub") });
    expect(set.environments[0]?.notes).toEqual(["prod.yaml is not in the base: everything it declares is new"]);
    expect(existsSync(witness)).toBe(false);
  });

  test("what is missing in a clone of a part is not fetched", async () => {
    repository = new Repository(files);
    const witness = join(repository.folder, "fetched");
    const script = join(repository.folder, ".git/helper.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${witness}\nexit 1\n`);
    chmodSync(script, 0o755);
    for (const [key, value] of Object.entries({
      "remote.origin.url": `ext::${script}`,
      "remote.origin.promisor": "true",
      "remote.origin.partialclonefilter": "blob:none",
      "extensions.partialClone": "origin",
      "core.repositoryFormatVersion": "1",
      "protocol.ext.allow": "always",
    }))
      repository.git("config", key, value);
    const id = repository.git("rev-parse", "HEAD:s.csv").trim();
    rmSync(join(repository.folder, ".git/objects", id.slice(0, 2), id.slice(2)));
    repository.write({ "s.csv": "Code\nB\n" });
    await expect(repository.report()).rejects.toThrow(
      "is not in this clone, which has a part of the history: fetch the rest",
    );
    expect(existsSync(witness)).toBe(false);
  });

  test("pipes, devices and files without end in the working tree are refused at once", async () => {
    repository = new Repository(files);
    const { folder } = repository;
    rmSync(join(folder, "s.csv"));
    execFileSync("mkfifo", [join(folder, "s.csv")]);
    const pipe = await repository.environment();
    expect(stops(pipe).join("\n")).toContain("s.csv is not a file; name the file");
    rmSync(join(folder, "s.csv"));
    symlinkSync("/dev/zero", join(folder, "s.csv"));
    expect(stops(await repository.environment()).join("\n")).toContain("s.csv is not a file; name the file");
    rmSync(join(folder, "s.csv"));
    repository.write({ "s.csv": files["s.csv"], "base.yaml": `# ${"x".repeat(5 * 2 ** 20)}\n` });
    expect(stops(await repository.environment()).join("\n")).toContain("it has more than 4 MB");
  });
});

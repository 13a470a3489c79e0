import { afterEach, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stops, type ChangeSet } from "../../cli/changes/model/changeSet.ts";
import { render } from "../../cli/changes/rendering/render.ts";
import { Repository } from "../../cli/changes/testing/repository.ts";

// Attacks of a pull request's author on its report: to run something, to hide something, to approve himself.

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
const texts = ({ flags, environments }: ChangeSet): string[] =>
  [...environments.flatMap((each) => each.flags), ...flags].map(({ text }) => text);

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
      "the rule on organizations.*.teams.*.roster.maxRemovals is taken out or changed: until it is merged, that of the base holds",
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

  test("environments.yaml and drift.yaml that say something else are flagged; credentials in an address are not shown", async () => {
    repository = new Repository({ ...files, "Pulumi.prod.yaml": "config: { microapps:email: ada@example.com }\n" });
    repository.write({
      "environments.yaml":
        "prod: { file: prod.yaml, endpoint: 'https://user:hush@evil.example' }\nevil: { stack: prod, file: evil.yaml }\n",
      "evil.yaml": "organizations: {}\n",
      "drift.yaml":
        "- { environment: prod, thing: acme/crew, name: m@example.com, because: mine, until: 2030-01-01 }\n",
      "Pulumi.prod.yaml": "config: { microapps:email: mallory@example.com }\n",
    });
    const set = await repository.report();
    expect(texts(set)).toEqual([
      "endpoint changes from https://platform.example.com to https://evil.example",
      "the endpoint and a credential change in one request: look where the credential goes",
      "microapps:email changes from ada@example.com to mallory@example.com: it decides as whom",
      "environments.yaml did not list it before: the stack prod",
      "microapps:email changes from ada@example.com to mallory@example.com: it decides as whom",
      "drift.yaml accepts drift that the base does not: 1 entry",
    ]);
    expect(JSON.stringify(set)).not.toContain("hush");
  });
});

describe("flags", () => {
  const stack = (more: string): string =>
    `encryptionsalt: v1:old\nconfig:\n  microapps:endpoint: https://a.example\n${more}`;
  test.each([
    [
      "movedFrom",
      "  microapps:movedFrom: https://b.example\n",
      "microapps:movedFrom changes from nothing to https://b.example: it decides where calls go",
    ],
    [
      "readOnly",
      "  microapps:readOnly: false\n",
      "microapps:readOnly changes from nothing to false: it decides where calls go",
    ],
    [
      "wireNames",
      "  microapps:wireNames: { a: b }\n",
      'microapps:wireNames changes from nothing to {"a":"b"}: it decides how calls are sent',
    ],
    [
      "the account",
      "  microapps:email: m@example.com\n",
      "microapps:email changes from nothing to m@example.com: it decides as whom",
    ],
    [
      "a key of another form",
      "  microapps:config:token: { secure: v1:x }\n",
      "microapps:config:token changes from nothing to [secret]: it decides as whom",
    ],
  ])("%s", async (_, more, said) => {
    repository = new Repository({ ...files, "Pulumi.prod.yaml": stack("") });
    repository.write({ "Pulumi.prod.yaml": stack(more) });
    expect(texts(await repository.report())).toEqual([said]);
  });

  test("the salt, secrets that change places, and a stack whose file has another name", async () => {
    const secrets = (one: string, two: string): string =>
      `  app:one: { secure: ${one} }\n  app:two: { secure: ${two} }\n`;
    repository = new Repository({ ...files, "Pulumi.prod.yaml": stack(secrets("v1:aa", "v1:bb")) });
    repository.write({ "Pulumi.prod.yaml": stack(secrets("v1:bb", "v1:aa")).replace("v1:old", "v1:new") });
    expect(texts(await repository.report())).toEqual([
      "encryptionsalt changes: what is encrypted can't be compared, and another passphrase may open it",
      "the encrypted value of app:two stands at app:one now",
      "the encrypted value of app:one stands at app:two now",
    ]);
    repository.write({
      "Pulumi.prod.yaml": stack(secrets("v1:aa", "v1:bb")),
      "environments.yaml": files["environments.yaml"].replace("file:", "stack: other, file:"),
      "Pulumi.other.yaml": stack(secrets("v1:aa", "v1:bb")).replace("a.example", "evil.example"),
    });
    expect(texts(await repository.report())).toEqual([
      "stack changes from prod to other",
      "microapps:endpoint changes from https://a.example to https://evil.example: it decides where calls go",
    ]);
  });

  test.each(["name", "runtime", "plugins", "backend", "main"])("%s of Pulumi.yaml", async (key) => {
    repository = new Repository(files);
    const own: Record<string, string> = { name: "tests", runtime: "nodejs", backend: "{ url: file://. }" };
    repository.write({
      "Pulumi.yaml": Object.entries({ ...own, [key]: "evil" })
        .map((one) => `${one.join(": ")}\n`)
        .join(""),
    });
    expect(texts(await repository.report())).toEqual([
      `${key} of Pulumi.yaml changes, which decides what runs and where the state is`,
    ]);
  });

  test("a file that can't be read, or that grows without bound, hides nothing", async () => {
    const lists = ["b", "c", "d", "e", "f", "g", "h"].map(
      (key, at) =>
        `${key}: &${key} [${Array(9)
          .fill(`*${"abcdefg"[at] ?? ""}`)
          .join(", ")}]\n`,
    );
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${lists.join("")}`;
    repository = new Repository({ ...files, "Pulumi.prod.yaml": stack("") });
    repository.write({ "Pulumi.prod.yaml": bomb, "Pulumi.yaml": bomb });
    const said = texts(await repository.report()).join("\n");
    for (const file of ["Pulumi.prod.yaml", "Pulumi.yaml"]) {
      expect(said).toContain(
        `${file}:1: it has an anchor or an alias; write the value out: readers of the file may differ in what it says`,
      );
    }
  });

  test("many of them leave room for those that count", async () => {
    repository = new Repository({ ...files, "Pulumi.prod.yaml": stack("") });
    for (let at = 0; at < 100; at++) symlinkSync("/etc/hosts", join(repository.folder, `link-${at}`));
    repository.commit({ "Pulumi.prod.yaml": stack("  microapps:movedFrom: https://b.example\n") });
    const text = render(await repository.report({ base: "HEAD~1" }), "md");
    expect(text).toContain("microapps&#58;movedFrom changes");
    expect(text).toContain("link&#45;99 becomes a symbolic link"); // none is cut
  });
});

describe("nothing of the branch runs", () => {
  test("neither its program, runtime, packages nor a bare repository in a folder of it", async () => {
    repository = new Repository(files);
    const { folder } = repository;
    const witness = join(folder, "ran");
    const script = join(folder, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${witness}\nexit 1\n`);
    chmodSync(script, 0o755);
    mkdirSync(join(folder, "sub"));
    const bare = join(folder, "sub");
    execFileSync("git", ["init", "--quiet", "--bare", "."], { cwd: bare });
    for (const [key, value] of Object.entries({
      "core.fsmonitor": script,
      "core.hooksPath": folder,
      "diff.x.textconv": script,
      "filter.x.smudge": script,
      "filter.x.required": "true",
      "alias.rev-parse": `!${script}`,
      "core.sshCommand": script,
      "core.pager": script,
    }))
      execFileSync("git", ["config", key, value], { cwd: bare });
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
    expect(repository.git("status", "--porcelain", "--", "ran")).toBe("");
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
    expect(stops(pipe).join("\n")).toContain("s.csv is no file; name the file with the rows");
    rmSync(join(folder, "s.csv"));
    symlinkSync("/dev/zero", join(folder, "s.csv"));
    expect(stops(await repository.environment()).join("\n")).toContain("s.csv is no file; name the file with the rows");
    rmSync(join(folder, "s.csv"));
    repository.write({ "s.csv": files["s.csv"], "base.yaml": `# ${"x".repeat(5 * 2 ** 20)}\n` });
    expect(stops(await repository.environment()).join("\n")).toContain("it has more than 4 MB");
  });
});

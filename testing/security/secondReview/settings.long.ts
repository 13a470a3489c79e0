import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { EnvironmentChanges } from "../../../cli/changes/model/changeSet.ts";
import { Repository } from "../../../cli/changes/testing/repository.ts";
import type { Crypter } from "../../../engine/state/crypter.ts";
import { configEntry, configKey, configValue } from "../../../engine/workspace/config.ts";
import { findProject, readProject } from "../../../engine/workspace/project.ts";
import { stackContent, strictDocument } from "../../../machine/settings/strict.ts";
import { repository as home } from "../../harness/project.ts";

// "Two readers of one file": what the real CLI makes of project and stack files, recorded beside them, is what we make of
// them, or we refuse.

const entry = z.object({ value: z.string(), secret: z.boolean(), object: z.boolean() });
const corpus = z
  .array(
    z.looseObject({
      name: z.string(),
      kind: z.enum(["stack", "project"]),
      text: z.string(),
      refused: z.literal(true).optional(),
      config: z.record(z.string(), entry).optional(),
      project: z.looseObject({ name: z.string(), main: z.string().nullable(), runtime: z.unknown() }).optional(),
    }),
  )
  .parse(JSON.parse(readFileSync(join(home, "testing/security/secondReview/testdata/settings.json"), "utf8")));

let folder: string;
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-settings-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const clear = { decrypt: (text: string) => text } as Crypter; // nothing else is asked of it

/** The configuration of a stack's file as programs get it; undefined where we refuse. */
function ours(text: string): unknown {
  try {
    const { config } = stackContent(strictDocument(text));
    return Object.fromEntries(
      Object.entries(config ?? {}).map(([key, raw]) => {
        const { text: value, secret, object } = configEntry(configValue(raw ?? ""), clear);
        return [configKey(key, "shop"), { value, secret, object }];
      }),
    );
  } catch {
    return undefined;
  }
}

test("the corpus is large, and most of what is plain is read", () => {
  expect(corpus.length).toBeGreaterThan(200);
  const read = corpus.filter(({ kind, text }) => kind === "stack" && ours(text) !== undefined);
  expect(read.length).toBeGreaterThan(150);
});

test.each(corpus.filter(({ kind }) => kind === "stack"))("a stack's file: $name", ({ text, config, refused }) => {
  const found = ours(text);
  if (found !== undefined) expect([found, refused]).toEqual([config, undefined]);
});

test.each(corpus.filter(({ kind }) => kind === "project"))("a project file: $name", ({ text, project, refused }) => {
  const file = join(folder, "Pulumi.yaml");
  writeFileSync(file, text);
  for (const name of ["a.js", "evil.js"]) writeFileSync(join(folder, name), "");
  let found: { name: string; runtime: string; entry: string } | undefined;
  try {
    found = readProject(file);
  } catch {
    return; // refused
  }
  const { name, runtime, main } = project ?? {};
  const language = typeof runtime === "string" ? runtime : (runtime as { name?: string } | undefined)?.name;
  expect([refused, found.name, found.runtime]).toEqual([undefined, name, language]);
  if (main?.endsWith(".js") === true) expect(found.entry).toBe(main);
});

test.each([
  ["Pulumi.json", "Pulumi.yaml"],
  ["Pulumi.yml", "Pulumi.yaml"],
  ["Pulumi.json", ""],
  ["PULUMI.YAML", ""],
])("a project of %s beside %s is run by no engine of ours", (one, other) => {
  for (const file of [one, other].filter(Boolean)) writeFileSync(join(folder, file), "name: shop\nruntime: nodejs\n");
  expect(() => findProject(folder)).toThrow(/keep one|write it as|rename/);
});

const files = {
  "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
  "Pulumi.prod.yaml": "encryptionsalt: v1:old\nconfig:\n  microapps:endpoint: https://platform.example.com\n",
  "environments.yaml": "prod: { file: prod.yaml }\n",
  "prod.yaml": "organizations: { acme: { name: Acme } }\n",
  "index.ts": "export {};\n",
  "package.json": '{ "name": "shop", "dependencies": { "a": "1.0.0" } }\n',
  "package-lock.json":
    '{ "lockfileVersion": 3, "packages": { "node_modules/a": { "version": "1.0.0", "integrity": "sha512-a" } } }\n',
};

/** A lock with this many packages of a registry. */
const lockOf = (count: number, registry: string): string => {
  const names = Array.from({ length: count }, (_, at) => `p${at}`);
  const packages = names.map((name) => [`node_modules/${name}`, { version: "1.0.0", resolved: `${registry}/${name}` }]);
  return JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries(packages) as unknown });
};

describe("a branch", () => {
  let repository: Repository;
  afterEach(() => repository.remove());

  /** Flags of everything. */
  async function reported(branch: Readonly<Record<string, string>>): Promise<string> {
    repository = new Repository(files);
    repository.commit(files);
    repository.commit(branch);
    const { flags, environments } = await repository.report({ base: "HEAD~1" });
    const all: EnvironmentChanges["flags"] = [...flags, ...environments.flatMap((each) => each.flags)];
    return all.map(({ text }) => text).join("\n");
  }

  const stack = files["Pulumi.prod.yaml"];
  test.each<[string, Record<string, string>, string]>([
    [
      "a Pulumi.json beside Pulumi.yaml",
      { "Pulumi.json": '{"name":"shop","runtime":"nodejs","main":"evil.js"}' },
      "stand beside each other",
    ],
    [
      "a Pulumi.prod.json",
      { "Pulumi.prod.json": '{"config":{"microapps:endpoint":"https://evil.example"}}' },
      "stand beside each other",
    ],
    [
      "code behind U+2028",
      { "Pulumi.yaml": `${files["Pulumi.yaml"]}# main \u2028main: evil.js\n` },
      "Pulumi.yaml:3: it has a line break",
    ],
    [
      "code behind U+0085",
      { "Pulumi.yaml": `${files["Pulumi.yaml"]}# main \u0085main: evil.js\n` },
      "Pulumi.yaml:3: it has a line break",
    ],
    [
      "code behind a lone CR",
      { "Pulumi.yaml": `${files["Pulumi.yaml"]}# main \rmain: evil.js\n` },
      "Pulumi.yaml:3: it has a line break",
    ],
    [
      "a merge key below config",
      { "Pulumi.prod.yaml": `${stack}  <<: { microapps:movedFrom: https://x.example.com }\n` },
      "it has a merge key",
    ],
    ["a second document", { "Pulumi.prod.yaml": `${stack}---\n${stack}` }, "keep one"],
    ["a YAML program", { "Main.yaml": "resources: {}\n" }, "Main.yaml changes and decides what runs"],
    ["a registry", { ".npmrc": "registry=https://evil.example\n" }, ".npmrc changes and decides what runs"],
    ["a state", { ".pulumi/stacks/shop/prod.json": "{}\n" }, ".pulumi/stacks/shop/prod.json changes and decides"],
    [
      "more packages of another registry than a flag names",
      { "package-lock.json": lockOf(11, "https://evil.example") },
      "package-lock.json changes 11 packages in other ways than their versions",
    ],
    ["a lock that can't be read", { "package-lock.json": "{" }, "can't be read as JSON"],
    ["vendored code", { "node_modules/a/data.txt": "x\n" }, "node_modules/a/data.txt changes"],
  ])("is flagged for %s, whatever else it says", async (_, branch, text) => {
    expect(await reported(branch)).toContain(text);
  });

  test.each<[string, Record<string, string>, string]>([
    [
      "environment:",
      { "Pulumi.prod.yaml": `environment: [team/prod]\n${stack}` },
      "environment of Pulumi.prod.yaml changes, which decides",
    ],
    [
      "secretsprovider",
      { "Pulumi.prod.yaml": `secretsprovider: awskms://x\n${stack}` },
      "secretsprovider of Pulumi.prod.yaml changes, which decides",
    ],
    [
      "encryptedkey",
      { "Pulumi.prod.yaml": `encryptedkey: x\n${stack}` },
      "encryptedkey of Pulumi.prod.yaml changes, which decides",
    ],
    [
      "resources of Pulumi.yaml",
      { "Pulumi.yaml": `${files["Pulumi.yaml"]}resources: { x: { type: "a:b:C" } }\n` },
      "resources of Pulumi.yaml changes",
    ],
    [
      "variables of a YAML program",
      { "Pulumi.yaml": `${files["Pulumi.yaml"]}variables: { x: { fn::invoke: { function: "a:b:c" } } }\n` },
      "variables of Pulumi.yaml changes",
    ],
    [
      "another key of the configuration",
      { "Pulumi.prod.yaml": `${stack}  shop:a: b\n` },
      "shop:a in Pulumi.prod.yaml changes",
    ],
    ["comments", { "Pulumi.yaml": `# x\n${files["Pulumi.yaml"]}` }, "Pulumi.yaml changes in comments or layout alone"],
    [
      "a dependency",
      { "package.json": files["package.json"].replace("1.0.0", "2.0.0") },
      "dependencies of package.json changes",
    ],
    [
      "what is installed",
      { "package-lock.json": files["package-lock.json"].replace("sha512-a", "sha512-b") },
      "package-lock.json changes what is installed: a in integrity",
    ],
    ["code", { "index.ts": "import './evil.js';\n" }, "index.ts changes and decides what runs: read it"],
    [
      "environments.yaml",
      { "environments.yaml": `# x\n${files["environments.yaml"]}` },
      "environments.yaml changes in comments or layout alone",
    ],
  ])("is flagged for %s", async (_, branch, text) => {
    expect(await reported(branch)).toContain(text);
  });

  test("has no flag for data", async () => {
    expect(await reported({ "rows.csv": "a,b\n", "prod.yaml": "organizations: { acme: { name: Other } }\n" })).toBe("");
  });
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Crypter } from "../../engine/state/crypter.ts";
import { configEntry, configKey, configValue } from "../../engine/workspace/config.ts";
import { findProject, readProject } from "../../engine/workspace/project.ts";
import { stackContent, strictDocument } from "../../engine/workspace/strict.ts";
import { repository as home } from "../harness/project.ts";

// A project or stack file says one thing: what the real CLI makes of it, recorded in testdata, is what we make of it, or we
// refuse.

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
  .parse(JSON.parse(readFileSync(join(home, "testing/security/testdata/settings.json"), "utf8")));

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

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Sandbox } from "../testing/sandbox.ts";
import { getConfig, removeConfig, setConfig } from "./configEdits.ts";

let sandbox: Sandbox;
const written = [
  ...["config:", "  # kept", "  spike:yes: yes", "  spike:float: 1.50", "  spike:none:", "  spike:date: '2020-01-01'"],
  ...["  spike:large: 18446744073709551615", "  spike:nested: { mode: 17, none: ~, text: '0777' }", ""],
].join("\n");

beforeEach(() => {
  sandbox = new Sandbox({ "Pulumi.dev.yaml": written });
});
afterEach(() => {
  sandbox.remove();
});
const file = (): string => readFileSync(path.join(sandbox.project, "Pulumi.dev.yaml"), "utf8");

test("bare values mean what they mean to Pulumi", async () => {
  const stack = await sandbox.init();
  const read = (key: string): string => getConfig(stack, key).text;
  expect([read("date"), read("yes"), read("float"), read("none"), read("large")]).toEqual([
    ...["2020-01-01", "yes", "1.5", "", "18446744073709551615"],
  ]);
  expect(read("nested")).toBe('{"mode":17,"none":null,"text":"0777"}');
});

test.each(["2020-01-01", "2020-01-01T10:11:12.50Z", "0777", "0o17", "0x1f", "1_000", "-1_0.5"])(
  "the bare %s, which readers of YAML take differently, is refused with its line",
  async (text) => {
    sandbox.remove();
    sandbox = new Sandbox({ "Pulumi.dev.yaml": `config:\n  spike:a: ${text}\n` });
    await expect(sandbox.init()).rejects.toThrow(
      "Pulumi.dev.yaml:2: has a date or a number that readers take differently",
    );
  },
);

test("what is not edited stays as written, and texts that mean something else are quoted", async () => {
  const stack = await sandbox.init();
  const texts = ["2020-01-01", "0777", "yes", "1e3", "~", "null", "", "-5", "plain <b>", "a: b", "# c"];
  for (const [i, text] of texts.entries()) await setConfig(stack, `t${i}`, text);
  expect(file()).toContain(written.trimEnd());
  const again = await sandbox.stack();
  expect(texts.map((_, i) => getConfig(again, `t${i}`).text)).toEqual(texts);
  expect(file()).toContain('  spike:t0: "2020-01-01"\n  spike:t1: "0777"\n  spike:t2: "yes"\n');
});

test("a key that is removed is found no more", async () => {
  const stack = await sandbox.init();
  await removeConfig(stack, "nested");
  expect(() => getConfig(stack, "nested")).toThrow("configuration key 'nested' not found");
});

test.each([
  ["a stack's file", "Pulumi.dev.yaml", "environment:\n  - acme/platform\n"],
  ["the project's file", "Pulumi.yaml", "environment: { acme: {} }\n"],
])("environments of Pulumi ESC in %s are refused by name, before anything runs", async (_, name, text) => {
  await sandbox.init();
  const place = path.join(sandbox.project, name);
  writeFileSync(place, readFileSync(place, "utf8") + text);
  const refusal = `${place}: 'environment' is not served by the embedded engine: use the Pulumi CLI`;
  await expect(sandbox.run()).rejects.toThrow(refusal);
  expect(sandbox.calls()).toEqual([]);
});

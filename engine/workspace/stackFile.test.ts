import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Sandbox } from "../testing/sandbox.ts";
import { getConfig, removeConfig, setConfig } from "./configEdits.ts";

let sandbox: Sandbox;
const written = [
  ...["config:", "  # kept", "  spike:date: 2020-01-01", "  spike:time: 2020-01-01T10:11:12.50Z", "  spike:mode: 0777"],
  ...["  spike:thousand: 1_000", "  spike:yes: yes", "  spike:float: 1.50", "  spike:none:", "  spike:feb: 2020-02-30"],
  ...["  spike:nested: { mode: 0o17, none: ~, date: 2020-1-2, text: '0777' }", ""],
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
  expect(read("date")).toBe("2020-01-01 00:00:00 +0000 UTC");
  expect(read("time")).toBe("2020-01-01 10:11:12.5 +0000 UTC");
  expect(read("feb")).toBe("2020-02-30");
  expect([read("mode"), read("thousand"), read("yes"), read("float"), read("none")]).toEqual([
    ...["511", "1000", "yes", "1.5", ""],
  ]);
  expect(read("nested")).toBe('{"date":"2020-01-02 00:00:00 +0000 UTC","mode":15,"none":null,"text":"0777"}');
});

test("what is not edited stays as written, and texts that mean something else are quoted", async () => {
  const stack = await sandbox.init();
  const texts = ["2020-01-01", "0777", "yes", "1e3", "~", "null", "", "-5", "plain <b>", "a: b", "# c"];
  for (const [i, text] of texts.entries()) setConfig(stack, `t${i}`, text);
  expect(file()).toContain(written.trimEnd());
  const again = await sandbox.stack();
  expect(texts.map((_, i) => getConfig(again, `t${i}`).text)).toEqual(texts);
  expect(file()).toContain('  spike:t0: "2020-01-01"\n  spike:t1: "0777"\n  spike:t2: "yes"\n');
});

test("paths are set as with Pulumi", async () => {
  const stack = await sandbox.init();
  const at = (key: string, text: string): void => {
    setConfig(stack, key, text, { path: true });
  };
  at("yes.a", "1");
  at("list[0].on", "true");
  at("single", "5");
  expect(file()).toContain("  spike:yes:\n    a: 1\n");
  expect(file()).toContain('  spike:list:\n    - on: true\n  spike:single: "5"\n');
  const refused: [string, string][] = [
    ["yes.a.b", "could not set config: yes.a: expected a map"],
    ["list[-1]", "could not set config: list[-1]: array index out of range"],
    ["list[2]", "could not set config: list[2]: array index out of range"],
    ["list.x", "could not set config: list.x: key for an array must be an int"],
    ["new.secure", 'maps with the single key "secure" are reserved'],
  ];
  for (const [key, message] of refused) {
    expect(() => {
      at(key, "text");
    }).toThrow(message);
  }
  expect(getConfig(stack, "list").text).toBe('[{"on":true}]');
  removeConfig(stack, "list");
  expect(() => getConfig(stack, "list")).toThrow("configuration key 'list' not found");
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

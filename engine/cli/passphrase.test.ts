import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Command } from "commander";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PassThrough } from "node:stream";
import type { Terminal } from "../terminal/prompts.ts";
import { Sandbox } from "../testing/sandbox.ts";
import { addEngineCommands } from "./cli.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox({ "Pulumi.dev.yaml": "" }); // no salt yet
});
afterEach(() => {
  sandbox.remove();
});

/** Runs a command on a terminal where a person types a line at each question; returns the screen's text. */
async function onTerminal(
  words: readonly string[],
  typed: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const lines = [...typed];
  let screen = "";
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  output.on("data", (data: Buffer) => {
    screen += data.toString();
    if (data.toString().endsWith(": ")) setImmediate(() => input.write(`${lines.shift() ?? ""}\r`));
  });
  const { PULUMI_CONFIG_PASSPHRASE: _, ...rest } = sandbox.environment;
  // A terminal has far more than what is used of it here.
  const terminal = { input, output, errors: output, environment: { ...rest, ...environment } } as unknown as Terminal;
  const program = new Command("microapps").exitOverride();
  addEngineCommands(program, terminal);
  await program.parseAsync(["-C", sandbox.project, ...words], { from: "user" });
  await new Promise(setImmediate);
  return screen;
}

test("a passphrase that nobody set is asked for, twice for a new stack, and not shown", async () => {
  expect(await onTerminal(["stack", "init", "dev"], ["horse", "horse"])).toBe(
    "Enter your passphrase to protect the secrets of the stack: \nEnter it again: \nCreated stack 'dev'\n",
  );
  const asked = "Enter your passphrase to unlock the secrets of the stack: \n";
  expect(await onTerminal(["config", "--show-secrets", "-s", "dev"], ["horse"])).toBe(`${asked}KEY  VALUE\n`);
  await expect(onTerminal(["config", "--show-secrets", "-s", "dev"], ["mule"])).rejects.toThrow("incorrect passphrase");
  expect(await onTerminal(["config", "-s", "dev"], [], { PULUMI_CONFIG_PASSPHRASE: "horse" })).toBe("KEY  VALUE\n");
  // Where no secret is shown nobody is asked, and whether the passphrase is right doesn't matter.
  await onTerminal(["config", "set", "a", "1", "-s", "dev"], []);
  await onTerminal(["config", "set", "b", "2", "--secret", "-s", "dev"], ["horse"]);
  const listed = "KEY  VALUE\na    1\nb    [secret]\n";
  expect(await onTerminal(["config", "-s", "dev"], [], { PULUMI_CONFIG_PASSPHRASE: "mule" })).toBe(listed);
  expect(await onTerminal(["config", "get", "a", "-s", "dev"], [])).toBe("1\n");
  expect(await onTerminal(["config", "get", "b", "-s", "dev"], ["horse"])).toBe(`${asked}2\n`);
});

test("a secret that is set where the stack's file has lost its salt puts it back, and can be read", async () => {
  await onTerminal(["stack", "init", "dev"], ["horse", "horse"]);
  const file = path.join(sandbox.project, "Pulumi.dev.yaml");
  writeFileSync(file, "");
  await onTerminal(["config", "set", "b", "2", "--secret", "-s", "dev"], ["horse"]);
  expect(readFileSync(file, "utf8")).toMatch(/^encryptionsalt: v1:/m);
  expect(await onTerminal(["config", "get", "b", "-s", "dev"], ["horse"])).toContain("2\n");
});

test("two that differ make nothing", async () => {
  await expect(onTerminal(["stack", "init", "dev"], ["horse", "hoarse"])).rejects.toThrow(
    "the passphrases differ: nothing was created",
  );
  await expect(onTerminal(["config", "-s", "dev"], [])).rejects.toThrow("no stack named 'dev' found");
});

test("nobody is asked where nobody sits", async () => {
  const sentence = "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE";
  await expect(onTerminal(["stack", "init", "dev", "--non-interactive"], [])).rejects.toThrow(sentence);
  await expect(onTerminal(["stack", "init", "dev"], [], { CI: "true" })).rejects.toThrow(sentence);
});

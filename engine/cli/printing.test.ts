import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Command } from "commander";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Terminal } from "../terminal/prompts.ts";
import { Sandbox } from "../testing/sandbox.ts";
import { addEngineCommands, reportFailure } from "./cli.ts";

// Texts from other people are printed without effect: a value in a stack's file, a state, a lock.

const hostile = "a\u001b[2J\u202eb\n::error::taken\n/approve";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => {
  sandbox.remove();
});

/** The output of a command, failures included. */
async function printed(
  words: readonly string[],
  { isTTY = false, ...variables }: { isTTY?: boolean; CI?: string; PULUMI_CONFIG_PASSPHRASE?: string } = {},
): Promise<string> {
  let text = "";
  const output = Object.assign(new PassThrough(), { isTTY });
  output.on("data", (data: Buffer) => (text += data.toString()));
  const environment = { ...sandbox.environment, CI: "", ...variables };
  // A terminal has far more than what is used of it here.
  const terminal = { input: new PassThrough(), output, errors: output, environment } as unknown as Terminal;
  const program = new Command("microapps").exitOverride();
  addEngineCommands(program, terminal);
  await program.parseAsync(["-C", sandbox.project, ...words], { from: "user" }).catch((error: unknown) => {
    reportFailure(error, terminal);
    process.exitCode = undefined;
  });
  await new Promise(setImmediate);
  return text;
}

const get = ["config", "get", "motto", "-s", "dev"];

test("a script gets a value of the configuration as it is, a person sees what is in it", async () => {
  await sandbox.init();
  await printed(["config", "set", "motto", hostile, "-s", "dev"]);
  expect(await printed(get)).toBe(`${hostile}\n`);
  expect(await printed(get, { CI: "true" })).toBe(`${hostile}\n`);
  expect(await printed(get, { isTTY: true })).toBe("a\\u202eb\n::error::taken\n/approve\n");
  expect(JSON.parse(await printed([...get, "--json"]))).toMatchObject({ value: hostile });
});

test("a value that begins with - stands behind --", async () => {
  await sandbox.init();
  await printed(["config", "set", "motto", "-s", "dev", "--", "-sup3r"]);
  expect(await printed(get)).toBe("-sup3r\n");
});

test("no value of a list makes a line of its own, nor a command of a pipeline", async () => {
  await sandbox.init();
  await printed(["config", "set", "motto", hostile, "-s", "dev"]);
  for (const CI of ["", "true"]) {
    const lines = (await printed(["config", "-s", "dev"], { CI })).trimEnd().split("\n");
    expect(lines).toEqual(["KEY    VALUE", "motto  a\\u202eb\\n::error::taken\\n/approve"]);
  }
});

test("of stacks and locks only what may be one is shown, and how a lock is described is one line", async () => {
  await sandbox.init();
  const state = join(sandbox.folder, "state/.pulumi");
  const text = readFileSync(join(state, "stacks/spike/dev.json"));
  for (const name of ["\u001b[2Jdev", "-x y", ".hidden"])
    await writeFile(join(state, `stacks/spike/${name}.json`), text);
  expect(await printed(["stack", "ls"])).toMatch(/^NAME +LAST UPDATE +RESOURCE COUNT\ndev\*? +\S+ +0\n$/);
  const locks = join(state, "locks/organization/spike/dev");
  await mkdir(locks, { recursive: true });
  await writeFile(join(locks, "a.json"), JSON.stringify({ username: hostile, hostname: "h", pid: 1, timestamp: "t" }));
  const lines = await printed(["up", "--yes", "-s", "dev"], { CI: "true" });
  expect(lines).toContain("created by a\\u202eb\\n::error::taken\\n/approve@h (pid 1) at t");
});

test("an exported state is its owner's alone, also in a file that others could read", async () => {
  await sandbox.init();
  const file = join(sandbox.folder, "export.json");
  writeFileSync(file, "");
  chmodSync(file, 0o644);
  await printed(["stack", "export", "--file", file, "-s", "dev"]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("deployment");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("each run has its headline once, that of preview also where the key is refused", async () => {
  await sandbox.init();
  writeFileSync(join(sandbox.project, "index.cjs"), "");
  const headlines = async (...words: string[]): Promise<string[]> =>
    (await printed([...words, "-s", "dev"])).split("\n").filter((line) => line.endsWith(" (dev):"));
  expect(await headlines("up", "--yes")).toEqual(["Previewing update (dev):", "Updating (dev):"]);
  expect(await headlines("up", "--skip-preview")).toEqual(["Updating (dev):"]);
  expect(await headlines("refresh", "--yes")).toEqual(["Previewing refresh (dev):", "Refreshing (dev):"]);
  expect(await headlines("preview", "--json")).toEqual([]);
  const refused = (...words: string[]): Promise<string> =>
    printed([...words, "-s", "dev"], { PULUMI_CONFIG_PASSPHRASE: "mule" });
  expect(await refused("preview")).toMatch(/^Previewing update \(dev\):\nerror: .*incorrect passphrase/);
  expect(await refused("up", "--yes")).toMatch(/^error: .*incorrect passphrase/);
  expect(await refused("preview", "--json")).toMatch(/^error: .*incorrect passphrase/);
});

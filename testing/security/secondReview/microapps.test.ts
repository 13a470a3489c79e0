import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isConfusable } from "../../../cli/changes/rendering/text.ts";
import { createEmulator } from "../../../emulator/index.ts";
import { Sandbox } from "../../../engine/testing/sandbox.ts";
import { findOwnFolder } from "../../../machine/ownFolder.ts";
import { runCommand } from "../../harness/commands.ts";

// Folders of this user alone, locks of engines, and names that look like others.

let folder: string;
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-own-")))));
afterEach(() => rmSync(folder, { recursive: true }));

test("a folder of this user is used when nobody else can exchange one on the way to it", () => {
  const home = join(folder, "home");
  const found = (): string | undefined => findOwnFolder("cache", "compiled", { XDG_CACHE_HOME: join(home, "cache") });
  mkdirSync(home, { mode: 0o700 });
  expect(found()).toBeDefined();
  for (const place of ["", "cache", "cache/pulumi-microapps"]) {
    chmodSync(join(home, place), 0o777);
    expect(found()).toBeUndefined();
    chmodSync(join(home, place), 0o1777); // as /tmp
    expect(found()).toBeDefined();
    chmodSync(join(home, place), 0o700);
  }
});

test("cancel leaves the lock of an engine that runs on this machine, and takes that of one that has ended", async () => {
  const sandbox = new Sandbox();
  const holder = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  try {
    const stack = await sandbox.init();
    const environment = { ...sandbox.environment, NO_COLOR: "1" };
    const cancel = (): Promise<{ status: number; output: string }> =>
      runCommand({ words: ["cancel", stack.name, "--yes"], folder: sandbox.project, environment });
    mkdirSync(stack.lockFolder, { recursive: true });
    const { hostname } = await import("node:os");
    const lock = { pid: holder.pid, username: "ada", hostname: hostname(), timestamp: "2026-01-01T00:00:00.000Z" };
    writeFileSync(join(stack.lockFolder, "a.json"), JSON.stringify(lock));
    const refused = await cancel();
    expect([refused.status, refused.output]).toEqual([1, expect.stringContaining(`kill -INT ${holder.pid ?? 0}`)]);
    expect(readdirSync(stack.lockFolder)).toEqual(["a.json"]);
    const ended = new Promise((resolve) => holder.on("exit", resolve));
    holder.kill();
    await ended;
    expect((await cancel()).output).toContain("has been deleted");
  } finally {
    holder.kill();
    sandbox.remove();
  }
});

test("the emulator takes nothing from a page of another origin that does not say what it sends", async () => {
  const emulator = await createEmulator({
    seed: { administrator: { email: "ada@example.com", password: "password of ada" } },
  });
  try {
    const body = new Blob([JSON.stringify({ email: "ada@example.com", password: "password of ada" })]);
    const post = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${emulator.url}/api/login`, { method: "POST", body: await body.arrayBuffer(), headers })).status;
    expect(await post({ origin: "https://evil.example" })).toBe(403);
    expect(await post({ origin: "null" })).toBe(403);
    expect(await post({ origin: emulator.url })).toBe(200);
    expect(await post({})).toBe(200); // no browser
    expect(await post({ origin: "https://app.example", "content-type": "application/json" })).toBe(200); // a browser asks first
  } finally {
    await emulator.close();
  }
});

test.each([
  ["Cyrillic among Latin", "pаypal"],
  ["a word wholly Cyrillic", "асе"],
  ["a word wholly Cyrillic among Latin ones", "Team асе of Acme"],
  ["Greek", "ΑΒΕ"],
  ["Cherokee", "ᎪᎬᎢ"],
  ["Armenian among Latin", "օffice"],
  ["full width", "ａｄｍｉｎ"],
  ["mathematical letters", "𝐚𝐝𝐦𝐢𝐧"],
])("what may be taken for another word is marked: %s", (_, text) => {
  expect(isConfusable(text)).toBe(true);
});

test.each([
  "Acme",
  "Zürich",
  "Łódź",
  "Команда поддержки",
  "Ομάδα",
  "東京チーム",
  "서울 팀",
  "Команда Acme",
  "ﬁn",
  "naïve",
  "😀 crew",
])("what is what it seems is not: %s", (text) => expect(isConfusable(text)).toBe(false));

import { afterEach, beforeEach, expect } from "@jest/globals";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createEmulator, type Emulator } from "../../../emulator/emulator.ts";
import { seed, signIn } from "../../../emulator/testing/platform.ts";
import { readProfile } from "../../../provider/layers/profileFile.ts";
import { sampleStories } from "../../../testing/harness/drawn.ts";

const test = sampleStories();

const executable = fileURLToPath(new URL("../../../bundle/microapps.js", import.meta.url));

let emulator: Emulator;
let folder: string;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  emulator = await createEmulator({ seed });
  folder = mkdtempSync(join(tmpdir(), "record-"));
});

afterEach(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  children.clear();
  await emulator.close();
  rmSync(folder, { recursive: true });
});

interface Running {
  child: ChildProcess;
  ended: Promise<{ status: number | null; out: string; errors: string }>;
}

/** Starts a recording of the emulator into the folder. */
function start(...words: string[]): Running {
  const all = ["--no-warnings", executable, "record", "--to", emulator.url, "--out", folder, ...words];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  const [out, errors] = [text(child.stdout), text(child.stderr)];
  const ended = once(child, "exit").then(async ([status]) => {
    children.delete(child);
    return { status: status as number | null, out: await out, errors: await errors };
  });
  return { child, ended };
}

/** A user's program: it logs in at the address of its environment, and ends in the given way. */
const program = (rest: string): string[] => [
  ...[process.execPath, "--input-type=module", "-e"],
  `const url = process.env.MICROAPPS_ENDPOINT + "/api/login";
  const body = JSON.stringify({ email: "ada@example.com", password: "ada" });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body });
  ${rest}`,
];

test("a command is run with the recording in the place of the platform, and ends it with its own status", async () => {
  const { status, out, errors } = await start("--", ...program("console.log(answer.status); process.exitCode = 42;"))
    .ended;
  expect([status, out]).toEqual([42, "200\n"]);
  expect(errors).toMatch(/^Recorded 1 call\.\n {2}.*platform\.yaml: .*1 person; person-1@example\.com logs in with/);
  const names = readdirSync(folder).sort();
  expect(names).toEqual(["facts.yaml", "platform.yaml", "profile.yaml"]);
  for (const name of names) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, name), "utf8")).not.toContain("ada@");
  }
  const again = await start("--", "true").ended;
  expect([again.status, again.errors]).toEqual([
    1,
    expect.stringMatching(/^error: .*platform\.yaml is there already: .*--force\n$/),
  ]);
  expect((await start("--force", "--", "true").ended).status).toBe(0);
  expect(readFileSync(join(folder, "platform.yaml"), "utf8")).toBe("{}\n");
});

test("without a command it records until it is interrupted", async () => {
  emulator.setProfile({ version: 1, habits: { newIDName: "id", insertedCount: "absent" } });
  const { child, ended } = start();
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const url = String((await lines.next()).value);
  const admin = await signIn(url);
  await admin.get("id", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
  child.kill("SIGINT");
  const { status, errors } = await ended;
  expect([status, errors]).toEqual([0, expect.stringMatching(/profile\.yaml: newIDName: id$/m)]);
  const profile = readProfile(join(folder, "profile.yaml"));
  expect([profile?.habits, profile?.platform]).toEqual([{ newIDName: "id" }, emulator.url]);
  expect(readFileSync(join(folder, "platform.yaml"), "utf8")).toMatch(/countries:[\s\S]*Code: Text \d/);
});

test("whoever kills it finds nothing written", async () => {
  const { child, ended } = start();
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  await signIn(String((await lines.next()).value));
  child.kill("SIGKILL");
  await ended;
  expect(readdirSync(folder)).toEqual([]);
});

test("a secret that would be written ends it with 3, and nothing is left", async () => {
  // A key that is what a seed has for keys stands where nothing replaces it: only the scan finds it.
  const secret = "recorded-key";
  const call = `await fetch(url, { method: "POST", headers: { ...headers, "x-api-key": "${secret}" }, body });`;
  const login = program(`${call} process.exitCode = 0;`);
  writeFileSync(join(folder, "before"), "");
  const { status, errors } = await start("--", ...login).ended;
  expect([status, errors]).toEqual([
    3,
    expect.stringMatching(/^error: nothing is written: an API key would have been in .*platform\.yaml\n$/),
  ]);
  expect(readdirSync(folder)).toEqual(["before"]);
});

test("mistakes are said before anything is recorded", async () => {
  const wrong = async (...words: string[]) => (await start(...words, "--", "true").ended).errors;
  expect(await wrong("--to", "platform.example.com")).toContain("It must begin with https:// or http://.");
  expect(await wrong("--to", "http://platform.example.com")).toContain("use https://");
  expect(await wrong("--to", "https://a:b@platform.example.com")).toContain("without an account and a query");
  expect(await wrong("--seed", "one.yaml", "--facts", "one.yaml")).toContain("name the same file");
  expect(await wrong("--profile", "facts.yaml")).toContain("name the same file");
  expect(await wrong("--rows", "all")).toContain("Allowed choices are shape, values");
  expect(existsSync(join(folder, "one.yaml"))).toBe(false);
  const missing = await start("--", "no-such-program-here").ended;
  expect([missing.status, missing.errors]).toEqual([127, expect.stringContaining("no-such-program-here can't be run")]);
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anyIntent, forgetIntent, readIntent, refuseUnsealed, writeIntent } from "./intents.ts";

const urn = "urn:pulumi:dev::crew::microapps:index:GeneratedApp::portal";
const intent = { urn, startedAt: "2026-01-02T03:04:05Z" };

let folder: string;
let program: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "microapps-intents-"));
  program = join(folder, "projects/crew");
  mkdirSync(program, { recursive: true });
  process.env["XDG_STATE_HOME"] = join(folder, "state");
});
afterEach(() => {
  delete process.env["XDG_STATE_HOME"];
  rmSync(folder, { recursive: true });
});

const git = (cwd: string, ...words: string[]): void => {
  const own = ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...own, ...words], { cwd, stdio: "ignore" });
};
const read = () => readIntent(program, urn, anyIntent);

const unsealed = "does not have the seal of this user on this machine, so others may have written it: nothing was done";
/** True when an intent is believed in use. */
async function isBelieved(): Promise<boolean> {
  const found = await read();
  if (!found) throw new Error("there is none");
  if (!found.isSealed) expect(() => refuseUnsealed(found)).toThrow(unsealed);
  else refuseUnsealed(found);
  return found.isSealed;
}

test("an intent of this working copy is believed, beside Git and without it", async () => {
  await writeIntent(program, intent);
  expect(await read()).toMatchObject(intent);
  git(folder, "init");
  expect(await read()).toMatchObject(intent);
  git(folder, "commit", "--allow-empty", "-m", "nothing");
  expect(await read()).toMatchObject(intent);
  await forgetIntent(program, urn);
  expect(await read()).toBeUndefined();
});

test.each(["2", "4"])("one that a branch brought along is not (index version %s)", async (version) => {
  const file = await writeIntent(program, intent);
  await writeIntent(program, { ...intent, urn: `${urn}2` });
  git(folder, "init");
  git(folder, "add", "-f", ".");
  git(folder, "update-index", "--index-version", version);
  await expect(read()).rejects.toThrow(`the intent file ${file} is tracked by Git, so others may have written it`);
  git(folder, "commit", "-m", "an intent");
  await expect(read()).rejects.toThrow("is tracked by Git");
  const tree = `${folder}-tree`;
  git(folder, "worktree", "add", tree);
  const other = join(tree, "projects/crew");
  try {
    await expect(readIntent(other, urn, anyIntent)).rejects.toThrow("is tracked by Git");
  } finally {
    git(folder, "worktree", "remove", "--force", tree);
  }
  git(folder, "rm", "--cached", "-r", ".");
  expect(await read()).toMatchObject(intent);
});

test("one that a branch, or whoever has another key, wrote is refused until a person trusts it", async () => {
  const file = await writeIntent(program, { ...intent, answer: { count: 1 }, nothing: undefined });
  const path = join(program, file);
  const own = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>; // an intent
  const write = (told: object): void => writeFileSync(path, JSON.stringify(told));
  expect(await isBelieved()).toBe(true);
  // A person, or an editor, may sort it and add the link that never arrived.
  write(Object.fromEntries(Object.entries(own).reverse()));
  expect(await isBelieved()).toBe(true);
  write({ ...own, link: "https://apps.example.com/app/1" });
  expect(await isBelieved()).toBe(true);
  for (const theirs of [
    { ...own, seal: undefined },
    { ...own, seal: "0" },
    { ...own, startedAt: "2027-01-02T03:04:05Z" },
    { ...own, answer: { count: 2 } },
    { ...own, more: true },
  ]) {
    write(theirs);
    expect(await isBelieved()).toBe(false);
  }
  const [, other] = [await writeIntent(program, { ...intent, link: "https://a/app/1" }), readFileSync(path, "utf8")];
  write({ ...(JSON.parse(other) as object), link: "https://b/app/1" }); // an answer is not the person's to change
  expect(await isBelieved()).toBe(false);
  process.env["XDG_STATE_HOME"] = join(folder, "another");
  write(own);
  expect(await isBelieved()).toBe(false);
});

test("the seal of one resource is not believed of another, and none is made where no key can be kept", async () => {
  const [one, other] = [await writeIntent(program, intent), await writeIntent(program, { ...intent, urn: `${urn}2` })];
  renameSync(join(program, other), join(program, one));
  expect(await isBelieved()).toBe(false);
  const state = join(folder, "another");
  writeFileSync(state, "a file in the way");
  process.env["XDG_STATE_HOME"] = state;
  await writeIntent(program, intent);
  expect(await isBelieved()).toBe(false);
});

test("the key is its user's alone, and one that others could read is replaced", async () => {
  await writeIntent(program, intent);
  const key = join(folder, "state/pulumi-microapps/key/key");
  expect(statSync(key).mode & 0o777).toBe(0o600);
  chmodSync(key, 0o644);
  expect(await isBelieved()).toBe(false);
  expect(statSync(key).mode & 0o777).toBe(0o600);
  chmodSync(join(key, ".."), 0o755);
  expect(await isBelieved()).toBe(false);
});

test("nor is what lies behind a symbolic link, and nothing is written there", async () => {
  await writeIntent(program, intent);
  const [file = ""] = readdirSync(join(program, ".microapps/intents"));
  const elsewhere = join(folder, "elsewhere");
  for (const part of [`.microapps/intents/${file}`, ".microapps/intents", ".microapps"]) {
    const place = join(program, part);
    renameSync(place, elsewhere);
    symlinkSync(elsewhere, place);
    await expect(read()).rejects.toThrow(`${part} is a symbolic link`);
    await expect(writeIntent(program, intent)).rejects.toThrow(`${part} is a symbolic link`);
    rmSync(place);
    renameSync(elsewhere, place);
  }
  expect(await read()).toMatchObject(intent);
});

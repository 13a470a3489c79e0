import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { anyIntent, forgetIntent, readIntent, writeIntent } from "./intents.ts";

const urn = "urn:pulumi:dev::crew::microapps:index:GeneratedApp::portal";
const intent = { urn, startedAt: "2026-01-02T03:04:05Z" };

let folder: string;
let program: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "microapps-intents-"));
  program = join(folder, "projects/crew");
  mkdirSync(program, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (cwd: string, ...words: string[]): void => {
  const own = ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...own, ...words], { cwd, stdio: "ignore" });
};
const read = () => readIntent(program, urn, anyIntent);

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

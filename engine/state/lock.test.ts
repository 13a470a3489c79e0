import { beforeEach, expect, test } from "@jest/globals";
import { symlinkSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { breakLocks, Lock, runningHolders, endedLocks } from "./lock.ts";

let folder: string;
let own: Record<string, unknown>;
beforeEach(async () => {
  folder = temporaryFolder();
  const lock = new Lock(folder, "dev");
  await lock.take(say);
  const [name = ""] = await readdir(folder);
  own = JSON.parse(await readFile(join(folder, name), "utf8")) as Record<string, unknown>; // the lock wrote it
  await lock.release();
});

const say = (): void => undefined;
const isStale = (...locks: object[]): boolean => {
  locks.forEach((lock, index) => writeFileSync(join(folder, `${index}.json`), JSON.stringify(lock)));
  return endedLocks(folder).length > 0;
};
/** No process has it: it is above what Linux gives out. */
const nobody = 2 ** 22 + 1;

test("the lock of a run that goes on is nobody's to delete, and no lock is no news", () => {
  expect(endedLocks(join(folder, "none"))).toEqual([]);
  expect(isStale(own)).toBe(false);
});

test("that of a killed run is taken over with a sentence, and a living one beside it, or one of elsewhere, is not", async () => {
  const isLinux = process.platform === "linux";
  const said: string[] = [];
  const lock = new Lock(folder, "dev");
  const take = (): Promise<unknown> => lock.take((sentence) => said.push(sentence)).catch(String);
  expect(isStale({ ...own, pid: nobody })).toBe(isLinux);
  expect(await take()).toBe(undefined);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
  expect(isStale({ ...own, pid: nobody }, own)).toBe(isLinux);
  expect(await take()).toContain("delete the lock with 'microapps cancel dev'");
  expect(said).toEqual(Array(2).fill(expect.stringMatching(/^The run of .* was killed and left its lock behind/)));
  expect(await readdir(folder)).toEqual(["1.json"]);
  expect(isStale({ ...own, pid: nobody, hostname: "elsewhere" })).toBe(false);
});

test("a number that another process has by now is not that of the run", () => {
  const isLinux = process.platform === "linux";
  expect(isStale({ ...own, startTime: "1" })).toBe(isLinux);
  expect(isStale({ ...own, bootID: "before" })).toBe(isLinux);
});

test("a number of another container says nothing, whether the machine was started anew or not", () => {
  expect(isStale({ ...own, pid: nobody, pidNamespace: "pid:[1]" })).toBe(false);
  expect(isStale({ ...own, bootID: "before", pidNamespace: "pid:[1]" })).toBe(false);
});

test("a lock without birth, as Pulumi writes it, is nobody's to take over", () => {
  const { pid, username, timestamp } = own;
  const theirs = { pid, username, timestamp, hostname: hostname() };
  expect(isStale(theirs)).toBe(false);
  expect(isStale({ ...theirs, pid: nobody })).toBe(false);
});

test("what is no lock is not judged, and what a lock says is printed without effect", () => {
  for (const pid of [undefined, "1", -1, 0, 1.5]) expect(isStale({ ...own, pid })).toBe(false);
  expect(isStale([own])).toBe(false);
  writeFileSync(join(folder, "0.json"), JSON.stringify({ ...own, pid: nobody, timestamp: "now\u001b[2J\n::error::" }));
  expect(endedLocks(folder).map(({ sentence }) => sentence)).toEqual([
    `The run of now\\n::error:: (pid ${nobody}) was killed and left its lock behind, which is deleted now.`,
  ]);
  writeFileSync(join(folder, "0.json"), "{");
  expect(endedLocks(folder)).toEqual([]);
});

test("locks that can't be read are not taken for none", async () => {
  const loop = join(folder, "loop");
  symlinkSync(loop, loop);
  await expect(new Lock(loop, "dev").take(say)).rejects.toThrow("can't tell whether the stack is locked");
  await expect(breakLocks(loop)).rejects.toThrow("can't tell whether the stack is locked");
  expect(() => runningHolders(loop)).toThrow("can't tell whether the stack is locked");
  expect(runningHolders(join(folder, "none"))).toEqual([]);
});

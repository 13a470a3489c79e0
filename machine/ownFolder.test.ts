import { beforeEach, expect, test } from "@jest/globals";
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../testing/harness/folders.ts";
import { findOwnFolder } from "./ownFolder.ts";

let cache: string;
let folder: string;
beforeEach(() => {
  cache = temporaryFolder();
  folder = join(cache, "pulumi-microapps/compiled");
});

const found = (): string | undefined => findOwnFolder("cache", "compiled", { XDG_CACHE_HOME: cache });

test("what is compiled is kept in a folder that nobody else reaches", () => {
  expect(found()).toBe(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(found()).toBe(folder);
});

test("one on the way to which nobody else can exchange a folder is used, and no other", () => {
  expect(found()).toBe(folder);
  for (const place of ["", "pulumi-microapps"]) {
    for (const [mode, used] of [
      [0o777, undefined],
      [0o1777, folder], // as /tmp
      [0o700, folder],
    ] as const) {
      chmodSync(join(cache, place), mode);
      expect(found()).toBe(used);
    }
  }
});

test("a folder that others may write to or read, a link and a file are not used", () => {
  mkdirSync(folder, { recursive: true });
  for (const mode of [0o777, 0o770, 0o755, 0o701]) {
    chmodSync(folder, mode);
    expect(found()).toBeUndefined();
  }
  rmSync(folder, { recursive: true });
  mkdirSync(join(cache, "theirs"), { mode: 0o700 });
  symlinkSync(join(cache, "theirs"), folder);
  expect(found()).toBeUndefined();
  rmSync(folder);
  writeFileSync(folder, "");
  expect(found()).toBeUndefined();
});

test("nor is one of another owner", () => {
  expect(found()).toBe(folder);
  const { getuid } = process;
  try {
    process.getuid = () => statSync(folder).uid + 1;
    expect(found()).toBeUndefined();
  } finally {
    if (getuid) process.getuid = getuid;
  }
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProven, noteProven } from "./proofs.ts";

let cache: string;
const before = process.env["XDG_CACHE_HOME"];
beforeEach(() => {
  process.env["XDG_CACHE_HOME"] = cache = mkdtempSync(join(tmpdir(), "microapps-cache-"));
});
afterEach(() => {
  rmSync(cache, { recursive: true });
  if (before === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = before;
});

test("what was found to be in order is remembered, and nothing else", () => {
  expect(isProven("a")).toBe(false);
  noteProven("a");
  noteProven("a");
  expect([isProven("a"), isProven("b")]).toEqual([true, false]);
});

test("where nothing can be kept, nothing is remembered and nothing fails", () => {
  process.env["XDG_CACHE_HOME"] = join(cache, "file");
  writeFileSync(join(cache, "file"), "");
  noteProven("a");
  expect(isProven("a")).toBe(false);
});

test("of very many, the older half goes", () => {
  noteProven("0");
  const folder = join(cache, "pulumi-microapps/proofs");
  for (let at = 0; at < 1_000; at++) {
    writeFileSync(join(folder, String(at)), "");
    utimesSync(join(folder, String(at)), at, at);
  }
  noteProven("new");
  expect(readdirSync(folder)).toHaveLength(500);
  expect([isProven("new"), isProven("999"), isProven("0")]).toEqual([true, true, false]);
});

import { afterAll, expect, test } from "@jest/globals";
import { existsSync, lstatSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { profile } from "../../../provider/habits/profile.ts";
import { fakeTerminal } from "../doctor/testing/clinic.ts";
import { writeProfile } from "./profileFile.ts";

const folder = mkdtempSync(join(tmpdir(), "profile-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a profile is not written through a link, which a branch may have put there", async () => {
  const [target, file] = [join(folder, "target"), join(folder, "platform-profile.yaml")];
  symlinkSync(target, file);
  const write = (): Promise<string> =>
    writeProfile(file, profile.parse({ version: 1 }), fakeTerminal({}), { force: true });
  await expect(write()).rejects.toThrow("platform-profile.yaml is a link or no file");
  expect(existsSync(target)).toBe(false);
  writeFileSync(target, "mine");
  await expect(write()).rejects.toThrow("platform-profile.yaml is a link or no file");
  rmSync(file);
  await expect(write()).resolves.toBe("Wrote platform-profile.yaml.");
  expect(lstatSync(file).isFile()).toBe(true);
});

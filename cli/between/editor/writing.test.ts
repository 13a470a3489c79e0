import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planEdits, type FileEdit } from "./edits.ts";
import { readToEdit, writeFiles } from "./writing.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-edits-")));
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  mkdirSync(join(folder, "sub"));
  const files = {
    ".gitignore": "ignored.yaml\n",
    "a.yaml": "n: 1\n",
    "ignored.yaml": "n: 1\n",
    "sub/b.yaml": "n: 1\n",
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  symlinkSync("a.yaml", join(folder, "link.yaml"));
  symlinkSync("sub", join(folder, "way"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const text = (file: string): string => readFileSync(join(folder, file), "utf8");
const editOf = (file: string): FileEdit => ({ kind: "value", file, path: ["n"], do: "set", value: 2 });

test("files that nobody should edit are refused, each with the reason; the others are written", async () => {
  const names = [
    "a.yaml",
    "ignored.yaml",
    "link.yaml",
    "way/b.yaml",
    "../x.yaml",
    ".git/config",
    "sub/b.yaml",
    "new.yaml",
  ];
  const { files, refused } = await planEdits(names.map(editOf), (file) => readToEdit(folder, file));
  expect(refused.map(({ place, reason }) => `${place} ${reason}`)).toEqual([
    expect.stringMatching(/^ignored\.yaml is ignored by Git/),
    expect.stringMatching(/^link\.yaml is reached by a symbolic link/),
    expect.stringMatching(/^way\/b\.yaml is reached by a symbolic link/),
    expect.stringMatching(/^\.\.\/x\.yaml is outside of the repository/),
    expect.stringMatching(/^\.git\/config is in the folder of Git/),
  ]);
  await writeFiles(folder, files);
  expect(["a.yaml", "sub/b.yaml", "new.yaml", "ignored.yaml"].map(text)).toEqual([
    "n: 2\n",
    "n: 2\n",
    "n: 2\n",
    "n: 1\n",
  ]);
});

test("a file that changed since it was read is not overwritten, nor is any other", async () => {
  const { files } = await planEdits(["a.yaml", "sub/b.yaml"].map(editOf), (file) => readToEdit(folder, file));
  writeFileSync(join(folder, "sub/b.yaml"), "n: 7\n");
  await expect(writeFiles(folder, files)).rejects.toThrow("sub/b.yaml was changed by somebody else");
  expect([text("a.yaml"), text("sub/b.yaml")]).toEqual(["n: 1\n", "n: 7\n"]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test.each([1, 2])("a kill at rename %i leaves each file whole, old or new", (at) => {
  const own = join(import.meta.dirname, "edits.js");
  const writing = join(import.meta.dirname, "writing.js");
  const program = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const rename = fs.renameSync;
    let count = 0;
    fs.renameSync = (...words) => (++count === ${at} ? process.kill(process.pid, "SIGKILL") : rename(...words));
    syncBuiltinESMExports();
    const { planEdits } = await import(${JSON.stringify(own)});
    const { readToEdit, writeFiles } = await import(${JSON.stringify(writing)});
    const edits = ["a.yaml", "sub/b.yaml"].map((file) => ({ kind: "value", file, path: ["n"], do: "set", value: 2 }));
    const { files } = await planEdits(edits, (file) => readToEdit(${JSON.stringify(folder)}, file));
    await writeFiles(${JSON.stringify(folder)}, files);`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "--eval", program]);
  expect(signal).toBe("SIGKILL");
  expect([text("a.yaml"), text("sub/b.yaml")]).toEqual(at === 1 ? ["n: 1\n", "n: 1\n"] : ["n: 2\n", "n: 1\n"]);
});

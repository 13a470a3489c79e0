import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Promotes staging to prod in a process that is killed at its nth write into the repository: before a file is opened,
 * renamed or made safe, or in the middle of its bytes. Returns false where it ended before.
 */
export function promoteKilled(folder: string, at: number): boolean {
  const module = JSON.stringify(join(import.meta.dirname, "../promote.js"));
  const program = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const folder = ${JSON.stringify(folder)};
    const own = new Set();
    let count = 0;
    const kill = () => process.kill(process.pid, "SIGKILL");
    const isOurs = (path) => typeof path === "string" && path.startsWith(folder);
    const { openSync, writeFileSync, fsyncSync, renameSync } = fs;
    fs.openSync = (path, flags, ...more) => {
      const isWrite = flags === "wx" && isOurs(path);
      if (isWrite && ++count === ${at}) kill();
      const handle = openSync(path, flags, ...more);
      if (isWrite) own.add(handle);
      return handle;
    };
    fs.writeFileSync = (file, bytes, ...more) => {
      if (!own.has(file) || ++count !== ${at}) return writeFileSync(file, bytes, ...more);
      writeFileSync(file, bytes.subarray(0, bytes.length / 2));
      kill();
    };
    fs.fsyncSync = (file) => (own.has(file) && ++count === ${at} ? kill() : fsyncSync(file));
    fs.renameSync = (from, to) => (isOurs(to) && ++count === ${at} ? kill() : renameSync(from, to));
    syncBuiltinESMExports();
    const { promote } = await import(${module});
    const names = { only: [], ours: [], theirs: [] };
    await promote({ folder, from: "staging", to: "prod", ...names, write: true, dirty: false });`;
  const temporary = mkdtempSync(join(tmpdir(), "microapps-killed-")); // what a killed process leaves there
  const { signal, status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: { ...process.env, TMPDIR: temporary },
  });
  rmSync(temporary, { recursive: true });
  if (signal !== "SIGKILL" && status !== 0) throw new Error(stderr);
  return signal === "SIGKILL";
}

// Exits with 0 when the stack is locked by runs of this machine that were killed and by nobody else; says whose they were.
// usage: node scripts/stale-locks.mjs <project> <stack>
import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const [project, stack] = process.argv.slice(2);
const folder = join(".pulumi/locks/organization", project, stack);
const locks = read();
if (locks.length === 0 || !locks.every(isStale)) process.exit(1);
for (const { pid, timestamp } of locks) {
  console.log(`The run of ${timestamp} (pid ${pid}) was killed and left its lock behind, which is deleted now.`);
}

function read() {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  } catch {
    // No folder, or a lock that is being written: nothing that is known to be stale.
    return [];
  }
}

function isStale({ pid, hostname: host }) {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

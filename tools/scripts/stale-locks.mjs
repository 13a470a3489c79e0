// Exits with 0 when the stack is locked by killed runs of this machine and by nobody else; prints whose they were.
// usage: node tools/scripts/stale-locks.mjs <project> <stack>
import { join } from "node:path";
import { staleLocks } from "../../dist/engine/state/lock.js";

const [project, stack] = process.argv.slice(2);
const told = staleLocks(join(".pulumi/locks/organization", project, stack));
if (told.length === 0) process.exit(1);
console.log(told.join("\n"));

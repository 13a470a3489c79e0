// The size of the house: each top room, its lines of source and of tests, its target, and the most that it may have. `--check`
// (part of `make check`) fails where a room has more; `--write` lowers the most of each room to what it has, or to its target.
// A target or a most is raised by hand, in a commit that says why. `--walk` tells how much of provider/ runs for small changes,
// with `--names` by file; it needs `make build`.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { walk } from "./walk.mjs";

const file = new URL("./house.json", import.meta.url);
const limits = JSON.parse(readFileSync(file, "utf8"));

const paths = globSync("**/*.{ts,js,mjs,cjs,css}", {
  exclude: (path) => /(^|\/)(node_modules|dist|coverage|testdata|released|examples|sdks|\.[^/]+)$/.test(path),
}).filter((path) => !path.endsWith(".d.ts"));
const isTest = (path) => /^testing\/|\/testing\/|\.(test|long|range|browser|docker|test-d)\./.test(path);
const linesOf = (path) => readFileSync(path, "utf8").split("\n").length - 1;

const rooms = new Map(Object.keys(limits).map((room) => [room, 0]));
const count = (room, lines) => rooms.set(room, (rooms.get(room) ?? 0) + lines);
const testsIn = new Map();
for (const path of paths) {
  const [room] = path.includes("/") ? path.split("/") : ["tools"];
  const lines = linesOf(path);
  count(isTest(path) ? "tests" : "source", lines);
  if (!isTest(path)) count(room, lines);
  else if (room === "testing") count("testing", lines);
  else testsIn.set(room, (testsIn.get(room) ?? 0) + lines);
}

if (process.argv.includes("--walk")) {
  walk();
  process.exit();
}
if (process.argv.includes("--write")) {
  for (const [room, limit] of Object.entries(limits)) {
    limit.most = Math.min(limit.most, Math.max(limit.target, rooms.get(room)));
  }
  writeFileSync(file, `${JSON.stringify(limits, undefined, 2)}\n`);
}
if (!process.argv.includes("--check")) {
  console.log("room          lines    tests   target     most");
  for (const [room, lines] of rooms) {
    const cells = [lines, testsIn.get(room) ?? "", limits[room]?.target ?? "", limits[room]?.most ?? ""];
    console.log(room.padEnd(10) + cells.map((cell) => String(cell).padStart(9)).join(""));
  }
}
for (const [room, lines] of rooms) {
  const most = limits[room]?.most;
  if (most === undefined) console.error(`${room} is in no line of tools/scripts/house.json: say what it may have`);
  else if (lines > most)
    console.error(`${room} has ${lines} lines, ${lines - most} more than it may: tools/scripts/house.json`);
  if (most === undefined || lines > most) process.exitCode = 1;
}

// A room has at most 15 files: one folder, tests not counted. Part of `make check`.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const most = 15;
const rooms = ["cli", "emulator", "engine", "machine", "provider", "sdk", "testing", "tools"];

function check(room) {
  const entries = readdirSync(room, { withFileTypes: true });
  const files = entries.filter(({ name }) => name.endsWith(".ts") && !/\.(test|long|browser)\.ts$/.test(name));
  if (files.length > most) {
    console.error(`${room} has ${files.length} files: a room has at most ${most}. Split it, or move some.`);
    process.exitCode = 1;
  }
  for (const entry of entries) if (entry.isDirectory() && entry.name !== "testdata") check(join(room, entry.name));
}
rooms.forEach(check);

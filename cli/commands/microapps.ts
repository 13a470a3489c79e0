#!/usr/bin/env node
// Imports nothing yet: an old Node can't even load what the program imports, and would say so with a stack.
const { node } = process.versions;
const [major = 0, minor = 0] = node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) {
  (await import("../../machine/ownFolder.ts")).compileOnce();
  await (await import("./program.ts")).run();
} else {
  console.error(
    `error: microapps needs Node 22.19 or newer and this is Node ${node}: install a newer one and run it again`,
  );
  process.exitCode = 1;
}

export {};

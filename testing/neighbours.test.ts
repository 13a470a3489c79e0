import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createEmulator } from "../emulator/index.ts";
import { Project } from "./project.ts";

// What a process that the engine starts, or another one of this machine that finds its port, gets to know.

const program = `
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js");
const monitor = require("@pulumi/pulumi/runtime/settings").getMonitor();
const info = await new Promise((resolve, reject) =>
  monitor.getDeploymentInfo(new Empty(), (error, answer) => (error ? reject(error) : resolve(answer))),
);
export const asked = {
  project: info.getProject(),
  config: info.getConfigMap().getLength(),
  secrets: info.getConfigsecretkeysList().length,
  environment: Object.keys(process.env).filter((name) => name.includes("PASSPHRASE")),
};
`;

test("the monitor hands out no configuration, the program gets no passphrase, and the files of a run are its owner's", async () => {
  const emulator = await createEmulator();
  const project = await Project.running(program, { "microapps:endpoint": emulator.url });
  try {
    await project.succeed("stack init dev");
    await project.succeed("config set microapps:password --secret", "correct-horse");
    await project.succeed("up --yes --skip-preview");
    expect(JSON.parse(await project.succeed("stack output asked --json"))).toEqual({
      project: "tests",
      config: 0,
      secrets: 0,
      environment: [],
    });
    const state = join(project.folder, ".pulumi");
    const entries = await readdir(state, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name !== "meta.yaml");
    expect(files.length).toBeGreaterThan(0);
    for (const { parentPath, name } of files) {
      expect([name, (await stat(join(parentPath, name))).mode & 0o077]).toEqual([name, 0]);
    }
  } finally {
    await project.remove();
    await emulator.close();
  }
});

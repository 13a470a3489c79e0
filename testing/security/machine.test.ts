import grpc from "@grpc/grpc-js";
import { afterEach, expect, test } from "@jest/globals";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createEmulator } from "../../emulator/index.ts";
import { MonitorServer } from "../../engine/program/monitorServer.ts";
import { Sandbox } from "../../engine/testing/sandbox.ts";
import { runCommand } from "../harness/commands.ts";
import { Project } from "../harness/project.ts";

// Others on this machine: processes that the engine starts, users who find a port or reach a folder, pages in a browser.

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

const { geteuid } = process;
afterEach(() => {
  if (geteuid) process.geteuid = geteuid;
});

interface Client {
  close: () => void;
}

/** The error of a call; "" for a success. */
function answerOf(client: Client, call: (done: (error: grpc.ServiceError | null) => void) => void): Promise<string> {
  return new Promise((resolve) => {
    call((error) => {
      client.close();
      resolve(error === null ? "" : `${grpc.status[error.code]}: ${error.details}`);
    });
  });
}

const isLinux = process.platform === "linux";
const another = isLinux
  ? "PERMISSION_DENIED: this run is another user's: it answers processes of the user who started it, and this one runs as somebody else"
  : "";
const plain = grpc.credentials.createInsecure();

test("the engine's monitor answers processes of its own user only", async () => {
  const monitor = new MonitorServer(() => undefined);
  await monitor.listen();
  const ask = (): Promise<string> => {
    const client = new engineService.EngineClient(monitor.address, plain);
    return answerOf(client, (done) => client.getRootResource(new engineProto.GetRootResourceRequest(), done));
  };
  expect(await ask()).toBe("");
  process.geteuid = () => (geteuid?.() ?? 0) + 1;
  expect(await ask()).toBe(another);
  monitor.close();
});

test.each([
  ["itself", "", ""],
  ["somebody else", "process.geteuid = () => -1", another],
])("a plugin that runs as %s answers this user accordingly", async (_name, before, answer) => {
  const executable = fileURLToPath(new URL("../../cli/entries/pulumi-resource-microapps.js", import.meta.url));
  const child = spawn(process.execPath, ["--import", `data:text/javascript,${before}`, executable], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  const client = new providerService.ResourceProviderClient(`127.0.0.1:${port}`, plain);
  const said = await answerOf(client, (done) => client.getPluginInfo(new emptyProto.Empty(), done));
  child.kill();
  await ended;
  expect(said).toBe(answer);
});

test("cancel leaves the lock of an engine that runs on this machine, and takes that of one that has ended", async () => {
  const sandbox = new Sandbox();
  const holder = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  try {
    const stack = await sandbox.init();
    const environment = { ...sandbox.environment, NO_COLOR: "1" };
    const cancel = (): Promise<{ status: number; output: string }> =>
      runCommand({ words: ["cancel", stack.name, "--yes"], folder: sandbox.project, environment });
    mkdirSync(stack.lockFolder, { recursive: true });
    const lock = { pid: holder.pid, username: "ada", hostname: hostname(), timestamp: "2026-01-01T00:00:00.000Z" };
    writeFileSync(join(stack.lockFolder, "a.json"), JSON.stringify(lock));
    const refused = await cancel();
    expect([refused.status, refused.output]).toEqual([1, expect.stringContaining(`kill -INT ${holder.pid ?? 0}`)]);
    expect(readdirSync(stack.lockFolder)).toEqual(["a.json"]);
    const ended = once(holder, "exit");
    holder.kill();
    await ended;
    expect((await cancel()).output).toContain("has been deleted");
  } finally {
    holder.kill();
    sandbox.remove();
  }
});

test("the emulator takes nothing from a page of another origin that does not say what it sends", async () => {
  const emulator = await createEmulator({
    seed: { administrator: { email: "ada@example.com", password: "password of ada" } },
  });
  try {
    const body = new Blob([JSON.stringify({ email: "ada@example.com", password: "password of ada" })]);
    const post = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${emulator.url}/api/login`, { method: "POST", body: await body.arrayBuffer(), headers })).status;
    expect(await post({ origin: "https://evil.example" })).toBe(403);
    expect(await post({ origin: "null" })).toBe(403);
    expect(await post({ origin: emulator.url })).toBe(200);
    expect(await post({})).toBe(200); // no browser
    expect(await post({ origin: "https://app.example", "content-type": "application/json" })).toBe(200); // a browser asks first
  } finally {
    await emulator.close();
  }
});

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { freshFolder } from "../harness/project.ts";
import { environment, instructionsOf, listIn, namesIn, packForImage, useContainer } from "./image.ts";

// The steps of the Dockerfile in a folder, where no builder is: `make test-docker` builds the image itself.

const execute = promisify(execFile);
let folder: string;
let variables: NodeJS.ProcessEnv;
let container: ChildProcess | undefined;

/** Paths of the image as they are below the folder. */
const placed = (text: string): string => text.replaceAll(/(?<=^| )\/(packages|data)\b/g, `${folder}/$1`);

beforeAll(async () => {
  folder = await freshFolder();
  const files = join(folder, "packages");
  await mkdir(files);
  const archive = await packForImage(files);
  const path = [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const npm = { npm_config_prefix: folder, npm_config_cache: join(folder, "cache") };
  variables = { ...process.env, NODE_OPTIONS: "", PATH: path, ...npm };
  for (const { name, rest } of instructionsOf()) {
    if (name !== "RUN") continue;
    const command = placed(rest).replace(" && chown node", " && test -d"); // its user is the image's
    await execute("sh", ["-ec", command], { env: { ...variables, PACKAGE: placed(archive) } });
  }
});
afterAll(async () => {
  if (container?.exitCode === null) {
    container.kill("SIGKILL");
    await once(container, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

const instruction = (name: string): string => instructionsOf().find((one) => one.name === name)?.rest ?? "";

/** Starts the entry point on a free port in place of the image's, and waits for the health check. */
async function start(port: string): Promise<void> {
  const ofPort = (word: string) => placed(word).replace(/\b8080\b/, port);
  const [command = "", ...words] = listIn(instruction("ENTRYPOINT")).map(ofPort);
  const started = spawn(command, words, { env: { ...variables, ...environment }, stdio: "ignore" });
  container = started;
  const [asking = "", ...health] = listIn(instruction("HEALTHCHECK")).map(ofPort);
  for (;;) {
    if (started.exitCode !== null) throw new Error(`it ended with ${started.exitCode}`);
    try {
      await execute(asking, health, { env: variables });
      return;
    } catch {
      // Not ready: the next round asks again.
    }
  }
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}

test("what the image's steps install becomes healthy, serves other machines, and keeps its data on the volume", async () => {
  const port = await freePort();
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .find(({ family, internal }) => family === "IPv4" && !internal);
  const endpoint = `http://${outer?.address ?? "127.0.0.1"}:${port}`;
  await start(port);
  await useContainer(endpoint);
  container?.kill("SIGTERM");
  expect(await once(container as ChildProcess, "exit")).toEqual([0, null]);
  await start(port);
  expect(await namesIn(endpoint)).toEqual(["Acme"]);
});

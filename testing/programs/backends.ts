import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repository } from "../harness/project.ts";
import { executable } from "./cli.ts";

/** A place for states that runs on this machine. */
export interface Backend {
  /** Environment of the Pulumi CLI. */
  environment: Readonly<Record<string, string>>;
  stop: () => Promise<void>;
}

/** How to start one; a sentence where it can't be had. */
export const backends: Readonly<Record<string, () => Promise<Backend | string>>> = { s3, postgresql };

/** Milliseconds for a server to answer. */
const startMs = 120_000;

/**
 * S3 as moto imitates it (with `server` it would bring all of AWS): the one on PATH, else it is installed on first use into
 * a folder that `make clean` removes.
 */
async function s3(): Promise<Backend | string> {
  const python = executable("python3");
  if (python === undefined) return "there is no python3 on PATH, which runs the stand-in for S3";
  const folder = join(repository, "node_modules/.cache/moto");
  const server = executable("moto_server") ?? join(folder, "bin/moto_server");
  if (!existsSync(server)) {
    await run(python, ["-m", "venv", folder]);
    await run(join(folder, "bin/pip"), ["install", "--quiet", "moto[s3]>=5,<6", "flask", "flask-cors"]);
  }
  const port = await freePort();
  const child = spawn(server, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const stop = (): Promise<void> => ended(child, "SIGTERM");
  const address = `http://127.0.0.1:${port}`;
  const made = async (): Promise<boolean> => (await fetch(`${address}/states`, { method: "PUT" })).ok;
  await answering("the stand-in for S3", child, made).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const account = { AWS_ACCESS_KEY_ID: "anybody", AWS_SECRET_ACCESS_KEY: "anything", AWS_ENDPOINT_URL: address };
  return { environment: { ...account, PULUMI_BACKEND_URL: "s3://states?region=us-east-1" }, stop };
}

/** A PostgreSQL of its own, with a data folder that is thrown away. It does not run as root, but as its own user then. */
async function postgresql(): Promise<Backend | string> {
  const places = "/usr/lib/postgresql";
  const versions = existsSync(places) ? readdirSync(places).map((version) => join(places, version, "bin")) : [];
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...versions];
  const [initdb, postgres, isReady] = ["initdb", "postgres", "pg_isready"].map((name) => executable(name, folders));
  if (!initdb || !postgres || !isReady) return "there is no PostgreSQL (initdb, postgres, pg_isready)";
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? userCalled("postgres") : undefined;
  if (isRoot && !user) return "PostgreSQL does not run as root, and there is no user postgres";
  const folder = await mkdtemp(join(tmpdir(), "microapps-postgresql-"));
  if (user) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  await run(initdb, ["--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync"], user);
  const port = await freePort();
  const words = ["-D", data, "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"];
  const child = spawn(postgres, words, { ...user, cwd: folder, stdio: "ignore" });
  const stop = async (): Promise<void> => {
    await ended(child, "SIGINT");
    await rm(folder, { recursive: true, force: true });
  };
  const ready = (): Promise<boolean> =>
    run(isReady, ["-h", "127.0.0.1", "-p", String(port)]).then(
      () => true,
      () => false,
    );
  await answering("PostgreSQL", child, ready).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`;
  return { environment: { PULUMI_BACKEND_URL: url }, stop };
}

function userCalled(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  server.close();
  await once(server, "close");
  return port;
}

async function answering(name: string, child: ChildProcess, asks: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + startMs;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await asks().catch(() => false)) return;
    await sleep(100);
  }
  throw new Error(`${name} did not answer`);
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

/** Runs a program that must succeed. @param user whose process it is, where it is not ours */
async function run(program: string, words: readonly string[], user?: { uid: number; gid: number }): Promise<void> {
  const child = spawn(program, words, { ...user, cwd: tmpdir(), stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (data: Buffer) => (output += data.toString()));
  const [status] = (await once(child, "close")) as [number | null]; // the event's first argument
  if (status !== 0) throw new Error(`${program} ended with ${String(status)}:\n${output}`);
}

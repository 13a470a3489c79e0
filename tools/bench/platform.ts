import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";
import { stringify } from "yaml";
import { readCalls } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";

const administrator = { email: "admin@example.com", password: "admin", apiKey: "dev-key" };

/** An emulator in a process of its own, as a platform is. */
export class BenchPlatform {
  readonly url: string;
  readonly client: Client;
  /** Milliseconds from the start of the process to its address. */
  readonly startedIn: number;
  /** Process ID of the emulator. */
  readonly pid: number | undefined;
  /** For what is beside the interface. */
  readonly token: string;
  readonly #data: string;
  readonly #stop: () => Promise<void>;

  private constructor(
    [url, console]: readonly [string, string],
    data: string,
    startedIn: number,
    pid: number | undefined,
    stop: () => Promise<void>,
  ) {
    this.url = url;
    this.token = new URL(console.replace("console: ", "")).hash.replace("#token=", "");
    this.startedIn = startedIn;
    this.pid = pid;
    this.client = createClient({ endpoint: url, ...administrator });
    this.#data = data;
    this.#stop = stop;
  }

  /** Starts one with tables and users, or with what a snapshot's file has; with a data file, unless it is to be in memory. */
  static async start(
    tables: object | string = {},
    { inMemory = false, users = [] }: { inMemory?: boolean; users?: readonly object[] } = {},
  ): Promise<BenchPlatform> {
    const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
    const seed = path.join(folder, "platform.yaml");
    const data = path.join(folder, "platform.db");
    await writeFile(seed, stringify({ administrator, users, tables }));
    const started = performance.now();
    const command = path.join(import.meta.dirname, "../../bundle/microapps.js");
    const from = typeof tables === "string" ? ["--snapshot", tables] : ["--seed", seed];
    const flags = ["--no-warnings", command, "emulator", ...(inMemory ? [] : ["--data", data]), ...from];
    const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async (): Promise<string> => String((await lines.next()).value);
    const url = await line();
    return new BenchPlatform([url, await line()], data, performance.now() - started, child.pid, async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true, force: true });
    });
  }

  get configuration(): Record<string, string> {
    const { email, password, apiKey } = administrator;
    return {
      "microapps:endpoint": this.url,
      "microapps:email": email,
      "microapps:password": password,
      "microapps:apiKey": apiKey,
    };
  }

  /** How many calls a piece of work makes, login and logout aside. */
  async calls(work: () => Promise<unknown>): Promise<number> {
    const count = (): number => readCalls(this.#data).filter(({ endpoint }) => !/^log(in|out)$/.test(endpoint)).length;
    const before = count();
    await work();
    return count() - before;
  }

  /** The floor: posts a body that is ready, and drops the answer. */
  async post(address: string, body: string): Promise<void> {
    const headers = await session(this);
    const answer = await request(`${this.url}${address}`, { method: "POST", headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`${address} answered ${answer.statusCode}`);
  }

  /** Sends a request beside the interface. */
  async administrate(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await request(`${this.url}/_emulator/${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as unknown;
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.#stop();
  }
}

const sessions = new WeakMap<BenchPlatform, Promise<Record<string, string>>>();

/** Headers of a session of the platform's administrator, the same ones each time. */
export function session(platform: BenchPlatform): Promise<Record<string, string>> {
  const { email, password } = administrator;
  const known = sessions.get(platform);
  if (known) return known;
  const headers = platform.client.login({ email, password }).then(({ authToken, userId }) => ({
    "content-type": "application/json",
    "x-auth-token": authToken,
    "x-user-id": userId,
  }));
  sessions.set(platform, headers);
  return headers;
}

/** Does a piece of work for each, so many at a time. */
export async function each<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Fields of a table of many rows. */
export const manyFields = { Code: { type: "text", sort: 1 }, Name: "text", Amount: { type: "number", sort: 2 } };

/** Gives the table `rows` so many, in batches of 10,000. */
export async function fill(platform: BenchPlatform, count: number): Promise<void> {
  const batch = 10_000;
  for (let first = 0; first < count; first += batch) {
    const rows = Array.from({ length: batch }, (_, i) => {
      const number = first + i;
      return { Code: `K${(number * 7919) % count}`, Name: `Name ${number % 977}`, Amount: number };
    });
    await platform.post("/api/insertmicroapprows", JSON.stringify({ microAppID: "rows", rows }));
  }
}

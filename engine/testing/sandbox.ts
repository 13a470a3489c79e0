import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { RunResult } from "../deployment/result.ts";
import type { EngineEvent } from "../events.ts";
import { execute, type RunOptions } from "../execute.ts";
import type { WriteFile } from "../state/atomicWrite.ts";
import { type Stack, Workspace } from "../workspace/workspace.ts";

/** The folder of this repository, from where the compiled tests run. */
const root = path.resolve(import.meta.dirname, "../../..");
const traces = path.join(root, "engine/testdata/traces");

/** Everything that happened in a run, with the result. */
export interface Ran extends RunResult {
  events: EngineEvent[];
  /** Calls of the recorded provider: method, then arguments. */
  calls: unknown[][];
}

/** The salt of the passphrase "engine test": a process derives the key once, which takes a third of a second. */
const encryptionsalt = "v1:tNykaq8dtR4=:v1:FmMG6OYrbPgN35LG:DpeWeU4waj5drz9H6EOKxC2BASkqWQ==";

/** A project in a temporary folder, on the SDK that this repository has installed, with the recorded program and provider. */
export class Sandbox {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), "engine-"));
  readonly project = path.join(this.folder, "project");
  readonly log = path.join(this.folder, "calls.log");
  readonly cloudFile = path.join(this.folder, "cloud.json");
  readonly environment: NodeJS.ProcessEnv;

  constructor(files: Record<string, string> = {}) {
    mkdirSync(this.project);
    cpSync(path.join(traces, "index.cjs"), path.join(this.project, "index.cjs"));
    cpSync(path.join(traces, "prov.cjs"), path.join(this.project, "prov.cjs"));
    symlinkSync(path.join(root, "node_modules"), path.join(this.project, "node_modules"));
    const all = {
      "Pulumi.yaml": "name: spike\nruntime: nodejs\nmain: index.cjs\n",
      "Pulumi.dev.yaml": `encryptionsalt: ${encryptionsalt}\n`,
      ...files,
    };
    for (const [name, text] of Object.entries(all)) writeFileSync(path.join(this.project, name), text);
    this.environment = {
      PATH: process.env["PATH"],
      HOME: this.folder,
      PULUMI_BACKEND_URL: `file://${path.join(this.folder, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "engine test",
      CLOUD_FILE: this.cloudFile,
      PROV_LOG: this.log,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    };
    mkdirSync(path.join(this.folder, "state"));
  }

  async workspace(environment: NodeJS.ProcessEnv = {}, write?: WriteFile): Promise<Workspace> {
    return Workspace.open({ cwd: this.project, environment: { ...this.environment, ...environment }, write });
  }

  async init(): Promise<Stack> {
    return (await this.workspace()).init("dev");
  }

  async stack(environment: NodeJS.ProcessEnv = {}, write?: WriteFile): Promise<Stack> {
    return (await this.workspace(environment, write)).stack("dev");
  }

  async run(options: Partial<RunOptions> = {}, environment: NodeJS.ProcessEnv = {}, write?: WriteFile): Promise<Ran> {
    writeFileSync(this.log, "");
    const events: EngineEvent[] = [];
    const stack = await this.stack(environment, write);
    const result = await execute(stack, {
      kind: "update",
      preview: false,
      ...options,
      emit: (event) => {
        events.push(event);
        options.emit?.(event);
      },
    });
    return { ...result, events, calls: this.calls() };
  }

  calls(): unknown[][] {
    if (!existsSync(this.log)) return [];
    return readFileSync(this.log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown[]);
  }

  cloud(): Record<string, unknown> {
    if (!existsSync(this.cloudFile)) return {};
    return (JSON.parse(readFileSync(this.cloudFile, "utf8")) as { items: Record<string, unknown> }).items;
  }

  setCloud(items: unknown): void {
    const cloud = JSON.parse(readFileSync(this.cloudFile, "utf8")) as object;
    writeFileSync(this.cloudFile, JSON.stringify({ ...cloud, items }));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

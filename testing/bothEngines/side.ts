import { cp, mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Ended } from "../harness/project.ts";
import { repository } from "../harness/project.ts";
import { Cli } from "../programs/cli.ts";
import { readSummary } from "../programs/pulumiSummary.ts";
import { prelude, type Turn } from "./program.ts";

const traces = join(repository, "engine/testdata/traces");
const plugins = join(repository, "engine/testdata/plugin");
const microapps = join(repository, "dist/bundle/microapps.js");
const stack = ["--stack", "dev"];

/** All that an engine did in a turn, in a form that is the same for equal deeds. */
export interface Done {
  succeeded: boolean;
  steps: string[];
  summary: unknown;
  /** Resources and pending operations of the state, with the outputs of the stack, in any order that is a valid one. */
  resources: string[];
  pending: string[];
  /** Calls of the providers, in any order. */
  calls: string[];
  /** Things of the platform. */
  cloud: unknown;
}

/** A project of its own in which one of the two engines runs. */
export class Side {
  readonly folder: string;
  readonly #cli: Cli;

  private constructor(folder: string, program: string | undefined) {
    this.folder = folder;
    const environment = {
      CLOUD_FILE: this.#path("cloud.json"),
      PROV_LOG: this.#path("calls.log"),
      PULUMI_BACKEND_URL: `file://${folder}/state`,
    };
    const first = program === undefined ? ["--no-warnings", microapps] : [];
    this.#cli = new Cli(program ?? process.execPath, this.#path("home"), environment, first);
  }

  /** @param program the Pulumi CLI's file; undefined for the embedded engine */
  static async set(program?: string): Promise<Side> {
    const side = new Side(await realpath(await mkdtemp(join(tmpdir(), "microapps-"))), program);
    const project = side.#path("project");
    for (const folder of ["project", "state", "home"]) await mkdir(side.#path(folder));
    await cp(join(traces, "prov.cjs"), join(project, "prov.cjs"));
    await symlink(join(repository, "node_modules"), join(project, "node_modules"));
    const settings = `name: both\nruntime: nodejs\nmain: index.cjs\nplugins: {providers: [{name: tiny, path: ${plugins}}]}\n`;
    await writeFile(join(project, "Pulumi.yaml"), settings);
    await writeFile(join(project, "index.cjs"), prelude);
    const { status, output } = await side.#run("stack init dev".split(" "), {});
    if (status !== 0) throw new Error(output);
    return side;
  }

  /** Carries out a turn. `output` has both streams. */
  async take(turn: Turn): Promise<{ output: string; done: Done }> {
    const project = this.#path("project");
    if (turn.program !== undefined) await writeFile(join(project, "index.cjs"), prelude + turn.program);
    for (const [file, text] of Object.entries(turn.files ?? {})) {
      await mkdir(dirname(join(project, file)), { recursive: true });
      await writeFile(join(project, file), text);
    }
    if (turn.byHand) await this.#edit(turn.byHand);
    await writeFile(this.#path("calls.log"), "");
    const words = turn.command.split(" ");
    const isOperation = /^(up|preview|refresh|destroy)\b/.test(turn.command);
    const ended = await this.#run([...words, ...stack, ...(isOperation ? ["--output", "json"] : [])], turn.environment);
    return { output: ended.output, done: await this.#done(ended) };
  }

  async #done({ status, output }: Ended): Promise<Done> {
    const { steps, summary } = summaryIn(output);
    const exported = await this.#read("stack export --show-secrets");
    const log = await readFile(this.#path("calls.log"), "utf8");
    // A plugin is started whether it has work or not, and one process may serve a read and what follows.
    const calls = log
      .split("\n")
      .filter((line) => line !== "" && !/"(handshake|cancel|interrupted|checkConfig|diffConfig)"/.test(line));
    const cloud: unknown = JSON.parse(await readFile(this.#path("cloud.json"), "utf8").catch(() => "null"));
    const { resources, pending } = stateOf(exported);
    return {
      succeeded: status === 0,
      steps,
      summary,
      resources: this.#plain(resources),
      pending: this.#plain(pending),
      calls: this.#plain(calls),
      cloud,
    };
  }

  /** Texts in order, without this project's folder and random IDs. */
  #plain = (texts: readonly string[]): string[] =>
    texts.map((text) => text.replaceAll(this.folder, "<folder>").replace(uuid, "<uuid>")).toSorted();

  async #read(command: string): Promise<unknown> {
    const { status, output } = await this.#run([...command.split(" "), ...stack], {});
    if (status !== 0) throw new Error(`${command} ended with ${String(status)}:\n${output}`);
    return JSON.parse(output.slice(output.indexOf("{")));
  }

  async #edit(byHand: NonNullable<Turn["byHand"]>): Promise<void> {
    const file = this.#path("cloud.json");
    const cloud = cloudSchema.parse(JSON.parse(await readFile(file, "utf8")));
    byHand(cloud.items);
    await writeFile(file, JSON.stringify(cloud));
  }

  #run(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.#cli.run(this.#path("project"), words, environment);
  }

  #path = (name: string): string => join(this.folder, name);
}

const cloudSchema = z.looseObject({ items: z.record(z.string(), z.record(z.string(), z.unknown())) });
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

/** The summary of `--output json` among the lines, with its steps in order of name. */
function summaryIn(output: string): { steps: string[]; summary: unknown } {
  const found = readSummary(output);
  if (!found) return { steps: [], summary: undefined };
  const { resources, summary, result } = found;
  return { steps: resources.map(({ op, name }) => `${op} ${name}`).toSorted(), summary: { result, ...summary } };
}

const exportSchema = z.looseObject({
  deployment: z.looseObject({
    resources: z.array(z.record(z.string(), z.unknown())).default([]),
    pending_operations: z.array(z.record(z.string(), z.unknown())).default([]),
  }),
});
const leftOut = new Set(["created", "modified", "sourcePosition", "stackTrace"]);

/** Resources and pending operations without times and positions. */
function stateOf(exported: unknown): { resources: string[]; pending: string[] } {
  const { resources, pending_operations: pending } = exportSchema.parse(exported).deployment;
  return { resources: resources.map(textOf), pending: pending.map(textOf) };
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (name, inner: unknown) => {
    if (leftOut.has(name)) return undefined;
    if (name === "dependencies" && Array.isArray(inner)) return (inner as unknown[]).toSorted();
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

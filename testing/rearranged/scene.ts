import { expect } from "@jest/globals";
import { join } from "node:path";
import { createEmulator, type Emulator, type LoggedCall } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { eventually, leftRunning } from "../harness/processes.ts";
import { configOf, type Ended, Project, repository } from "../harness/project.ts";
import { fileOf, programOf, type Seed } from "./seeds.ts";

export type KindName = "files" | "dynamic" | "plugin";
export const kindNames: readonly KindName[] = ["files", "dynamic", "plugin"];
export const programKinds = ["dynamic", "plugin"] as const;

/** What is brought up: seeds and organizations, or the text of a program. */
export type Declared = string | { seeds?: readonly Seed[]; organizations?: { program: string; file: object } };

const login = { email: "admin@example.com", password: "correct-horse" };

/** Beginning of a program: the same classes for each kind of provider, and the address of linked rows. */
const preambles: Readonly<Record<Exclude<KindName, "files">, string>> = {
  dynamic: `
import { Environment, Organization, Provider, SeedRows, Team, TeamMember, TeamRoster } from "pulumi-microapps";
const provider = (name, settings) => new Provider(name, settings);
const linked = (seed) => seed;
`,
  // As a generated SDK does it.
  plugin: `
import pulumi from "@pulumi/pulumi";
const declared = (type) => class extends pulumi.CustomResource {
  constructor(name, inputs, options) { super("microapps:index:" + type, name, inputs, options); }
};
const [Organization, SeedRows, Team, TeamMember, TeamRoster] =
  ["Organization", "SeedRows", "Team", "TeamMember", "TeamRoster"].map(declared);
const provider = (name, settings) => new pulumi.ProviderResource("microapps", name, settings);
const linked = ({ table, key }) => ({ table, key: pulumi.output(key).apply((labels) => [labels].flat()[0]) });
`,
};

/** Plays a person who edits a program, or a file, and brings it up with the embedded engine, with one kind of provider. */
export class Scene {
  readonly providerKind: KindName;
  readonly emulator: Emulator;
  readonly client: Client;
  readonly project: Project;
  readonly #empty: string;
  /** Programs that were brought up from nothing, with what they left. */
  readonly #begun = new Map<string, { snapshot: string; state: string }>();

  private constructor(providerKind: KindName, emulator: Emulator, project: Project, empty: string) {
    this.providerKind = providerKind;
    this.emulator = emulator;
    this.client = createClient({ endpoint: emulator.url, ...login });
    this.project = project;
    this.#empty = empty;
  }

  /**
   * @param now the platform's clock
   * @param worlds endings of the names of tables, for what a program does side by side
   */
  static async open(
    providerKind: KindName,
    now: () => number = Date.now,
    worlds: readonly string[] = [""],
  ): Promise<Scene> {
    const fields = { Code: "text", Name: "text", Note: "text" } as const;
    const offices = (world: string) =>
      ({ fields: { ...fields, Region: { type: "linked", table: `regions${world}`, field: "Code" } } }) as const;
    const named = worlds.flatMap((world): [string, object][] => [
      [`regions${world}`, { fields }],
      [`offices${world}`, offices(world)],
    ]);
    const tables = { areas: { fields }, ...Object.fromEntries(named) };
    const emulator = await createEmulator({ seed: { administrator: login, tables }, now });
    const config = configOf(emulator, login);
    const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
    const project = await (providerKind === "files"
      ? Project.declaring(config)
      : Project.running("", config, providerKind === "plugin" ? { plugins } : {}));
    await project.succeed("stack init dev");
    const scene = new Scene(providerKind, emulator, project, await project.stateText());
    const rowData = { Code: "theirs", Name: "Theirs", Note: "" };
    for (const world of worlds) {
      const { rowID } = await scene.client.insertmicroapprow({ microAppID: `regions${world}`, rowData });
      const Region = { crossAppRowID: rowID };
      await scene.client.insertmicroapprow({ microAppID: `offices${world}`, rowData: { ...rowData, Region } });
    }
    emulator.saveSnapshot("start");
    return scene;
  }

  async close(): Promise<string[]> {
    const left = await leftRunning(this.project.folder);
    await this.client.close();
    await this.project.remove();
    await this.emulator.close();
    return left;
  }

  /** A stack that holds nothing, on a platform that holds what others put there; then a program is brought up. */
  async begin(program?: Declared): Promise<void> {
    const { emulator, project } = this;
    const name = JSON.stringify(program ?? "");
    const known = this.#begun.get(name);
    emulator.setFaults();
    emulator.loadSnapshot(known?.snapshot ?? "start");
    await project.write(".pulumi/stacks/tests/dev.json", known?.state ?? this.#empty);
    if (program === undefined) return;
    await this.write(program);
    if (known) return;
    await project.succeed("up --yes --skip-preview");
    const snapshot = `begun-${this.#begun.size}`;
    emulator.saveSnapshot(snapshot);
    this.#begun.set(name, { snapshot, state: await project.stateText() });
  }

  /** Nothing is left to do, and what is others' is as it was. */
  async isSettled(): Promise<void> {
    expect(this.touched()).toEqual([]);
    await this.project.isSettled(this.providerKind !== "dynamic");
  }

  /** Replaces the program; another version changes what comes last. Its seeds stand in a list `seeds`, in the order in which they are brought up. */
  async write(declared: Declared, version = 1): Promise<void> {
    const { seeds = [], organizations } = typeof declared === "string" ? {} : declared;
    const last = { name: "Last", description: `Version ${version}` };
    if (this.providerKind === "files") {
      const file = { organizations: { ...organizations?.file, last }, seeds: fileOf(seeds) };
      return this.project.write("dev.yaml", JSON.stringify(file));
    }
    const text = typeof declared === "string" ? declared : (organizations?.program ?? "") + programOf(seeds);
    // It comes after all of them and before what is deleted, so that a run can be killed between the two.
    const end = `new Organization("last", ${JSON.stringify(last)}, { dependsOn: seeds });\n`;
    return this.project.write("index.js", `${preambles[this.providerKind]}\nconst seeds = [];\n${text}\n${end}`);
  }

  /** The state's resources, by their names in a program. */
  async state(): Promise<Awaited<ReturnType<Project["state"]>>> {
    const state = await this.project.state();
    return new Map([...state].map(([name, resource]) => [name.replace(/^environment\/(.*\/)?/, ""), resource]));
  }

  up(...flags: string[]): Promise<Ended> {
    return this.project.run("up --yes --skip-preview", ...flags);
  }

  /** Brings the program up, is killed when all is created and so many rows are deleted, and brings it up again. */
  async upKilledBetween(deleted = 0): Promise<Ended> {
    const { emulator, project } = this;
    // In a file organizations come before all seeds.
    const endpoint = this.providerKind === "files" || deleted > 0 ? "removemicroapprow" : "updateorganization";
    emulator.setFaults({ faults: [{ kind: "timeout", endpoint, after: deleted }] });
    const running = project.start("up --yes --skip-preview");
    const isThere = () => emulator.faults().find(({ hit }) => hit > 0);
    await eventually("the last call before the deletions", isThere, 120_000).finally(() => {
      process.kill(running.pid, "SIGKILL");
    });
    await running.ended;
    emulator.setFaults();
    await project.succeed("cancel --yes");
    return this.up();
  }

  /** Changing calls that a piece of work made. */
  async calls(work: () => Promise<unknown>): Promise<LoggedCall[]> {
    const since = this.emulator.lastCall();
    await work();
    return this.emulator.calls({ since, mutating: true });
  }

  /** The rows of others that something was done to. */
  touched(): string[] {
    return this.emulator
      .differences("start")
      .filter(({ table }) => table === "rows")
      .flatMap(({ changed, removed }) => [...changed, ...removed]);
  }

  /** IDs of the rows of a table by code; a link stands beside it by the code that it leads to. */
  async rows(
    table: string,
    linked = "regions",
  ): Promise<Map<string, { id: string; values: Record<string, unknown>; link?: string }>> {
    const read = async (microAppID: string) =>
      (await this.client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 1000 }] })).microAppRows;
    const regions = new Map((await read(linked)).map((row) => [row._id, String(row["Code"])]));
    return new Map(
      (await read(table)).map((row) => {
        const region = row["Region"] as { crossAppRowID?: string } | null | undefined; // a linked field's form
        const link =
          region?.crossAppRowID === undefined ? {} : { link: regions.get(region.crossAppRowID) ?? "nothing" };
        return [String(row["Code"]), { id: row._id, values: row, ...link }];
      }),
    );
  }
}

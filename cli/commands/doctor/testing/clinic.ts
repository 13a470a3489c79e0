import { expect } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createEmulator, type Emulator, type EmulatorOptions } from "../../../../emulator/index.ts";
import type { FaultPlan } from "../../../../emulator/platform/faults.ts";
import { setConfig, Workspace, type Terminal } from "../../../../engine/index.ts";
import { createClient, type Client } from "../../../../provider/client/index.ts";
import { runDoctor, type DoctorSurroundings } from "../doctor.ts";
import type { DoctorOutcome } from "../rendering.ts";
import { elsewhere, localhost } from "./certificates.ts";
import { Front, type Answering } from "./front.ts";

export const secrets = {
  password: "correct-horse",
  apiKey: "key-of-the-operator",
  other: "battery-staple",
  proxy: "proxy-secret",
};
export const account = { email: "ada@example.com", password: secrets.password };

const seed = {
  administrator: { id: "ada", email: account.email, password: account.password, apiKey: secrets.apiKey },
  users: [{ email: "bob@example.com", password: secrets.other }],
  tables: {
    regions: { fields: { Code: { type: "text" as const, sort: 1 }, Name: "text" as const, Size: "number" as const } },
    twins: { fields: { Code: "text" as const, Name: "text" as const } },
    empty: { fields: { Code: "text" as const } },
    lands: { fields: { Name: "text" as const } },
    towns: { parent: "lands", fields: { Name: "text" as const } },
  },
};

/** How a look is made, and what differs from a stack where all is well. */
export interface Case {
  /** Settings by key; undefined takes one away. */
  config?: Readonly<Record<string, string | undefined>>;
  environment?: Readonly<Record<string, string>>;
  /** The Environment file of the stack. */
  file?: string;
  tables?: string[];
  stack?: string;
  /** How the server before the platform answers. */
  answer?: Answering;
  faults?: Fault[];
  surroundings?: DoctorSurroundings;
}

type Fault = NonNullable<FaultPlan["faults"]>[number];

/** A stack where all is well, with a platform, servers before it, and people who make mistakes. */
export class Clinic {
  readonly emulator: Emulator;
  readonly client: Client;
  readonly folder: string;
  /** Before the platform: in clear, and with two certificates. */
  readonly fronts: { plain: Front; secure: Front; elsewhere: Front };
  /** ID of the organization, and of its team. */
  readonly organization: string;
  readonly #nobody: string;

  private constructor(
    made: Pick<Clinic, "emulator" | "client" | "folder" | "fronts" | "organization">,
    nobody: string,
  ) {
    Object.assign(this, made);
    ({ emulator: this.emulator, client: this.client, folder: this.folder } = made);
    ({ fronts: this.fronts, organization: this.organization } = made);
    this.#nobody = nobody;
  }

  /** @param settings of the platform, where they are not the usual ones */
  static async open(settings: EmulatorOptions["settings"] = {}): Promise<Clinic> {
    const emulator = await createEmulator({ seed, settings });
    const client = createClient({ endpoint: emulator.url, ...account });
    const folder = await mkdtemp(join(tmpdir(), "doctor-"));
    await writeFile(join(folder, "Pulumi.yaml"), 'name: crew\nruntime: nodejs\nbackend: { url: "file://." }\n');
    const { organizationID } = await client.insertorganization({ organizationInfo: { _id: "org-acme", name: "Acme" } });
    await client.insertteam({
      teamInfo: { _id: "team-crew", organizationID, name: "Crew" },
      adminID: await client.callerID(),
    });
    const rows = [1, 2, 3].map((Size) => ({ Code: `R${Size}`, Name: "one", Size }));
    await client.insertmicroapprows({ microAppID: "regions", rows });
    await client.insertmicroapprows({
      microAppID: "twins",
      rows: ["A", "A", "B"].map((Code) => ({ Code, Name: "two" })),
    });
    const fronts = {
      plain: await Front.start(emulator.url),
      secure: await Front.start(emulator.url, localhost),
      elsewhere: await Front.start(emulator.url, elsewhere),
    };
    const gone = await createEmulator();
    await gone.close();
    const clinic = new Clinic({ emulator, client, folder, fronts, organization: organizationID }, gone.url);
    await (await clinic.workspace()).init("dev");
    await clinic.writeState();
    return clinic;
  }

  async close(): Promise<void> {
    for (const front of Object.values(this.fronts)) await front.close();
    await this.client.close();
    await this.emulator.close();
    await rm(this.folder, { recursive: true });
  }

  workspace(): Promise<Workspace> {
    return Workspace.open({ cwd: this.folder, environment: this.environment() });
  }

  environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    return { PULUMI_CONFIG_PASSPHRASE: "x", PULUMI_HOME: join(this.folder, "home"), HOME: this.folder, ...more };
  }

  /** A state with an organization, a team and a seed. */
  async writeState(): Promise<void> {
    const stack = await (await this.workspace()).stack("dev");
    const resource = (type: string, id: string, outputs: Record<string, string | string[]>): object => ({
      ...{ urn: `urn:pulumi:dev::crew::microapps:index:${type}::${id}`, type: `microapps:index:${type}`, id, outputs },
      ...{ custom: true, inputs: {}, dependencies: [], propertyDependencies: {}, initErrors: [], aliases: [] },
      ...{ additionalSecretOutputs: [], ignoreChanges: [], replaceOnChanges: [], hideDiff: [], stackTrace: [] },
      ...{ customTimeouts: {}, parent: "", provider: "", deletedWith: "", importID: "", created: "", modified: "" },
    });
    const resources = [
      resource("Organization", this.organization, { name: "Acme" }),
      resource("Team", "team-crew", { name: "Crew" }),
      resource("SeedRows", "seed", { table: "regions", key: ["Code"], labels: ["Code", "Name", "Size"] }),
    ];
    await stack.write({ resources: resources as never, operations: [], metadata: {} });
  }

  /** Puts the addresses of this run in their places. */
  fill(text: string): string {
    return text
      .replace("<platform>", this.emulator.url)
      .replace("<front>", this.fronts.plain.url)
      .replace("<front with s>", this.fronts.plain.url.replace("http", "https"))
      .replace("<secure without s>", this.fronts.secure.url.replace("https", "http"))
      .replace("<secure>", this.fronts.secure.url)
      .replace("<elsewhere>", this.fronts.elsewhere.url)
      .replace("<nobody>", this.#nobody);
  }

  /** The text without the parts that differ in each run. */
  steady(text: string): string {
    return text
      .replaceAll(this.emulator.url, "<platform>")
      .replaceAll(this.fronts.plain.url, "<front>")
      .replaceAll(this.fronts.secure.url, "<secure>")
      .replaceAll(this.fronts.secure.url.replace("https", "http"), "<secure without s>")
      .replaceAll(this.fronts.plain.url.replace("http", "https"), "<front with s>")
      .replaceAll(this.fronts.elsewhere.url, "<elsewhere>")
      .replaceAll(this.#nobody, "<nobody>")
      .replaceAll(this.folder, "<folder>");
  }

  /** Looks, and holds what must always hold: one login at most, no change, no secret, no more calls than announced. */
  async look(one: Case): Promise<DoctorOutcome> {
    await this.write(one);
    const since = this.emulator.lastCall();
    this.fronts.plain.answer = one.answer ?? (() => false);
    this.emulator.setFaults({ faults: one.faults ?? [] });
    const terminal = fakeTerminal(this.environment(one.environment));
    const options = { cwd: this.folder, color: "never" as const, table: one.tables ?? [], json: true };
    const stack = one.environment?.["MICROAPPS_ENDPOINT"] === undefined ? { stack: one.stack ?? "dev" } : {};
    // Other faults answer, however busy the machine is.
    const waits = one.faults !== undefined && one.faults.every(({ kind }) => kind !== "timeout") ? 20_000 : 2_000;
    const status = await runDoctor({ ...options, ...stack }, terminal, { timeoutMs: waits, ...one.surroundings });
    const text = terminal.written();
    const outcome = JSON.parse(text) as DoctorOutcome; // the command's own
    expect(outcome.status).toBe(status);
    const calls = this.emulator.calls({ since });
    expect(calls.filter(({ mutating }) => mutating)).toEqual([]);
    expect(calls.filter(({ endpoint }) => endpoint === "login").length).toBeLessThanOrEqual(1);
    expect(calls.length).toBeLessThanOrEqual(outcome.calls.made);
    expect(outcome.calls.made).toBeLessThanOrEqual(outcome.calls.most);
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
    return outcome;
  }

  /** Writes the settings and the file of a case. */
  async write({ config = {}, file = "" }: Case): Promise<void> {
    const stack = await (await this.workspace()).stack("dev");
    const { email, password } = account;
    const usual = { endpoint: "<platform>", email, password, organizationID: this.organization };
    const settings: Record<string, string | undefined> = { ...usual, ...config };
    for (const key of Object.keys(stack.file.values())) stack.file.set(key, undefined);
    for (const [key, text] of Object.entries(settings)) {
      if (text === undefined) continue;
      const secret = ["password", "token", "apiKey"].includes(key);
      setConfig(stack, `microapps:${key}`, this.fill(text), { secret });
    }
    stack.file.save();
    if (file === "") await rm(join(this.folder, "dev.yaml"), { force: true });
    else await writeFile(join(this.folder, "dev.yaml"), file);
  }
}

/** Streams that nobody sees: a terminal of so many columns, or a pipe with `text` on standard input. */
export function fakeTerminal(
  environment: NodeJS.ProcessEnv,
  columns?: number,
  text = "",
): Terminal & { written: () => string } {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let written = "";
  output.on("data", (part: Buffer) => (written += part.toString()));
  errors.resume();
  if (columns === undefined) input.end(text);
  const tty = { isTTY: columns !== undefined, columns: columns ?? 80 };
  return {
    ...{ input: Object.assign(input, tty), output: Object.assign(output, tty), errors, environment },
    written: () => written,
  } as unknown as Terminal & { written: () => string }; // as much of the streams as commands use
}

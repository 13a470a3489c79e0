import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { createEmulator, type Emulator, type EmulatorOptions } from "../../../../emulator/index.ts";
import { createClient } from "../../../../provider/client/index.ts";
import { fakeTerminal } from "../../doctor/testing/clinic.ts";
import type { VerifyOptions } from "../options.ts";
import type { VerifyOutcome } from "../outcome.ts";
import type { Work } from "../running.ts";
import { makeSandboxSeed } from "../sandbox/tables.ts";
import { runVerify } from "../verify.ts";

export const account = { email: "admin@example.com", password: "admin-of-the-bed", apiKey: "key-of-the-bed" };

/** The sandbox's seed, as `--print-sandbox` prints it. */
export const seed = (): NonNullable<Exclude<EmulatorOptions["seed"], string>> => {
  const printed = parse(makeSandboxSeed()) as NonNullable<Exclude<EmulatorOptions["seed"], string>>; // a seed by construction
  return { ...printed, administrator: account };
};

/** Result of a run. */
export interface Ended {
  status: number;
  output: string;
  errors: string;
  /** Undefined where the run ended before there was one. */
  outcome: VerifyOutcome | undefined;
}

/** A platform with a sandbox, and a folder that goes with it. */
export class Stand {
  readonly emulator: Emulator;
  readonly folder: string;
  /** An organization for the run to work in. */
  readonly organization: string;
  /** Has a file that the platform may download. */
  readonly #files: http.Server;

  private constructor(emulator: Emulator, folder: string, organization: string, files: http.Server) {
    this.#files = files;
    this.emulator = emulator;
    this.folder = folder;
    this.organization = organization;
  }

  static async open(options: EmulatorOptions = {}): Promise<Stand> {
    const files = http.createServer((_, response) => response.end("a flag"));
    await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
    const emulator = await createEmulator({ seed: seed(), settings: { allowedHosts: [hostOf(files)] }, ...options });
    const folder = await mkdtemp(join(tmpdir(), "verify-"));
    const client = createClient({ endpoint: emulator.url, ...account });
    const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Bed" } });
    await client.close();
    emulator.saveSnapshot("before");
    await writeFile(join(folder, "sandbox.yaml"), makeSandboxSeed());
    return new Stand(emulator, folder, organizationID, files);
  }

  async close(): Promise<void> {
    this.#files.close();
    await this.emulator.close();
    await rm(this.folder, { recursive: true });
  }

  /**
   * Differences from before, apart from things that no call removes: apps, stored files, notifications, and invited
   * people.
   */
  differences(): unknown[] {
    const lasting = ["apps", "users", "files", "contents", "notifications", "pushes"];
    return this.emulator.differences("before").filter(({ table }) => !lasting.includes(table));
  }

  environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    return {
      MICROAPPS_ENDPOINT: this.emulator.url,
      MICROAPPS_EMAIL: account.email,
      MICROAPPS_PASSWORD: account.password,
      MICROAPPS_API_KEY: account.apiKey,
      XDG_CACHE_HOME: join(this.folder, "cache"),
      HOME: this.folder,
      ...more,
    };
  }

  /** Flags of a run in the sandbox, with JSON. */
  flags(more: Partial<VerifyOptions> = {}): VerifyOptions {
    return {
      ...{
        color: "never",
        cwd: this.folder,
        sandbox: true,
        new: true,
        json: true,
        rows: "12",
        timeout: "2h",
        apps: true,
      },
      ...{ address: "microapps-*@example.com", facts: [], table: [], sandboxFile: "sandbox.yaml" },
      file: `http://${hostOf(this.#files)}/flag.txt`,
      ...more,
    };
  }

  /** Runs the command in this process; with chosen facts nothing is rehearsed but what is chosen. Rejects where it does. */
  async verify(more: Partial<VerifyOptions> = {}, work: Partial<Work> = {}, environment = {}): Promise<Ended> {
    const terminal = fakeTerminal(this.environment(environment));
    let errors = "";
    terminal.errors.on("data", (part: Buffer) => (errors += part.toString()));
    const parts = work.facts === undefined ? {} : { parts: [] };
    const status = await runVerify(this.flags(more), terminal, { ...parts, ...work }).catch((error: unknown) => {
      throw Object.assign(error as Error, { errors });
    });
    const output = terminal.written();
    const outcome = output.startsWith("{") ? (JSON.parse(output) as VerifyOutcome) : undefined; // the command's own
    return { status, output, errors, outcome };
  }

  read(file: string): Promise<string> {
    return readFile(join(this.folder, file), "utf8");
  }
}

const hostOf = (server: http.Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP

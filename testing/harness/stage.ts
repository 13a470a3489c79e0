import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { dynamic } from "./kinds.ts";
import { configOf } from "./project.ts";
import { type TestedKind, ProviderHost } from "./providerHost.ts";

const administrator = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };

/** How many calls of the provider and of the platform a trace has. */
export interface Traced {
  asked: number;
  sent: number;
}

/** A platform with an administrator, a provider that is connected to it, and a client for edits by hand. */
export class Stage {
  #set: { emulator: Emulator; host: ProviderHost; client: Client } | undefined;
  /** Milliseconds by which the platform's clock is behind. */
  #behind = 0;

  /** A stage that is set as `begin` says. */
  static async set(...parameters: Parameters<Stage["begin"]>): Promise<Stage> {
    const stage = new Stage();
    await stage.begin(...parameters);
    return stage;
  }

  /** Sets the stage; `seed` adds tables and settings to the platform, `config` to the provider's configuration. */
  async begin(
    seed: object = {},
    config: Readonly<Record<string, string>> = {},
    providerKind: TestedKind = dynamic,
  ): Promise<void> {
    const now = (): number => Date.now() - this.#behind;
    const emulator = await createEmulator({ seed: { administrator, ...seed }, now });
    const host = await ProviderHost.start(providerKind, { ...configOf(emulator, administrator), ...config });
    this.#set = { emulator, host, client: createClient({ endpoint: emulator.url, ...administrator }) };
  }

  get #there() {
    if (!this.#set) throw new Error("the stage is not set");
    return this.#set;
  }

  get emulator(): Emulator {
    return this.#there.emulator;
  }

  get host(): ProviderHost {
    return this.#there.host;
  }

  /** For edits by hand. */
  get client(): Client {
    return this.#there.client;
  }

  /** Checks inputs that must be right, and creates the thing, which may be of another name than the last one. */
  async create(type: string, news: Record<string, unknown>, name = this.host.resource) {
    this.host.as(name);
    const { inputs, problems } = await this.host.check(type, news);
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return { inputs, ...(await this.host.create(type, inputs)) };
  }

  async organization(name = "Acme"): Promise<string> {
    return (await this.client.insertorganization({ organizationInfo: { name } })).organizationID;
  }

  async team(organizationID?: string, name = "Crew"): Promise<string> {
    const teamInfo = { organizationID: organizationID ?? (await this.organization()), name };
    return (await this.client.insertteam({ teamInfo })).teamID;
  }

  /** Does something as it was done some days ago. */
  async daysAgo<Answer>(days: number, work: () => Promise<Answer>): Promise<Answer> {
    this.#behind = days * 86_400_000;
    try {
      return await work();
    } finally {
      this.#behind = 0;
    }
  }

  /** The endpoints of the changing calls that a piece of work made, in order. */
  async calls(work: () => Promise<unknown>): Promise<string[]> {
    const since = this.emulator.calls().at(-1)?.sequence ?? 0;
    await work();
    return this.emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
  }

  /** How far the trace is. */
  traced(): Traced {
    return { asked: this.host.trace.length, sent: this.emulator.lastCall() };
  }

  /**
   * Requests to the provider and to the platform, without the parts that differ between kinds of provider and between
   * runs.
   */
  trace({ asked, sent: since }: Traced): string[] {
    const sent = this.emulator.calls({ since, mutating: true }).map(({ endpoint }) => `sent: ${endpoint}`);
    return [...this.host.trace.slice(asked), ...sent].toSorted();
  }

  /** The lines about what no state has shown, of all files of the journal, and those files. */
  async journal(): Promise<{ files: string[]; lines: Record<string, unknown>[] }> {
    const folder = join(this.host.folder, ".state/pulumi-microapps/journal");
    const names = await readdir(folder).catch(() => []);
    const files = names.map((name) => join(folder, name));
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const lines = texts.join("").split("\n").slice(0, -1);
    return { files, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) }; // the provider wrote objects
  }

  async clear(): Promise<void> {
    const set = this.#set;
    this.#set = undefined;
    await set?.client.close();
    await set?.host.stop();
    await set?.emulator.close();
  }
}

/** The provider of dynamic resources, which programs in TypeScript use. */
export const DynamicHost = {
  start: (config: Readonly<Record<string, string>>): Promise<ProviderHost> => ProviderHost.start(dynamic, config),
};

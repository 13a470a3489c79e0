import { createEmulator, type Emulator } from "../emulator/index.ts";
import { createClient, type Client } from "../provider/client/index.ts";
import { dynamic } from "./doors.ts";
import { type Door, ProviderHost } from "./providerHost.ts";

const administrator = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };

/** A platform with an administrator, a provider that is connected to it, and a client for edits by hand. */
export class Stage {
  readonly emulator: Emulator;
  readonly host: ProviderHost;
  readonly client: Client;

  private constructor(emulator: Emulator, host: ProviderHost, client: Client) {
    this.emulator = emulator;
    this.host = host;
    this.client = client;
  }

  /** Sets the stage; `seed` adds tables and settings to the platform, `config` to the provider's configuration. */
  static async set(
    seed: object = {},
    config: Readonly<Record<string, string>> = {},
    door: Door = dynamic,
  ): Promise<Stage> {
    const emulator = await createEmulator({ seed: { administrator, ...seed } });
    const { email, password, apiKey } = administrator;
    const host = await ProviderHost.start(door, {
      "microapps:endpoint": emulator.url,
      "microapps:email": email,
      "microapps:password": password,
      "microapps:apiKey": apiKey,
      ...config,
    });
    return new Stage(emulator, host, createClient({ endpoint: emulator.url, email, password, apiKey }));
  }

  /** Checks inputs that must be right, and creates the thing. */
  async create(type: string, news: Record<string, unknown>) {
    const { inputs, problems } = await this.host.check(type, news);
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return { inputs, ...(await this.host.create(type, inputs)) };
  }

  /** The endpoints of the changing calls that a piece of work made, in order. */
  async calls(work: () => Promise<unknown>): Promise<string[]> {
    const since = this.emulator.calls().at(-1)?.sequence ?? 0;
    await work();
    return this.emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
  }

  /** What was asked of the provider and of the platform, without what differs from door to door and run to run. */
  trace(): string[] {
    const sent = this.emulator.calls({ mutating: true }).map(({ endpoint }) => `sent: ${endpoint}`);
    return [...this.host.trace, ...sent].toSorted();
  }

  async clear(): Promise<void> {
    await this.client.close();
    await this.host.stop();
    await this.emulator.close();
  }
}

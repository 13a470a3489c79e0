import { createClient } from "../client/client.ts";
import { MemberLists } from "../client/lists/memberLists.ts";
import { TableReads } from "../client/lists/tableReads.ts";
import type { Client, ClientOptions } from "../client/options.ts";
import type { Configuration } from "./configuration/configuration.ts";

/** The platform as a provider reaches it. */
export interface Platform {
  client: Client;
  members: MemberLists;
  tables: TableReads;
  close: () => Promise<void>;
}

/** Milliseconds that a call which changes something has to end when the run is cancelled: what is done can be saved. */
const gracePeriodMs = 15_000;

/** Connects to the platform of a configuration; an emulator endpoint is started in this process and ends with it. */
export async function connect(
  { endpoint, allowed, userID: userId, ...credentials }: Configuration,
  directory: string,
  signal?: AbortSignal,
  { timeouts, retries, onCall }: Pick<ClientOptions, "timeouts" | "retries" | "onCall"> = {},
): Promise<Platform> {
  const { url, isEmulator, close: stop } = await located(endpoint, directory);
  const client = createClient({
    endpoint: url,
    ...(isEmulator ? {} : { allowed }), // an emulator of this process is nobody else
    ...credentials,
    userId,
    timeouts: { gracePeriod: gracePeriodMs, ...timeouts },
    retries,
    onCall,
  });
  return {
    client,
    members: new MemberLists(client, signal ? { signal } : {}),
    tables: new TableReads(client),
    close: async () => {
      await client.close();
      await stop();
    },
  };
}

/** The address that an endpoint means; that of an emulator is started for it. */
export async function located(
  endpoint: string,
  directory: string,
): Promise<{ url: string; isEmulator: boolean; close: () => Promise<void> }> {
  if (!endpoint.startsWith("emulator:")) return { url: endpoint, isEmulator: false, close: () => Promise.resolve() };
  const { url, close } = await emulatorAt(endpoint, directory);
  return { url, isEmulator: true, close };
}

// Loaded when it is needed: an engine waits for a provider to start.
async function emulatorAt(endpoint: string, directory: string): Promise<{ url: string; close: () => Promise<void> }> {
  const [{ createEmulator }, { parseEmulatorEndpoint }] = await Promise.all([
    import("../../emulator/index.ts"),
    import("../../emulator/address.ts"),
  ]);
  return createEmulator({ ...parseEmulatorEndpoint(endpoint, directory), program: directory, unref: true });
}

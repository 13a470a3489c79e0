import { createEmulator } from "../../emulator/index.ts";
import { parseEmulatorEndpoint } from "../../emulator/endpoint.ts";
import { createClient, type Client } from "../client/client.ts";
import { MemberLists } from "../client/memberLists.ts";
import type { Configuration } from "./configuration.ts";

/** The platform as a provider reaches it. */
export interface Platform {
  client: Client;
  members: MemberLists;
  close: () => Promise<void>;
}

/** Connects to the platform of a configuration; an emulator endpoint is started in this process and ends with it. */
export async function connect(
  { endpoint, ...credentials }: Configuration,
  directory: string,
  signal?: AbortSignal,
): Promise<Platform> {
  const emulated = endpoint.startsWith("emulator:") ? parseEmulatorEndpoint(endpoint, directory) : undefined;
  const emulator = emulated && (await createEmulator({ ...emulated, unref: true }));
  const client = createClient({ endpoint: emulator?.url ?? endpoint, ...credentials });
  return {
    client,
    members: new MemberLists(client, signal ? { signal } : {}),
    close: async () => {
      await client.close();
      await emulator?.close();
    },
  };
}

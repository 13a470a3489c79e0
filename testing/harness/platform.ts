import { existsSync } from "node:fs";
import { createEmulator, readCalls } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";

/** The platform of a project, looked at and changed by somebody else between two runs. */
export async function byHand<Answer>(file: string, work: (client: Client) => Promise<Answer>): Promise<Answer> {
  const emulator = await createEmulator({ data: file });
  const client = createClient({ endpoint: emulator.url, email: "admin@example.com", password: "change-me-first" });
  try {
    return await work(client);
  } finally {
    await client.close();
    await emulator.close();
  }
}

/**
 * The changing calls that a piece of work made, by endpoint, sorted: parallel ones come in any order.
 * @param project its file, or a project, whose file may be elsewhere afterwards
 */
export async function changingCalls(
  project: string | { platform: string },
  work: () => Promise<unknown>,
): Promise<string[]> {
  const sent = (): string[] => {
    const file = typeof project === "string" ? project : project.platform;
    return existsSync(file) ? readCalls(file, { mutating: true }).map(({ endpoint }) => endpoint) : [];
  };
  const before = sent().length;
  await work();
  return sent().slice(before).toSorted();
}

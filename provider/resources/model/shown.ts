import type { Context } from "./resource.ts";

const firstWaitMs = 200;
const longestWaitMs = 2_000;

/**
 * Looks for what this run has written until it is shown, as long as a platform may show it late (eventual consistency).
 * Returns the last look, which is the truth then.
 */
export async function untilShown<Look>(
  { client, now, sleep }: Pick<Context, "client" | "now" | "sleep">,
  look: () => Promise<Look>,
  isShown: (look: Look) => boolean,
): Promise<Look> {
  const end = now() + client.consistencyMs;
  for (let wait = firstWaitMs; ; wait = Math.min(wait * 2, longestWaitMs)) {
    const found = await look();
    if (isShown(found) || now() + wait > end) return found;
    await sleep(wait);
  }
}

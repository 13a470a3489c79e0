import { z } from "zod";
import type { Attempts } from "../model/creation.ts";
import type { OfflineContext } from "../model/resource.ts";
import { anyIntent, forgetIntent, readIntent, writeIntent } from "./intents.ts";
import { leniently } from "./owners.ts";

/** A creation under an ID of our choice that was begun. */
const creation = anyIntent.extend({ creates: z.string() });

/**
 * The creations of a resource in this working copy. They are a help: where no file can be kept, and in another clone,
 * the platform's own word tells how old a thing is.
 */
export const attemptsOf = (
  { directory, now }: Pick<OfflineContext, "directory"> & { now: () => number },
  urn: string | undefined,
): Attempts => ({
  isBegun: async (id) => {
    if (urn === undefined) return false;
    const begun = await readIntent(directory, urn, creation);
    return begun !== undefined && begun.isSealed && begun.creates === id;
  },
  begin: async (id) => {
    if (urn === undefined) return;
    const intent = { urn, startedAt: new Date(now()).toISOString(), creates: id };
    await leniently(() => writeIntent(directory, intent).then(() => undefined));
  },
  clear: () => settleAttempts({ directory }, urn),
});

/** Forgets the creation of what the state has, or has no more. */
export const settleAttempts = async (
  { directory }: Pick<OfflineContext, "directory">,
  urn: string | undefined,
): Promise<void> => {
  if (urn !== undefined) await forgetIntent(directory, urn);
};

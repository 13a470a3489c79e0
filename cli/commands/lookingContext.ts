import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../machine/failures.ts";
import { today } from "../../machine/today.ts";
import { type Configuration, platformOf } from "../../provider/pulumi/configuration.ts";
import { connect, type PlatformAccess } from "../../provider/pulumi/platform.ts";
import { maskOf } from "../../provider/pulumi/properties.ts";
import { Journal } from "../../provider/resources/journal.ts";
import type { Context } from "../../provider/resources/resource.ts";
import { Run } from "../../provider/resources/run.ts";
import { progressLine } from "./progressLine.ts";

const nobody = (): void => undefined;

/** The context of reads without an engine: notes no claims, and reports only `status`. */
export const lookingContext = (
  { client, members, tables }: Pick<PlatformAccess, "client" | "members" | "tables">,
  settings: Configuration,
  program: string,
  signal: AbortSignal,
  status: (text: string) => void = nobody,
): Context => ({
  client,
  members,
  tables,
  signal,
  directory: program,
  day: today(),
  dialect: client.dialect,
  platform: platformOf(settings),
  account: { email: settings.email, userID: settings.userID },
  ...new Run(program).known,
  journal: new Journal(() => platformOf(settings)),
  readsFirst: false,
  assertAlone: nobody,
  hide: nobody,
  publicID: (id: string) => id,
  report: { status, info: nobody, forecast: nobody, warning: nobody },
  sleep: (milliseconds: number) => sleep(milliseconds, undefined, { signal }),
  now: Date.now,
});

const stopping = ["SIGINT", "SIGTERM"] as const;

/**
 * Works with a platform by reads alone: whatever it meets on the way, it changes nothing. A signal to stop ends its calls, a
 * terminal shows how far it is, and no message has a secret. `tables` and `members` of the work may be others.
 */
export async function look<Found>(
  settings: Configuration,
  program: string,
  work: (context: Context, access: PlatformAccess) => Promise<Found>,
): Promise<Found> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  for (const signal of stopping) process.once(signal, stop);
  const progress = progressLine(process.stderr);
  try {
    const access = await connect({ ...settings, readOnly: true }, program, stopped.signal);
    try {
      return await work(lookingContext(access, settings, program, stopped.signal, progress.show), access);
    } finally {
      await access.close();
    }
  } catch (error) {
    throw new Error(maskOf(settings).hide(messageOf(error)), { cause: error });
  } finally {
    progress.end();
    for (const signal of stopping) process.removeListener(signal, stop);
  }
}

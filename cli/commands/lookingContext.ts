import { setTimeout as sleep } from "node:timers/promises";
import { today } from "../../machine/today.ts";
import { type Configuration, platformOf } from "../../provider/pulumi/configuration.ts";
import type { PlatformAccess } from "../../provider/pulumi/platform.ts";
import { Identities } from "../../provider/resources/model/identities.ts";
import { Journal } from "../../provider/resources/model/journal.ts";
import { type ResourceContext, TeamClaims } from "../../provider/resources/resource.ts";
import { RowClaims } from "../../provider/seedRows/claims.ts";

const nobody = (): void => undefined;

/** The context of reads without an engine: notes no claims, and reports only `status`. */
export const lookingContext = (
  { client, members, tables }: Pick<PlatformAccess, "client" | "members" | "tables">,
  settings: Configuration,
  program: string,
  signal: AbortSignal,
  status: (text: string) => void = nobody,
): ResourceContext => ({
  client,
  members,
  tables,
  signal,
  directory: program,
  day: today(),
  dialect: client.dialect,
  platform: platformOf(settings),
  account: { email: settings.email, userID: settings.userID },
  claims: new TeamClaims(),
  rowClaims: new RowClaims(program),
  organizationNames: new Map(),
  identities: new Identities(),
  journal: new Journal(() => platformOf(settings)),
  readsFirst: false,
  assertAlone: nobody,
  hide: nobody,
  publicID: (id: string) => id,
  report: { status, info: nobody, forecast: nobody, warning: nobody },
  sleep: (milliseconds: number) => sleep(milliseconds, undefined, { signal }),
  now: Date.now,
});

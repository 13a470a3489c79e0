import { createClient } from "../../../../provider/client/client.ts";
import type { Fact } from "../../../../provider/conformance/fact.ts";
import { people, type FixtureIDs } from "../../../../provider/conformance/fixtures.ts";
import { textsIn } from "../../../../provider/contract/wire.ts";
import { Mask } from "../../../../provider/messages/masks.ts";
import type { Configuration } from "../../../../provider/pulumi/configuration/configuration.ts";
import { originOf } from "../../../../provider/pulumi/configuration/origins.ts";
import type { SandboxNames, VerifyOptions } from "../options.ts";
import type { Grounds } from "./keeping.ts";
import { callerOf } from "./preparing.ts";

/** User IDs of the helpers, who log in for it. */
export async function helpersOf(
  { helpers }: SandboxNames,
  { url, hide }: { url: string; hide: (text: string) => string },
): Promise<FixtureIDs> {
  const found: Partial<Record<string, string>> = {};
  for (const [index, person] of (["member", "other"] as const).entries()) {
    const helper = helpers[index];
    if (!helper) continue;
    const theirs = createClient({ endpoint: url, ...helper });
    try {
      found[`${person}.userID`] = await callerOf(theirs, hide);
    } finally {
      await theirs.close();
    }
  }
  return found; // names are those of fixtures
}

/** The parts of a run that bound its sandbox. */
interface Staked {
  settings: Configuration;
  options: VerifyOptions;
  facts: readonly Fact[];
  subject: { mask: Mask };
}

/** The things that a run may touch. */
export function groundsOf(
  { settings, subject, options, facts: own }: Staked,
  names: SandboxNames,
  sandbox: FixtureIDs,
  url: string,
): Grounds {
  const caller = [sandbox["admin.email"], sandbox["admin.userID"]].filter((each) => each !== undefined);
  const helpers = people.flatMap((person) =>
    [sandbox[`${person}.email`] ?? [], sandbox[`${person}.userID`] ?? []].flat(),
  );
  const tokens = new Mask([]);
  const madeUp = new Set(textsIn(own.map(({ steps }) => steps)));
  return {
    tables: names.tables,
    mayMake: { organizations: options.new === true, apps: options.apps === true },
    people: [...helpers, sandbox["invitee.email"] ?? ""],
    caller,
    isMadeUp: (id) => madeUp.has(id) || /^(?:x[0-9a-f]{16}|nothinghasthisid0)/.test(id),
    wireNames: settings.wireNames ?? {},
    hide: (token) => {
      subject.mask.add([token]);
      tokens.add([token]);
    },
    holdsToken: (text) => tokens.hides(text),
    isAllowed: (to) => !settings.allowed || [originOf(url), ...settings.allowed].includes(originOf(to)),
  };
}

import { nameBelow, rootName, type LogicalName } from "../../../sdk/logicalNames.ts";
import { formerKeys } from "../../environment/formerKeys.ts";
import type { Declared } from "../source.ts";
import { resolved } from "../state/pendingSeeds.ts";

/** Where a link leads: to another resource, by its key, or to an ID that the file has. */
export interface Link {
  of?: string;
  id?: string;
}

/** A resource that an Environment declares, as its SDK registers it. */
export interface DeclaredThing {
  kind: string;
  name: LogicalName;
  /** Its inputs, links left out. */
  inputs: Readonly<Record<string, unknown>>;
  links: Record<string, Link[]>;
  /** Where it stands in the file. */
  path: readonly string[];
  /** Values of another place that are among its inputs. */
  sensitive: boolean;
}

/** The name of the Environment in keys of a seal. */
const root = "";

/** The key of a resource in a seal, as its type and its name below the Environment. */
export const keyOf = (kind: string, { now }: Pick<LogicalName, "now">): string =>
  `${kind} ${now.slice(root.length + 1)}`;

type Target = string | { app: string } | undefined;

/** All that an Environment declares; sdk/environment.ts registers these. */
export function declaredThings(declared: Declared): DeclaredThing[] {
  return [...appsOf(declared), ...organizationsOf(declared), ...seedsOf(declared)];
}

const thing = (
  kind: string,
  name: LogicalName,
  path: readonly string[],
  inputs: object,
  links: Record<string, Link[]> = {},
): DeclaredThing => ({
  kind,
  name,
  path,
  inputs: { ...inputs },
  links,
  sensitive: "sensitive" in inputs && inputs.sensitive === true,
});

const top = rootName(root, undefined);

function appsOf({ declaration }: Declared): DeclaredThing[] {
  return Object.entries(declaration.apps).flatMap(([key, app]) => {
    const { formerly, wait = "ready", timeout, statusWords, ...args } = app;
    const name = nameBelow(top, key, formerKeys(formerly));
    const path = ["apps", key];
    const generated = thing("GeneratedApp", name, path, args);
    if (wait === "none") return [generated];
    const ready = (each: string): string => `${each}-ready`;
    const wait_ = { now: ready(name.now), own: name.own.map(ready), inherited: name.inherited.map(ready) };
    const of = keyOf("GeneratedApp", name);
    return [generated, thing("AppReadiness", wait_, path, { timeout, statusWords }, { appID: [{ of }] })];
  });
}

function organizationsOf({ declaration }: Declared): DeclaredThing[] {
  return Object.entries(declaration.organizations).flatMap(([key, { teams = {}, formerly, ...args }]) => {
    const name = nameBelow(top, key, formerKeys(formerly));
    const path = ["organizations", key];
    const below = Object.entries(teams).flatMap(([teamKey, team]) =>
      teamOf(nameBelow(name, teamKey, formerKeys(team.formerly)), keyOf("Organization", name), team, [
        ...path,
        "teams",
        teamKey,
      ]),
    );
    return [thing("Organization", name, path, args), ...below];
  });
}

type Team = NonNullable<Declared["declaration"]["organizations"][string]["teams"]>[string];

function teamOf(name: LogicalName, organization: string, team: Team, path: readonly string[]): DeclaredThing[] {
  const { members = {}, roster, formerly: _, ...args } = team;
  const teamID = [{ of: keyOf("Team", name) }];
  const opened = ({ targetInitialApp: target, ...rest }: { targetInitialApp?: Target }) => ({
    inputs: rest,
    links: { teamID, ...linkTo(target) },
  });
  const people = Object.entries(members).map(([email, member]) => {
    const { inputs, links } = opened(typeof member === "string" ? {} : member);
    const role = typeof member === "string" ? { role: member } : {};
    const own = nameBelow(name, email.toLowerCase());
    return thing("TeamMember", own, [...path, "members", email], { ...inputs, ...role, email }, links);
  });
  const all = roster && opened(roster);
  return [
    thing("Team", name, path, args, { organizationID: [{ of: organization }] }),
    ...people,
    ...(all ? [thing("TeamRoster", nameBelow(name, "roster"), [...path, "roster"], all.inputs, all.links)] : []),
  ];
}

/** An app of the file goes by its key, whatever it was called before. */
function linkTo(target: Target): Record<string, Link[]> {
  if (target === undefined) return {};
  return { targetInitialApp: [typeof target === "string" ? { id: target } : { of: `GeneratedApp ${target.app}` }] };
}

function seedsOf(declared: Declared): DeclaredThing[] {
  const { seeds, seedOrder } = declared.declaration;
  return seedOrder.flatMap((key) => {
    const seed = seeds[key];
    if (!seed) return [];
    const { teamViewers, ...inputs } = resolved(seed, declared);
    const viewers = (teamViewers ?? []).map((one): Link =>
      typeof one === "string" ? { id: one } : { of: `Team ${one.team}` },
    );
    const name = nameBelow(top, key, formerKeys(seed.formerly));
    return [thing("SeedRows", name, ["seeds", key], inputs, viewers.length > 0 ? { teamViewers: viewers } : {})];
  });
}

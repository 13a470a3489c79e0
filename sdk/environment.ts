import * as pulumi from "@pulumi/pulumi";
import { declaration, type Declaration } from "../provider/environment/declaration.ts";
import { formerKeys } from "../provider/environment/formerKeys.ts";
import { EnvironmentError } from "../provider/environment/problems.ts";
import { withRowEdits } from "../provider/environment/schema.ts";
import { aliasesOf, nameBelow, rootName, type LogicalName } from "./logicalNames.ts";
import {
  GeneratedApp,
  Organization,
  SeedRows,
  Team,
  TeamMember,
  TeamRoster,
  type RowsOf,
  type SeedRowsArgs,
} from "./resources.ts";

/** Arguments of an Environment. */
export interface EnvironmentArgs {
  /** Path of the YAML file, relative to the folder in which the program runs. */
  file: string;
}

/**
 * Organizations, teams, members, seed rows and generated apps, declared in one YAML file. Resources are named
 * `<environment>/<logical name>`, so a rename on the platform is an update; a wrong file ends the program before any
 * resource is registered, with every problem at its file, line and column.
 */
export class Environment extends pulumi.ComponentResource {
  /** IDs of the organizations by logical name. */
  readonly organizations: pulumi.Output<Record<string, string>>;
  /** IDs of the teams by `organization/team`. */
  readonly teams: pulumi.Output<Record<string, string>>;
  /** Row counts by logical name of the seed. */
  readonly seeds: pulumi.Output<Record<string, number>>;
  /** Links to the apps by logical name. */
  readonly apps: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: EnvironmentArgs, options?: pulumi.ComponentResourceOptions) {
    const declared = declaredIn(args.file);
    const removal: RemovalOf = (...path) =>
      declared.removals === "declared" ? { removal: { file: args.file, path } } : {};
    super("microapps:index:Environment", name, {}, options);
    const scope: Scope = { name: rootName(name, options), parent: this, removal };
    const apps = appsOf(scope, declared);
    const { organizations, teams } = organizationsOf(scope, declared, apps);
    const seeds = seedsOf(scope, declared, teams);
    this.organizations = collected(organizations, ({ id }) => id);
    this.teams = collected(teams, ({ id }) => id);
    this.seeds = collected(seeds, ({ rowCount }) => rowCount);
    this.apps = collected(apps, ({ ready }) => ready);
    const { organizations: ids, teams: teamIDs, seeds: counts, apps: links } = this;
    this.registerOutputs({ organizations: ids, teams: teamIDs, seeds: counts, apps: links });
  }
}

/** Reads what a file declares. Throws a RunError for a wrong file: the runner prints its message without a stack. */
function declaredIn(file: string): Declaration {
  try {
    return withSecrets(declaration(file, process.cwd(), configured));
  } catch (error) {
    throw error instanceof EnvironmentError ? new pulumi.RunError(error.message) : error;
  }
}

/** A value of the project's own configuration. */
function configured(key: string): { text: string; secret: boolean } | undefined {
  const name = `${pulumi.getProject()}:${key}`;
  const text = pulumi.runtime.getConfig(name);
  // A value counts as a secret where the runtime does not know whether it is one.
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (name: string) => boolean };
  return text === undefined ? undefined : { text, secret: isConfigSecret?.(name) ?? true };
}

/** Marks the values that come from secrets of the configuration. */
function withSecrets(declared: Declaration): Declaration {
  for (const path of declared.secrets) {
    let holder = declared as unknown as Record<string, unknown>; // maps and lists all the way
    for (const step of path.slice(0, -1)) holder = holder[step] as Record<string, unknown>;
    const last = path.at(-1) ?? "";
    holder[last] = pulumi.secret(holder[last]);
  }
  return declared;
}

interface Scope {
  name: LogicalName;
  parent: pulumi.Resource;
  removal: RemovalOf;
}

/** Makes the input that names the file and path whose `removed` line allows a removal; empty where none is needed. */
type RemovalOf = (...path: string[]) => { removal?: { file: string; path: string[] } };

type ByName<Resource> = ReadonlyMap<string, Resource>;

function collected<Resource, Value>(
  resources: ByName<Resource>,
  output: (resource: Resource) => pulumi.Output<Value>,
): pulumi.Output<Record<string, Value>> {
  const outputs = [...resources].map(([name, resource]) => output(resource).apply((value) => [name, value] as const));
  // apply resolves what is inside of an entry, too: a value of the platform's is plain already.
  return pulumi.all(outputs).apply((entries) => Object.fromEntries(entries as (readonly [string, Value])[]));
}

function appsOf({ name, parent, removal }: Scope, { apps }: Declaration): ByName<GeneratedApp> {
  return new Map(
    Object.entries(apps).map(([app, { formerly, ...args }]) => {
      const { now, own, inherited } = nameBelow(name, app, formerKeys(formerly));
      // All of them as its own, so that the wait for the app inherits them in turn.
      const aliases = aliasesOf({ now, own: [...own, ...inherited], inherited });
      return [app, new GeneratedApp(now, { ...args, ...removal("apps", app) }, { parent, ...aliases })] as const;
    }),
  );
}

function organizationsOf(
  scope: Scope,
  declared: Declaration,
  apps: ByName<GeneratedApp>,
): { organizations: ByName<Organization>; teams: ByName<Team> } {
  const organizations = new Map<string, Organization>();
  const teams = new Map<string, Team>();
  for (const [key, { teams: declaredTeams = {}, formerly, ...args }] of Object.entries(declared.organizations)) {
    const name = nameBelow(scope.name, key, formerKeys(formerly));
    const organizationArgs = { ...args, ...scope.removal("organizations", key) };
    const organization = new Organization(name.now, organizationArgs, { parent: scope.parent, ...aliasesOf(name) });
    organizations.set(key, organization);
    for (const [teamKey, { members = {}, roster, formerly, ...teamArgs }] of Object.entries(declaredTeams)) {
      const teamName = nameBelow(name, teamKey, formerKeys(formerly));
      const guard = scope.removal("teams", `${key}/${teamKey}`);
      const ownArgs = { ...teamArgs, organizationID: organization.id, ...guard };
      const team = new Team(teamName.now, ownArgs, { parent: organization, ...aliasesOf(teamName) });
      teams.set(`${key}/${teamKey}`, team);
      const removal: RemovalOf = (...person) => scope.removal("members", `${key}/${teamKey}`, ...person);
      peopleOf({ name: teamName, parent: team, removal }, { members, roster }, apps);
    }
  }
  return { organizations, teams };
}

type DeclaredTeam = NonNullable<Declaration["organizations"][string]["teams"]>[string];

function peopleOf(
  { name, parent, removal }: Scope & { parent: Team },
  { members = {}, roster }: Pick<DeclaredTeam, "members" | "roster">,
  apps: ByName<GeneratedApp>,
): void {
  const opened = <Args extends { targetInitialApp?: string | { app: string } | undefined }>(declared: Args) => {
    const { targetInitialApp: target, ...rest } = declared;
    return { ...rest, targetInitialApp: typeof target === "object" ? required(apps, target.app).id : target };
  };
  const teamID = parent.id;
  for (const [email, member] of Object.entries(members)) {
    const args = opened(typeof member === "string" ? { role: member } : member);
    // The letter case of an address means nothing, so it must not make another resource.
    const memberName = nameBelow(name, email.toLowerCase());
    new TeamMember(memberName.now, { ...args, teamID, email, ...removal(email) }, { parent, ...aliasesOf(memberName) });
  }
  if (!roster) return;
  const rosterName = nameBelow(name, "roster");
  new TeamRoster(rosterName.now, { ...opened(roster), teamID, ...removal() }, { parent, ...aliasesOf(rosterName) });
}

function seedsOf({ name, parent, removal }: Scope, declared: Declaration, teams: ByName<Team>): ByName<SeedRows> {
  const seeds = new Map<string, SeedRows>();
  const rowsOf = (rows: { seed: string } | { table: string; key: string }): RowsOf =>
    "seed" in rows ? required(seeds, rows.seed) : { table: rows.table, key: rows.key };
  for (const key of declared.seedOrder) {
    const seed = withRowEdits(required(declared.seeds, key));
    const { references, parent: parentRows, teamViewers, formerly, ...args } = seed;
    const linked = Object.entries(references ?? {}).map(([label, rows]) => [label, rowsOf(rows)] as const);
    const viewers = teamViewers?.map((viewer) =>
      typeof viewer === "string" ? viewer : required(teams, viewer.team).id,
    );
    const seedArgs = {
      ...args,
      ...removal("seeds", key),
      ...(references ? { references: Object.fromEntries(linked) } : {}),
      ...(parentRows ? { parent: { rows: rowsOf(parentRows), by: parentRows.by } } : {}),
      ...(viewers ? { teamViewers: viewers } : {}),
      ...(Object.hasOwn(declared.fields, args.table) ? { fields: declared.fields[args.table] } : {}),
    };
    const seedName = nameBelow(name, key, formerKeys(formerly));
    // The file was checked: it has rows or a source.
    seeds.set(key, new SeedRows(seedName.now, seedArgs as SeedRowsArgs, { parent, ...aliasesOf(seedName) }));
  }
  return seeds;
}

/** Looks up a value that the check of the declaration has proven to be there. */
function required<Value>(values: ByName<Value> | Readonly<Record<string, Value>>, key: string): Value {
  const value = values instanceof Map ? (values as ByName<Value>).get(key) : (values as Record<string, Value>)[key];
  if (value === undefined) throw new Error(`"${key}" was checked and is not there`);
  return value;
}

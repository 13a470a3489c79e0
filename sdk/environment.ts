import * as pulumi from "@pulumi/pulumi";
import { declaration, inlineDeclaration, type Declaration } from "../provider/environment/declaration.ts";
import { formerKeys } from "../provider/environment/formerKeys.ts";
import { EnvironmentError } from "../provider/environment/problems.ts";
import { withRowEdits } from "../provider/environment/schema.ts";
import type { SeedRowsArgs } from "./args.ts";
import { nameBelow, rootName, type LogicalName } from "./logicalNames.ts";
import { aliasesBelow, program, type Aliases } from "./program.ts";
import { GeneratedApp, Organization, SeedRows, Team, TeamMember, TeamRoster, type RowsOf } from "./resources.ts";
import { withSupplied } from "./secrecy.ts";
import { optionsBelow, type OptionsBelow } from "./unsupported.ts";

/** Arguments of an Environment: what it declares, in a file or in the program. */
export type EnvironmentArgs =
  | {
      /** Path of the YAML file, relative to the folder in which the program runs. */
      file: string;
      declaration?: undefined;
    }
  | {
      /**
       * What such a file holds. Sources are relative to the folder in which the program runs. Its values may be outputs, but
       * for those that decide which resources there are.
       */
      declaration: Readonly<Record<string, unknown>>;
      file?: undefined;
    };

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
    const { file } = args;
    const declared = declaredIn(args);
    const removal: RemovalOf = (...path) =>
      declared.removals === "declared" && file !== undefined ? { removal: { file, path } } : {};
    super("microapps:index:Environment", name, {}, options);
    tellUndecided(declared, this);
    const below = optionsBelow(options);
    const aliases = aliasesBelow(this);
    const scope: Scope = { name: rootName(name, options), parent: this, removal, aliases, optionsAt: below.at };
    const apps = appsOf(scope, declared);
    const { organizations, teams } = organizationsOf(scope, declared, apps);
    const seeds = seedsOf(scope, declared, teams);
    below.assertUsed();
    this.organizations = collected(organizations, ({ id }) => id);
    this.teams = collected(teams, ({ id }) => id);
    this.seeds = collected(seeds, ({ rowCount }) => rowCount);
    this.apps = collected(apps, ({ ready }) => ready);
    const { organizations: ids, teams: teamIDs, seeds: counts, apps: links } = this;
    this.registerOutputs({ organizations: ids, teams: teamIDs, seeds: counts, apps: links });
  }
}

/** Reads what is declared. Throws a RunError for what is wrong: the runner prints its message without a stack. */
function declaredIn(args: EnvironmentArgs): Declaration {
  checkArgs(args);
  const { file, declaration: content } = args;
  const folder = process.cwd();
  try {
    return withOutputs(
      file === undefined
        ? inlineDeclaration(withSupplied(content), folder, configured)
        : declaration(file, folder, configured),
    );
  } catch (error) {
    throw error instanceof EnvironmentError ? new pulumi.RunError(error.message) : error;
  }
}

/** Throws a RunError for arguments that only a program without types can have, or one in another language. */
function checkArgs({ file, declaration }: Readonly<Partial<Record<"file" | "declaration", unknown>>>): void {
  if ((file === undefined) === (declaration === undefined)) {
    throw new pulumi.RunError(
      `an Environment has ${file === undefined ? "a file or a" : "either a file or a"} declaration: give one of them`,
    );
  }
  if (file !== undefined && typeof file !== "string") throw new pulumi.RunError("file has to be the path of a file");
}

/**
 * Says what a preview can't show. Where no later run would know more, such as in a program, whose outputs nobody knows
 * while it declares, throws a RunError.
 */
function tellUndecided({ undecided }: Declaration, environment: pulumi.Resource): void {
  if (undecided.length === 0) return;
  const what = undecided.join(", ");
  if (program().door === "dynamic" || !pulumi.runtime.isDryRun()) {
    throw new pulumi.RunError(
      `the declaration has outputs that decide which resources there are, of ${what}: give these values as they are`,
    );
  }
  void pulumi.log.warn(
    `not in this preview, since it depends on values that are known later: ${what}. An up declares it all; where it is ` +
      "there already, this preview shows it as deleted.",
    environment,
  );
}

/** A value of the project's own configuration. */
function configured(key: string): { text: string; secret: boolean } | undefined {
  const name = `${pulumi.getProject()}:${key}`;
  const text = pulumi.runtime.getConfig(name);
  // A value counts as a secret where the runtime does not know whether it is one.
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (name: string) => boolean };
  return text === undefined ? undefined : { text, secret: isConfigSecret?.(name) ?? true };
}

/** Puts the program's outputs in their places, and marks the values that come from secrets of the configuration. */
function withOutputs(declared: Declaration): Declaration {
  const replace = (path: readonly string[], output: (value: unknown) => unknown): void => {
    let holder = declared as unknown as Record<string, unknown>; // maps and lists all the way
    for (const step of path.slice(0, -1)) holder = holder[step] as Record<string, unknown>;
    const last = path.at(-1) ?? "";
    holder[last] = output(holder[last]);
  };
  for (const path of declared.secrets) replace(path, (value) => pulumi.secret(value));
  for (const { path, output } of declared.supplied) replace(path, () => output);
  return declared;
}

interface Scope {
  name: LogicalName;
  parent: pulumi.Resource;
  removal: RemovalOf;
  aliases: Aliases;
  optionsAt: OptionsBelow["at"];
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

function appsOf(
  { name, parent, removal, aliases: aliasesOf, optionsAt }: Scope,
  { apps }: Declaration,
): ByName<GeneratedApp> {
  return new Map(
    Object.entries(apps).map(([app, { formerly, ...args }]) => {
      const { now, own, inherited } = nameBelow(name, app, formerKeys(formerly));
      // All of them as its own, so that the wait for the app inherits them in turn.
      const aliases = aliasesOf(["GeneratedApp"], { now, own: [...own, ...inherited], inherited: [] });
      const options = { parent, ...aliases, ...optionsAt(["apps", app]) };
      return [app, new GeneratedApp(now, { ...args, ...removal("apps", app) }, options)] as const;
    }),
  );
}

function organizationsOf(
  scope: Scope,
  declared: Declaration,
  apps: ByName<GeneratedApp>,
): { organizations: ByName<Organization>; teams: ByName<Team> } {
  const { aliases: aliasesOf, optionsAt } = scope;
  const organizations = new Map<string, Organization>();
  const teams = new Map<string, Team>();
  for (const [key, { teams: declaredTeams = {}, formerly, ...args }] of Object.entries(declared.organizations)) {
    const name = nameBelow(scope.name, key, formerKeys(formerly));
    const organizationArgs = { ...args, ...scope.removal("organizations", key) };
    const organization = new Organization(name.now, organizationArgs, {
      parent: scope.parent,
      ...aliasesOf(["Organization"], name),
      ...optionsAt(["organizations", key], ["teams"]),
    });
    organizations.set(key, organization);
    for (const [teamKey, { members = {}, roster, formerly, ...teamArgs }] of Object.entries(declaredTeams)) {
      const teamName = nameBelow(name, teamKey, formerKeys(formerly));
      const place = ["organizations", key, "teams", teamKey];
      const guard = scope.removal("teams", `${key}/${teamKey}`);
      const ownArgs = { ...teamArgs, organizationID: organization.id, ...guard };
      const team = new Team(teamName.now, ownArgs, {
        parent: organization,
        ...aliasesOf(["Organization", "Team"], teamName),
        ...optionsAt(place, ["members", "roster"]),
      });
      teams.set(`${key}/${teamKey}`, team);
      const removal: RemovalOf = (...person) => scope.removal("members", `${key}/${teamKey}`, ...person);
      const ofTeam: OptionsBelow["at"] = (below) => optionsAt([...place, ...below]);
      const inTeam = { name: teamName, parent: team, removal, aliases: aliasesOf, optionsAt: ofTeam };
      peopleOf(inTeam, { members, roster }, apps);
    }
  }
  return { organizations, teams };
}

type DeclaredTeam = NonNullable<Declaration["organizations"][string]["teams"]>[string];

function peopleOf(
  { name, parent, removal, aliases, optionsAt }: Scope & { parent: Team },
  { members = {}, roster }: Pick<DeclaredTeam, "members" | "roster">,
  apps: ByName<GeneratedApp>,
): void {
  const opened = <Args extends { targetInitialApp?: string | { app: string } | undefined }>(declared: Args) => {
    const { targetInitialApp: target, ...rest } = declared;
    return { ...rest, targetInitialApp: isID(target) ? target : required(apps, target.app).id };
  };
  const teamID = parent.id;
  const optionsOf = (kind: string, name: LogicalName, ...place: string[]): pulumi.CustomResourceOptions => ({
    parent,
    ...aliases(["Organization", "Team", kind], name),
    ...optionsAt(place),
  });
  for (const [email, member] of Object.entries(members)) {
    // A role that is an output stands there as the text that it will be.
    const isRole = typeof member === "string" || pulumi.Output.isInstance(member);
    const args = opened(isRole ? { role: member as "admin" } : member);
    // The letter case of an address means nothing, so it must not make another resource.
    const memberName = nameBelow(name, email.toLowerCase());
    const options = optionsOf("TeamMember", memberName, "members", email);
    new TeamMember(memberName.now, { ...args, teamID, email, ...removal(email) }, options);
  }
  if (!roster) return;
  const rosterName = nameBelow(name, "roster");
  const options = optionsOf("TeamRoster", rosterName, "roster");
  new TeamRoster(rosterName.now, { ...opened(roster), teamID, ...removal() }, options);
}

function seedsOf(
  { name, parent, removal, aliases, optionsAt }: Scope,
  declared: Declaration,
  teams: ByName<Team>,
): ByName<SeedRows> {
  const seeds = new Map<string, SeedRows>();
  const rowsOf = (rows: { seed: string } | { table: string; key: string }): RowsOf =>
    "seed" in rows ? required(seeds, rows.seed) : { table: rows.table, key: rows.key };
  for (const key of declared.seedOrder) {
    const seed = withRowEdits(required(declared.seeds, key));
    const { references, parent: parentRows, teamViewers, formerly, ...args } = seed;
    const linked = Object.entries(references ?? {}).map(([label, rows]) => [label, rowsOf(rows)] as const);
    const viewers = teamViewers?.map((viewer) => (isID(viewer) ? viewer : required(teams, viewer.team).id));
    const seedArgs = {
      ...args,
      ...removal("seeds", key),
      ...(references ? { references: Object.fromEntries(linked) } : {}),
      ...(parentRows ? { parent: { rows: rowsOf(parentRows), by: parentRows.by } } : {}),
      ...(viewers ? { teamViewers: viewers } : {}),
      ...(Object.hasOwn(declared.fields, args.table) ? { fields: declared.fields[args.table] } : {}),
    };
    const seedName = nameBelow(name, key, formerKeys(formerly));
    const options = { parent, ...aliases(["SeedRows"], seedName), ...optionsAt(["seeds", key]) };
    // The file was checked: it has rows or a source.
    seeds.set(key, new SeedRows(seedName.now, seedArgs as SeedRowsArgs, options));
  }
  return seeds;
}

/** Whether it is an ID, or an output that will be one, and no reference to something of the file. */
const isID = (value: string | object | undefined): value is string | undefined =>
  typeof value !== "object" || pulumi.Output.isInstance(value);

/** Looks up a value that the check of the declaration has proven to be there. */
function required<Value>(values: ByName<Value> | Readonly<Record<string, Value>>, key: string): Value {
  const value = values instanceof Map ? (values as ByName<Value>).get(key) : (values as Record<string, Value>)[key];
  if (value === undefined) throw new Error(`"${key}" was checked and is not there`);
  return value;
}

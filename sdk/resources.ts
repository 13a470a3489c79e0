import * as pulumi from "@pulumi/pulumi";
import { answerRemoved } from "../machine/removed.ts";
import { isObject } from "../platform/contract/wire.ts";
import { toHiddenName, typeThrough } from "../provider/pulumi/names.ts";
import { keyRows, unknownValue, withSecretCells } from "../provider/pulumi/properties.ts";
import { appReadiness } from "../provider/resources/appReadiness.ts";
import { factsOf } from "../provider/resources/common.ts";
import { generatedApp } from "../provider/resources/generatedApp.ts";
import { notification } from "../provider/resources/notification.ts";
import { organization } from "../provider/resources/organization.ts";
import { rowFile } from "../provider/resources/rowFile.ts";
import { seedRows } from "../provider/resources/seedRows.ts";
import { team } from "../provider/resources/team.ts";
import { teamMember } from "../provider/resources/teamMember.ts";
import { teamRoster } from "../provider/resources/teamRoster.ts";
import type {
  AppReadinessArgs,
  AppReadinessOutputs,
  NotificationArgs,
  NotificationOutputs,
  OrganizationArgs,
  OrganizationOutputs,
  RowFileArgs,
  RowFileOutputs,
  SeedRowsArgs,
  SeedRowsOutputs,
  TeamArgs,
  TeamOutputs,
  TeamMemberArgs,
  TeamMemberOutputs,
  TeamRosterArgs,
  TeamRosterOutputs,
  GeneratedAppArgs,
  GeneratedAppOutputs,
} from "./args.ts";
import { other, program } from "./program.ts";
import { declareClass } from "./resource.ts";
import type { LinkedSeed, RowsOf } from "./resourceClass.ts";
import { isLater, programMarks } from "./secrecy.ts";
import { othersOf } from "./siblings.ts";
import { declareInTeam, namesIn } from "./teamDeclarations.ts";

/** An organization. `id` is its ID on the platform; a new name updates it in place. */
export class Organization extends declareClass<OrganizationArgs, OrganizationOutputs>(organization) {}

/** A team of an organization. `id` is its ID on the platform; another `organizationID` replaces it. */
export class Team extends declareClass<TeamArgs, TeamOutputs>(team) {}

/** A user's membership of a team. An unknown e-mail address is invited. */
export class TeamMember extends declareClass<TeamMemberArgs, TeamMemberOutputs>(teamMember) {
  constructor(name: string, args: TeamMemberArgs, options?: pulumi.CustomResourceOptions) {
    declareInTeam({ kind: "TeamMember", name, people: [args.email ?? args.userID], excludes: false }, args.teamID);
    super(name, args, options);
  }
}

/** All members of a team by e-mail address: removes who is not declared, unless a guard refuses it. */
export class TeamRoster extends declareClass<TeamRosterArgs, TeamRosterOutputs>(teamRoster) {
  constructor(name: string, args: TeamRosterArgs, options?: pulumi.CustomResourceOptions) {
    const excludes = args.mode === undefined || args.mode === "authoritative";
    declareInTeam({ kind: "TeamRoster", name, people: namesIn(args.members), excludes }, args.teamID);
    super(name, args, options);
  }
}

/** Gone: declare the members of each team in a TeamRoster. A program that makes one is told so. */
export function UserTeams(): never {
  throw new Error(answerRemoved("inputs", "UserTeams"));
}

/** Waits for the generation of an app. GeneratedApp declares it, unless `wait` is "none". */
export class AppReadiness extends declareClass<AppReadinessArgs, AppReadinessOutputs>(appReadiness) {}

/**
 * Rows of a data table from a file or from the program: inserted, updated and removed as the source has them.
 * `SeedRows<Country>` takes the rows of a type, such as `microapps table schema` writes: a wrong cell does not compile.
 */
export class SeedRows<Row extends object = Record<string, unknown>> extends declareClass<object, SeedRowsOutputs>(
  seedRows,
) {
  constructor(name: string, args: SeedRowsArgs<Row>, options?: pulumi.CustomResourceOptions) {
    const { references, parent, ...rest } = args;
    // A cell turns out to be secret later. The plugin sees it by itself.
    const { rows, additions, changes, removals } = withSecretCells(seedRows, { ...args }, programMarks).open;
    const isDynamic = program().providerKind === "dynamic";
    const mayBeSecret = args.sensitive !== undefined || isLater([rows, additions, changes, removals]);
    const linked = Object.entries(references ?? {}).map(([label, rows]) => [label, keyed(rows)] as const);
    const parentRows = parent && ("rows" in parent ? parent.rows : parent);
    const by = typeof parent?.by === "string" ? parent.by : "";
    const links = [...Object.entries(references ?? {}), ...(parentRows ? [[by, parentRows] as const] : [])];
    super(
      name,
      {
        ...rest,
        ...withTables(rest),
        ...keyRows(seedRows, rest, programMarks),
        ...(references ? { references: Object.fromEntries(linked) } : {}),
        ...(parent && parentRows ? { parent: { ...keyed(parentRows), by: parent.by } } : {}),
        ...(isDynamic ? { salt: unsalted() } : {}),
        ...seedsOf([...relatedSeeds(rest), ...links]),
        ...othersOf(name, { ...args }, plainLinks(links), options),
      },
      isDynamic && mayBeSecret ? pulumi.mergeOptions(options, { additionalSecretOutputs: [...labelOutputs] }) : options,
    );
    const [key] = [args.key].flat();
    if (typeof args.table === "string" && typeof key === "string") places.set(this, { table: args.table, key });
  }
}

/** Outputs that name labels, under the names that an engine gets. */
const labelOutputs = Object.entries(seedRows.outputs.shape).flatMap(([name, schema]) => {
  const { secretIf, opaque } = factsOf(schema);
  return secretIf === undefined ? [] : [opaque ? toHiddenName(name) : name];
});

const isSeed = (rows: unknown): rows is LinkedSeed => rows instanceof SeedRows;

/** Seeds that an Environment has in place of the tables of `expect.relationships`, by label. */
function relatedSeeds({ expect }: { expect?: unknown }): (readonly [label: string, rows: LinkedSeed])[] {
  const related = isObject(expect) && isObject(expect["relationships"]) ? expect["relationships"] : {};
  return Object.entries(related).flatMap(([label, rows]) => (isSeed(rows) ? [[label, rows] as const] : []));
}

/** The expectations with the tables of these seeds. */
function withTables(args: { expect?: unknown }): { expect?: object } {
  const seeds = relatedSeeds(args);
  if (seeds.length === 0) return {};
  const { expect } = args as { expect: { relationships: object } };
  const tables = Object.fromEntries(seeds.map(([label, rows]) => [label, keyed(rows)]));
  return { expect: { ...expect, relationships: { ...expect.relationships, ...tables } } };
}

/** The table and key of seeds, where the program has them as plain texts. */
const places = new WeakMap<LinkedSeed, { table: string; key: string }>();

/** Where links lead to, by label, as far as that is known before anything is sent. */
function plainLinks(links: readonly (readonly [label: string, rows: RowsOf])[]) {
  const known = links.flatMap(([label, rows]) => {
    const { table, key } = (isSeed(rows) ? places.get(rows) : rows) ?? {};
    return typeof table === "string" && typeof key === "string" ? [[label, { table, key }] as const] : [];
  });
  return Object.fromEntries(known);
}

/**
 * As a secret here, the salt that check makes stays a secret of the state. An up draws it at random, so no preview knows
 * it. A plugin gets random bytes from the engine.
 */
const unsalted = (): pulumi.Output<string> => pulumi.secret(pulumi.runtime.isDryRun() ? unknownValue : "");

/** The seeds that links lead to, and how often their rows were recreated: recreated rows have other IDs. */
function seedsOf(links: readonly (readonly [label: string, rows: RowsOf])[]) {
  const seeds = links.flatMap(([label, rows]) => (isSeed(rows) ? [[label, rows] as const] : []));
  if (seeds.length === 0) return {};
  return {
    linkedSeeds: pulumi.all(Object.fromEntries(seeds.map(([label, { urn }]) => [label, urn]))),
    linkRenewals: pulumi.all(
      Object.fromEntries(seeds.map(([label, { renewals }]) => [label, renewals.apply((times) => times ?? 0)])),
    ),
  };
}

/** A table and its key. As outputs of a seed they make this seed depend on it, and are known in a preview. */
function keyed(rows: RowsOf): { table: pulumi.Input<string>; key: pulumi.Input<string> } {
  return isSeed(rows) ? { table: rows.table, key: rows.key.apply((key) => key[0] ?? "") } : rows;
}

/** A message to a user about an app: sent once, and again whenever its triggers change. */
export class Notification extends declareClass<NotificationArgs, NotificationOutputs>(notification) {}

/** A file or image on a field of a row; the natural key names the row. Declare it with `dependsOn` the row's seed. */
export class RowFile extends declareClass<RowFileArgs, RowFileOutputs>(rowFile) {}

/** An app generated from a text. A failed generation fails the wait for it. */
export class GeneratedApp extends declareClass<object, GeneratedAppOutputs>(generatedApp) {
  /** Link to the finished app; known once the app is ready, with `wait: "none"` once the generation has started. */
  readonly ready: pulumi.Output<string>;

  constructor(name: string, args: GeneratedAppArgs, options?: pulumi.CustomResourceOptions) {
    const { wait = "ready", timeout, statusWords, ...rest } = args;
    super(name, rest, options);
    if (wait === "none") {
      this.ready = this.appLink;
      return;
    }
    const readiness = new AppReadiness(
      `${name}-ready`,
      { appID: this.id, ...(timeout ? { timeout } : {}), ...(statusWords ? { statusWords } : {}) },
      {
        parent: this,
        // Its own former type, where the app has one.
        ...(options?.aliases?.length
          ? { aliases: [{ type: typeThrough(other(program().providerKind), "AppReadiness") }] }
          : {}),
      },
    );
    this.ready = pulumi.all([this.appLink, readiness.status]).apply(([link]) => link);
  }
}

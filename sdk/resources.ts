import * as pulumi from "@pulumi/pulumi";
import { unknownValue } from "../provider/pulumi/properties.ts";
import { appReadiness } from "../provider/resources/appReadiness.ts";
import { generatedApp } from "../provider/resources/generatedApp.ts";
import { notification } from "../provider/resources/notification.ts";
import { organization } from "../provider/resources/organization.ts";
import { rowFile } from "../provider/resources/rowFile.ts";
import { seedRows } from "../provider/resources/seedRows.ts";
import { team } from "../provider/resources/team.ts";
import { teamMember } from "../provider/resources/teamMember.ts";
import { teamRoster } from "../provider/resources/teamRoster.ts";
import { userTeams } from "../provider/resources/userTeams.ts";
import { declared, type Args } from "./resource.ts";
import { isLater } from "./secrecy.ts";
import { keyedRows, withSecretCells } from "./secretCells.ts";
import { siblingsOf } from "./siblings.ts";
import { declareInTeam, namesIn } from "./teamDeclarations.ts";

/** An organization. `id` is its ID on the platform; a rename is an update in place. */
export class Organization extends declared(organization) {}

/** A team of an organization. `id` is its ID on the platform; another organization makes a new team. */
export class Team extends declared(team) {}

type MemberInputs = Args<typeof teamMember.inputs>;

/** What TeamMember is declared with: the user by e-mail address or by ID. */
export type TeamMemberArgs = Omit<MemberInputs, "email" | "userID"> & Either<MemberInputs, "email", "userID">;

/** A user's membership of a team, by e-mail address (an unknown one is invited) or user ID. */
export class TeamMember extends declared(teamMember) {
  constructor(name: string, args: TeamMemberArgs, options?: pulumi.CustomResourceOptions) {
    declareInTeam({ kind: "TeamMember", name, people: [args.email ?? args.userID], excludes: false }, args.teamID);
    super(name, args, options);
  }
}

/** What TeamRoster is declared with. */
export type TeamRosterArgs = Omit<Args<typeof teamRoster.inputs>, "sensitive">;

/** The members of a team as one list, by e-mail address: who is not declared is removed, within guards. */
export class TeamRoster extends declared(teamRoster) {
  constructor(name: string, args: TeamRosterArgs, options?: pulumi.CustomResourceOptions) {
    const excludes = args.mode === undefined || args.mode === "authoritative";
    declareInTeam({ kind: "TeamRoster", name, people: namesIn(args.members), excludes }, args.teamID);
    super(name, args, options);
  }
}

/** A user's teams: exactly these, so of all others the user is taken out. */
export class UserTeams extends declared(userTeams) {}

/** The wait for a generated app. GeneratedApp declares it unless it is told not to wait. */
export class AppReadiness extends declared(appReadiness) {}

/** Where linked rows and parent rows are found: a seed, or a table with the label of its key. */
export type RowsOf = SeedRows | { table: pulumi.Input<string>; key: pulumi.Input<string> };

/** Exactly one of two arguments: both, or none, is wrong in the editor already. */
type Either<All, One extends keyof All, Other extends keyof All> =
  | ({ [Name in One]-?: Exclude<All[Name], undefined> } & { [Name in Other]?: undefined })
  | ({ [Name in Other]-?: Exclude<All[Name], undefined> } & { [Name in One]?: undefined });

type SeedInputs = Args<typeof seedRows.inputs>;

/** What SeedRows is declared with: rows from the program or from a source. */
export type SeedRowsArgs = SeedSettings & Either<SeedInputs, "rows", "source">;

interface SeedSettings extends Omit<
  SeedInputs,
  | "rows"
  | "source"
  | "references"
  | "parent"
  | "salt"
  | "digest"
  | "fingerprint"
  | "keys"
  | "linkRenewals"
  | "linkedSeeds"
  | "siblings"
  | "fields"
> {
  /** Linked-table labels whose values are keys of rows in another table. */
  references?: Record<string, RowsOf>;
  /** For a sub-table: the parent rows, and the column of the source that holds the parent's key. */
  parent?: { rows: RowsOf; by: string };
}

/** Rows of a data table from a file or from the program: inserted, updated and removed as the source has them. */
export class SeedRows extends declared(seedRows) {
  constructor(name: string, args: SeedRowsArgs, options?: pulumi.CustomResourceOptions) {
    const { references, parent, ...rest } = args;
    // Whether they are is known later.
    const { rows, additions, changes, removals } = withSecretCells(seedRows, { ...args }).open;
    const mayBeSecret = args.sensitive !== undefined || isLater([rows, additions, changes, removals]);
    const linked = Object.entries(references ?? {}).map(([label, rows]) => [label, keyed(rows)] as const);
    const links = [...Object.entries(references ?? {}), ...(parent ? [[parent.by, parent.rows] as const] : [])];
    super(
      name,
      {
        ...rest,
        ...keyedRows(seedRows, rest),
        ...(references ? { references: Object.fromEntries(linked) } : {}),
        ...(parent ? { parent: { ...keyed(parent.rows), by: parent.by } } : {}),
        // What check makes of it stays a secret of the state because the program has one of that name. What an up will
        // choose at random no preview knows.
        salt: pulumi.secret(pulumi.runtime.isDryRun() ? unknownValue : ""),
        ...seedsOf(links),
        siblings: siblingsOf(name, { ...args }, options),
      },
      mayBeSecret ? pulumi.mergeOptions(options, { additionalSecretOutputs: ["labels"] }) : options,
    );
  }
}

/** The seeds that links lead to, and how often their rows were made anew: what is made anew has other IDs. */
function seedsOf(links: readonly (readonly [label: string, rows: RowsOf])[]) {
  const seeds = links.flatMap(([label, rows]) => (rows instanceof SeedRows ? [[label, rows] as const] : []));
  if (seeds.length === 0) return {};
  return {
    linkedSeeds: pulumi.all(Object.fromEntries(seeds.map(([label, { urn }]) => [label, urn]))),
    linkRenewals: pulumi.all(
      Object.fromEntries(seeds.map(([label, { renewals }]) => [label, renewals.apply((times) => times ?? 0)])),
    ),
  };
}

/** A table and its key. As outputs of a seed they say what has to be there first, and yet are known in a preview. */
function keyed(rows: RowsOf): { table: pulumi.Input<string>; key: pulumi.Input<string> } {
  return rows instanceof SeedRows ? { table: rows.table, key: rows.key.apply((key) => key[0] ?? "") } : rows;
}

/** A message to a user about an app: sent once, and again whenever its triggers change. */
export class Notification extends declared(notification) {}

/** A file or image on a field of a row, which is named by its natural key. Declare it to depend on the row's seed. */
export class RowFile extends declared(rowFile) {}

/** What GeneratedApp is declared with. */
export interface GeneratedAppArgs extends Args<typeof generatedApp.inputs> {
  /** Whether `ready` waits until the generation has ended. Default: "ready". */
  wait?: "ready" | "none";
  /** Seconds to wait at most. Default: 1800. */
  timeout?: pulumi.Input<number>;
  /** What the platform's own status words mean: word → pending, ready or failed. */
  statusWords?: pulumi.Input<Record<string, "pending" | "ready" | "failed">>;
}

/** An app generated from a text. `ready` has the link to the app once the generation has ended. */
export class GeneratedApp extends declared(generatedApp) {
  /** Link to the finished app, known when it is ready; with `wait: "none"` as soon as the generation has started. */
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
      { parent: this },
    );
    this.ready = pulumi.all([this.appLink, readiness.status]).apply(([link]) => link);
  }
}

import { toPerson } from "../people/people.ts";
import type { Expectations } from "../seedRows/inputs.ts";
import { type Declaration, type Formerly, formerKeys, formerUrns } from "./declaration.ts";
import { linksIn, listAdding, type SeedDeclaration, withRowEdits } from "./schema.ts";

/** The types of resources that an Environment makes. */
export const kinds = [
  "GeneratedApp",
  "AppReadiness",
  "Organization",
  "Team",
  "TeamMember",
  "TeamRoster",
  "SeedRows",
  "RowFile",
  "Notification",
] as const;

/** Where a link leads to: another thing, by its key, or to an ID that the file has. */
export interface Link {
  of?: string;
  id?: string;
}

/** One resource that an Environment becomes. */
export interface DeclaredThing {
  kind: (typeof kinds)[number];
  /** Its present and former name below the Environment. */
  name: LogicalName;
  /** Type and name, as others name it. */
  key: string;
  /** Its inputs, links left out. */
  inputs: Readonly<Record<string, unknown>>;
  /** Inputs that are the ID of another thing, or a list of them if `isList` is set. */
  links: Readonly<Record<string, Link[]>>;
  /** Keys of the seeds whose rows a seed refers to, by label; those of its parent rows by their column. */
  seeds: Readonly<Record<string, string>>;
  /** Keys of the seeds that add rows which a seed updates or names by their table. */
  after: readonly string[];
  /** Where it stands in the file. */
  path: readonly string[];
  /** Names at that place that are things of their own. */
  others: readonly string[];
  /** The thing that it is below; none for what is directly below the Environment. */
  above?: string;
  /** True if it stays on the platform when it leaves the file, or what it is in does. */
  retain?: boolean;
}

type Stated = Pick<DeclaredThing, "kind" | "name" | "inputs" | "path"> &
  Partial<Pick<DeclaredThing, "links" | "seeds" | "after" | "others" | "above">> & { retain?: boolean | undefined };

const thing = (top: LogicalName, { retain, ...own }: Stated): DeclaredThing => ({
  links: {},
  seeds: {},
  after: [],
  others: [],
  ...own,
  ...(retain ? { retain } : {}),
  key: `${own.kind} ${own.name.now.slice(top.now.length + 1)}`,
});

/** Source of the things. A program's outputs stand in it as values. */
type Declared = Pick<Declaration, "organizations" | "seeds" | "seedOrder" | "apps" | "notifications" | "fields">;

/** All that an Environment becomes, in the order of registration: the one place that knows it. */
export function things(declared: Declared, top = topName("")): DeclaredThing[] {
  return [
    ...appsOf(declared, top),
    ...organizationsOf(declared, top),
    ...seedsOf(declared, top),
    ...notificationsOf(declared, top),
  ];
}

function appsOf({ apps }: Declared, top: LogicalName): DeclaredThing[] {
  return Object.entries(apps).flatMap(([key, { formerly, wait = "ready", timeout, statusWords, ...inputs }]) => {
    const name = nameBelow(top, key, formerly);
    const at = { path: ["apps", key] };
    const app = thing(top, { kind: "GeneratedApp", name, inputs, ...at });
    if (wait === "none") return [app];
    const ready = (each: string): string => `${each}-ready`;
    const waiting: LogicalName = {
      now: ready(name.now),
      own: name.own.map(ready),
      inherited: name.inherited.map(ready),
    };
    const links = { appID: [{ of: app.key }] };
    const waits = thing(top, { kind: "AppReadiness", name: waiting, inputs: { timeout, statusWords }, links, ...at });
    return [app, { ...waits, above: app.key }];
  });
}

function organizationsOf({ organizations }: Declared, top: LogicalName): DeclaredThing[] {
  return Object.entries(organizations).flatMap(([key, { teams = {}, formerly, retain, ...inputs }]) => {
    const name = nameBelow(top, key, formerly);
    const path = ["organizations", key];
    const own = thing(top, { kind: "Organization", name, inputs, path, others: ["teams"], retain });
    return [own, ...Object.entries(teams).flatMap(([teamKey, team]) => teamOf(top, own, teamKey, team))];
  });
}

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

function teamOf(
  top: LogicalName,
  organization: DeclaredThing,
  key: string,
  { members = {}, roster, formerly, retain, ...inputs }: Team,
): DeclaredThing[] {
  const { path: above } = organization;
  const team = thing(top, {
    kind: "Team",
    name: nameBelow(organization.name, key, formerly),
    inputs,
    links: { organizationID: [{ of: organization.key }] },
    path: [...above, "teams", key],
    others: ["members", "roster"],
    above: organization.key,
    retain: retain ?? organization.retain,
  });
  const people = Object.entries(members).map(([member, stated]) => {
    // A role alone; one that is an output is no plain map either.
    const { formerly: was, ...settings } = isPlainMap(stated) ? stated : { role: stated, formerly: undefined };
    const path = [...team.path, "members", member];
    const who = toPerson(member);
    // The letter case of an address means nothing, so it must not make another resource.
    const name = nameBelow(team.name, who.email?.toLowerCase() ?? member, was);
    return inTeam(top, team, { kind: "TeamMember", name, path }, { ...settings, ...who });
  });
  if (!roster) return [team, ...people];
  const name = nameBelow(team.name, "roster", roster.formerly);
  return [
    team,
    ...people,
    inTeam(top, team, { kind: "TeamRoster", name, path: [...team.path, "roster"] }, rosterInputs(roster)),
  ];
}

/** A roster with roles and last days apart, as the resource has them. */
function rosterInputs({ members, formerly: _, ...roster }: NonNullable<Team["roster"]>): Record<string, unknown> {
  if (!members) return roster;
  const people = Object.entries(members).map(([name, one]) => [name, isPlainMap(one) ? one : { role: one }] as const);
  const ends = people.flatMap(([name, { until }]) => (until === undefined ? [] : [[name, until] as const]));
  return {
    ...roster,
    members: Object.fromEntries(people.map(([name, { role }]) => [name, role])),
    ...(ends.length > 0 ? { until: Object.fromEntries(ends) } : {}),
  };
}

function inTeam(
  top: LogicalName,
  { key: above, retain: isRetained }: DeclaredThing,
  own: Pick<DeclaredThing, "kind" | "name" | "path">,
  settings: { readonly [name: string]: unknown; targetInitialApp?: unknown; retain?: unknown },
): DeclaredThing {
  const { targetInitialApp: target, retain, ...inputs } = settings;
  const links = { teamID: [{ of: above }], ...(target === undefined ? {} : { targetInitialApp: [linkTo(target)] }) };
  return thing(top, { ...own, inputs, links, above, retain: typeof retain === "boolean" ? retain : isRetained });
}

/** An app or a team of the file goes by its key, whatever it was called before. */
function linkTo(target: unknown): Link {
  if (isPlainMap(target) && typeof target["app"] === "string") return { of: `GeneratedApp ${target["app"]}` };
  if (isPlainMap(target) && typeof target["team"] === "string") return { of: `Team ${target["team"]}` };
  return { id: target as string }; // or an output that will be one
}

/** True if it is a map of the file, and no output. */
const isPlainMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function seedsOf({ seeds, seedOrder, fields }: Declared, top: LogicalName): DeclaredThing[] {
  return seedOrder.flatMap((key, index) => {
    const seed = seeds[key];
    if (!seed) return [];
    const adding = listAdding(key, seeds);
    const { formerly, retain, teamViewers, references = {}, parent, expect, files = {}, ...own } = withRowEdits(seed);
    const linked = Object.entries(references).map(([label, rows]) => [label, resolved(rows, seeds)] as const);
    const inputs = {
      ...own,
      ...(seed.references ? { references: Object.fromEntries(linked) } : {}),
      ...(parent ? { parent: { ...resolved(parent, seeds), by: parent.by } } : {}),
      ...(expect ? { expect: resolveExpectations(expect, seeds) } : {}),
      ...(Object.hasOwn(fields, own.table) ? { fields: fields[own.table] } : {}),
    };
    const at = { path: ["seeds", key], others: ["files"] };
    const rows = thing(top, {
      kind: "SeedRows",
      name: nameBelow(top, key, formerly),
      inputs,
      links: teamViewers ? { teamViewers: teamViewers.map(linkTo) } : {},
      seeds: Object.fromEntries(
        linksIn(seed).flatMap(({ label, to }) => ("seed" in to ? [[label, `SeedRows ${to.seed}`] as const] : [])),
      ),
      after: seedOrder.slice(0, index).flatMap((other) => (adding.includes(other) ? [`SeedRows ${other}`] : [])),
      ...at,
      retain,
    });
    return [rows, ...Object.entries(files).map(([name, file]) => fileOf(top, rows, seed, name, file))];
  });
}

type RowFileDeclaration = NonNullable<SeedDeclaration["files"]>[string];

function fileOf(
  top: LogicalName,
  { name: above, key: seed, path, retain: isRetained }: DeclaredThing,
  { table, key: labels }: SeedDeclaration,
  key: string,
  { row, formerly, retain = isRetained, ...own }: RowFileDeclaration,
): DeclaredThing {
  const cells = Array.isArray(row) ? row : [row];
  const inputs = { ...own, table, row: Object.fromEntries(labels.map((label, at) => [label, cells[at]])) };
  const name = nameBelow(above, key, formerly);
  return thing(top, { kind: "RowFile", name, inputs, path: [...path, "files", key], above: seed, retain });
}

function notificationsOf({ notifications }: Declared, top: LogicalName): DeclaredThing[] {
  return Object.entries(notifications).map(([key, { formerly, appID, ...inputs }]) =>
    thing(top, {
      kind: "Notification",
      name: nameBelow(top, key, formerly),
      inputs,
      links: { appID: [linkTo(appID)] },
      path: ["notifications", key],
    }),
  );
}

/** Replaces seeds that are expected to have values by their tables and keys. */
function resolveExpectations(
  { relationships, ...expect }: NonNullable<SeedDeclaration["expect"]>,
  seeds: Readonly<Record<string, SeedDeclaration>>,
): Expectations {
  if (!relationships) return expect;
  const all = Object.entries(relationships).map(([label, rows]) => [label, resolved(rows, seeds)] as const);
  return { ...expect, relationships: Object.fromEntries(all) };
}

/** Replaces a reference to another seed of the file by that seed's table and key. */
function resolved(
  rows: { seed: string } | { table: string; key: string },
  seeds: Readonly<Record<string, SeedDeclaration>>,
): { table: string; key: string } {
  if (!("seed" in rows)) return { table: rows.table, key: rows.key };
  const named = seeds[rows.seed];
  return { table: named?.table ?? "", key: named?.key[0] ?? "" };
}

/**
 * Keys of the things that another one waits for: those that may invite the viewers of a seed or the recipient of a
 * notification, those that add rows which a seed updates or names, the seed of a file, and the app of a notification.
 */
export const listAwaited = (thing: DeclaredThing, all: readonly DeclaredThing[]): string[] => [
  ...listInviting(thing, all),
  ...thing.after,
  ...(thing.kind === "RowFile" && thing.above !== undefined ? [thing.above] : []),
  ...(thing.kind === "Notification" ? listReady(thing, all) : []),
];

const listReady = ({ links }: DeclaredThing, all: readonly DeclaredThing[]): string[] =>
  all
    .filter(({ kind, above }) => kind === "AppReadiness" && links["appID"]?.some(({ of }) => of === above))
    .map(({ key }) => key);

function listInviting({ kind, inputs }: DeclaredThing, all: readonly DeclaredThing[]): string[] {
  const { viewers, userID, email } = inputs;
  const names = [...(Array.isArray(viewers) ? (viewers as unknown[]) : []), userID, email];
  const addresses = names.flatMap((name) =>
    typeof name === "string" && name.includes("@") ? [name.toLowerCase()] : [],
  );
  if (!["SeedRows", "Notification"].includes(kind) || addresses.length === 0) return [];
  const isNamed = (address: unknown): boolean =>
    typeof address === "string" && addresses.includes(address.toLowerCase());
  const invites = ({ kind, inputs: { email, members } }: DeclaredThing): boolean =>
    kind === "TeamMember"
      ? isNamed(email)
      : kind === "TeamRoster" && (!isPlainMap(members) || Object.keys(members).some(isNamed));
  return all.filter(invites).map(({ key }) => key);
}

/** Inputs that are lists of IDs. */
const lists: readonly string[] = ["teamViewers"];

/** The inputs that links are, as IDs that are found for them. */
export const listLinkedInputs = <ID>(
  { links }: DeclaredThing,
  idOf: (link: Link) => ID,
): Record<string, ID | undefined | ID[]> =>
  Object.fromEntries(
    Object.entries(links).map(([name, all]) => [name, lists.includes(name) ? all.map(idOf) : all.map(idOf)[0]]),
  );

/**
 * Name of a resource in the stack, and the names that it had before, from its own former keys and its parents'.
 * An alias differs from the URN in its name alone, since a URN has the types of the parents and not their names.
 */
export interface LogicalName {
  now: string;
  /** Former names that the resource needs aliases for. */
  own: readonly string[];
  /** Former names that need none: the SDK derives them from the aliases of the parent. */
  inherited: readonly string[];
  /** URNs of resources that were this one, in any stack. */
  urns?: readonly string[];
}

/** The name of the component that all others are below. */
export const topName = (now: string, own: readonly string[] = []): LogicalName => ({ now, own, inherited: [] });

/**
 * The name of a resource below a parent. The SDK derives aliases from the parent's own, but not from those that the
 * parent has inherited: these become aliases here. Others must not, because the SDK would derive from them once more.
 */
function nameBelow(parent: LogicalName, key: string, formerly?: Formerly): LogicalName {
  const former = formerKeys(formerly);
  const keys = [key, ...former];
  const below = (names: readonly string[]): string[] => names.flatMap((name) => keys.map((each) => `${name}/${each}`));
  return {
    now: `${parent.now}/${key}`,
    own: [...former.map((each) => `${parent.now}/${each}`), ...below(parent.inherited)],
    inherited: below(parent.own),
    urns: formerUrns(formerly),
  };
}

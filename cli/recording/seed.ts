import { allMembers } from "../../provider/contract/teams.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { KnownOrganization, KnownTeam, KnownUser } from "./directory.ts";
import { fieldsOf } from "./fields.ts";
import type { Known } from "./known.ts";
import type { Replacer } from "./privacy/replacer.ts";
import type { RowValues } from "./shapes.ts";
import type { KnownRow, KnownTable } from "./tables.ts";

/** Parts of a YAML document that a reader of seeds takes, with room for what is not counted. */
const maxParts = 80_000;

const partsOf = (value: unknown): number =>
  isObject(value) || Array.isArray(value)
    ? Object.values(value).reduce<number>((sum, inner) => sum + 2 + partsOf(inner), 1)
    : 1;

/** Placeholders for passwords and the key: a seed contains them, and an emulator accepts them. */
export const logsInWith = { password: "recorded", apiKey: "recorded-key" };

/** IDs of tables and fields that a seed may have. */
const isKey = (text: string): boolean => /^[\w.-]{1,100}$/.test(text);

/** A platform seed, and what of the platform it could not have. */
export interface MadeSeed {
  seed: Json;
  administrator: string | undefined;
  /** Rows in it. */
  rows: number;
  omitted: { rows: number; tables: number };
}

/** Makes a seed of what is known of a platform. */
export function seedOf(known: Known, replacer: Replacer, values: RowValues): MadeSeed {
  const { people, tables } = known;
  const all = [...tables.all.values()].filter(({ id }) => isKey(replacer.text(id)));
  for (const table of all)
    for (const row of table.rows) if (row.creator !== undefined) people.user(row.creator, undefined);
  const users = [...people.users].filter(({ id, email }) => id !== undefined || email !== undefined);
  const address = ({ id, email }: KnownUser): string =>
    email === undefined ? replacer.of(`the address of ${id ?? ""}`, "email") : replacer.text(email);
  const described = (user: KnownUser): Json => ({
    email: address(user),
    ...(user.logsIn ? { password: logsInWith.password } : {}),
    ...(user.id === undefined ? {} : { id: replacer.text(user.id) }),
  });
  const { first } = people;
  const administrator = first && { ...described(first), ...logsInWith };
  const made = tablesOf(known, all, replacer, values);
  const seed = {
    ...(administrator ? { administrator } : {}),
    users: users.filter((user) => user !== first).map(described),
    tables: made.tables,
    organizations: organizationsOf(known, replacer, address),
  };
  return {
    seed: withoutEmpty(seed),
    administrator: first && address(first),
    rows: made.count,
    omitted: { rows: made.omitted + tables.omitted, tables: tables.all.size - all.length },
  };
}

/** Without what is empty. */
const withoutEmpty = (seed: Json): Json =>
  Object.fromEntries(
    Object.entries(seed).filter(([, value]) =>
      isObject(value) ? Object.keys(value).length > 0 : !Array.isArray(value) || value.length > 0,
    ),
  );

function tablesOf(known: Known, all: readonly KnownTable[], replacer: Replacer, values: RowValues) {
  const parents = new Map(all.map((table) => [table, parentOf(known, table)]));
  let parts = 0;
  let [omitted, count] = [0, 0];
  const tables: Json = {};
  for (const table of all) {
    const parent = parents.get(table);
    const { fields, write } = fieldsOf(known, table, replacer, values);
    const rows: Json[] = [];
    for (const row of withoutTwins(table.rows)) {
      const fits =
        parent === undefined || (row.parent !== undefined && known.tables.find(row.parent)?.table === parent);
      const made = rowOf(row, parent, write(row.values), replacer);
      parts += partsOf(made);
      if (fits && parts <= maxParts) rows.push(made);
      else omitted++;
    }
    count += rows.length;
    tables[replacer.text(table.id)] = {
      ...(parent === undefined ? {} : { parent: replacer.text(parent.id) }),
      ...(Object.keys(fields).length > 0 ? { fields } : {}),
      ...(rows.length > 0 ? { rows } : {}),
    };
  }
  return { tables, omitted, count };
}

/** The table whose rows carry this one's. */
function parentOf(known: Known, table: KnownTable): KnownTable | undefined {
  const carried = table.rows.find(({ parent }) => parent !== undefined && known.tables.find(parent));
  const found = carried?.parent === undefined ? table.parent : known.tables.find(carried.parent)?.table;
  return found === table ? undefined : found;
}

function rowOf(row: KnownRow, parent: KnownTable | undefined, values: Json, replacer: Replacer): Json {
  const { id, creator, submitted, viewers, teamViewers } = row;
  const texts = (list: string[]): string[] => list.map((text) => replacer.text(text));
  return {
    ...(id === undefined ? {} : { id: replacer.text(id) }),
    ...(parent && row.parent !== undefined ? { parent: replacer.text(row.parent) } : {}),
    ...(creator === undefined ? {} : { creator: replacer.text(creator) }),
    ...(submitted === undefined ? {} : { submitted }),
    ...(viewers.length > 0 ? { viewers: texts(viewers) } : {}),
    ...(teamViewers.length > 0 ? { teamViewers: texts(teamViewers) } : {}),
    values,
  };
}

/** The rows without those that a batch wrote and a read has shown since, with their IDs. */
function withoutTwins(rows: readonly KnownRow[]): KnownRow[] {
  const nameless = rows.filter(({ id }) => id === undefined);
  if (nameless.length === 0) return [...rows];
  const shown = new Map<string, number>();
  const keyOf = (labels: readonly string[], { values }: KnownRow): string =>
    JSON.stringify(labels.map((label) => [label, plain(values[label])]));
  const forms = new Map(nameless.map(({ values }) => [Object.keys(values).join("\0"), Object.keys(values)]));
  for (const labels of forms.values()) {
    for (const row of rows) {
      if (row.id === undefined) continue;
      const key = keyOf(labels, row);
      shown.set(key, (shown.get(key) ?? 0) + 1);
    }
  }
  return rows.filter((row) => {
    const key = keyOf(Object.keys(row.values), row);
    const left = row.id === undefined ? (shown.get(key) ?? 0) : 0;
    if (left > 0) shown.set(key, left - 1);
    return left === 0;
  });
}

const plain = (value: unknown): unknown =>
  isObject(value) && "crossAppRowID" in value ? value["crossAppRowID"] : value;

/** Stands for the organization of teams whose real one never appeared. */
const elsewhere: KnownOrganization = { id: "unknown-organization", name: "Unknown organization" };

function organizationsOf({ people }: Known, replacer: Replacer, address: (user: KnownUser) => string): Json[] {
  const teams = [...people.teams.values()];
  const isKnown = ({ organizationID }: KnownTeam): boolean =>
    organizationID !== undefined && people.organizations.has(organizationID);
  const all = [...people.organizations.values(), ...(teams.every(isKnown) ? [] : [elsewhere])];
  const names = new Set<string>();
  return all.map((organization) => {
    const own = teams.filter((team) => (isKnown(team) ? team.organizationID : elsewhere.id) === organization.id);
    const described = replacer.value(description(organization)) as Json; // it stays an object
    if (names.has(organization.name)) described["name"] = `${String(described["name"])} ${String(described["id"])}`;
    names.add(organization.name);
    // "All Members" last would be the second of its name.
    const sorted = own.toSorted((a, b) => Number(b.name === allMembers) - Number(a.name === allMembers));
    return {
      ...described,
      ...(sorted.length > 0 ? { teams: sorted.map((team) => teamOf(team, replacer, address)) } : {}),
    };
  });
}

const description = ({ id, name, description }: KnownOrganization): Json => ({
  id,
  name,
  ...(description ? { description } : {}),
});

function teamOf(team: KnownTeam, replacer: Replacer, address: (user: KnownUser) => string): Json {
  const members = team.members.map(({ user, role, id }) => ({
    email: address(user),
    role,
    ...(id === undefined ? {} : { id: replacer.text(id) }),
  }));
  const described = replacer.value(description(team)) as Json; // it stays an object
  return { ...described, ...(members.length > 0 ? { members } : {}) };
}

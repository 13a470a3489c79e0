import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "../../../../provider/client/http/bodies.ts";
import { hintOf } from "../../../../provider/client/http/requests.ts";
import type { Client } from "../../../../provider/client/options.ts";
import type { FixtureIDs, FixtureName } from "../../../../provider/conformance/fixtures.ts";
import type { PlatformClient, CallResult } from "../../../../provider/conformance/platformClient.ts";
import { appIDIn } from "../../../../provider/contract/apps.ts";
import type { EndpointName } from "../../../../provider/contract/endpoints.ts";
import {
  ApiError,
  isAdvised,
  isRefusal,
  orUndefinedIfNotFound,
  type ErrorCode,
} from "../../../../provider/contract/errors.ts";
import { at, isObject } from "../../../../provider/contract/wire.ts";
import type { Configuration } from "../../../../provider/pulumi/configuration/configuration.ts";
import { unfit, wrongly, type SandboxNames } from "../options.ts";
import type { Journal } from "./journal.ts";
import { sandboxTableNames, sandboxTables, fieldsOf, type SandboxTable } from "./tables.ts";

/** Fixtures that facts may use, from the flags and the configuration. */
export function fixturesOf(
  { tables, fields, helpers }: SandboxNames,
  { email, password, apiKey }: Configuration,
  more: { userID: string; invitee: string; mayMake: { organizations: boolean; apps: boolean }; rows: number },
): FixtureIDs {
  const [member, other] = helpers;
  const named = Object.entries(fields).flatMap(([table, labels]) =>
    Object.entries(labels).map(([label, id]) => [`${table}.${label}`, id] as const),
  );
  const { userID, invitee, mayMake, rows } = more;
  const all: Partial<Record<string, string | undefined>> = {
    ...tables,
    ...Object.fromEntries(named),
    ...{ "admin.email": email, "admin.password": password, "admin.userID": userID, "admin.apiKey": apiKey },
    ...{ "member.email": member?.email, "member.password": member?.password },
    ...{ "other.email": other?.email, "other.password": other?.password },
    "invitee.email": invitee,
    ...(mayMake.organizations ? { newOrganizations: "yes" } : {}),
    ...(mayMake.apps ? { newApps: "yes" } : {}),
    ...(rows > manyRows ? { manyRows: "yes" } : {}),
  };
  return withoutAbsent(all);
}

/** Rows that facts about the largest batch insert. */
const manyRows = 10_000;

const withoutAbsent = (sandbox: Readonly<Record<string, string | undefined>>): FixtureIDs =>
  Object.fromEntries(Object.entries(sandbox).filter(([, value]) => value !== undefined)); // names are those of fixtures

/** An app whose author is who calls; undefined where none may be made, or can be. */
export async function newApp(rawClient: PlatformClient, userEmail: string, mark: string): Promise<string | undefined> {
  const request = { userEmail, appPrompt: `An empty app, made by a test: ${mark}`, attachments: [] };
  const reply = await rawClient.call({ name: "createappwithprompt", request, as: "admin" });
  return appIDIn(textIn(reply, "link") ?? "");
}

/** Reads, on this machine, the file that the platform is going to download. */
export async function textAt(address: string): Promise<string> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(fileMs) });
    const text = response.ok && response.body ? await textOf(response.body, 1) : undefined;
    if (text !== undefined) return text;
  } catch {
    // The error below covers this.
  }
  throw wrongly("nothing was sent to the platform: the file of --file can't be read from here, or has more than 1 MB");
}

/** Milliseconds that reading a file may take. */
const fileMs = 30_000;

/** Logs in; ends with a sentence where the platform can't be reached, or refuses. */
export async function callerOf(client: Client, hide: (text: string) => string): Promise<string> {
  try {
    return await client.callerID();
  } catch (error) {
    if (error instanceof ApiError) throw wrongly(hide(`nothing was changed: ${error.message}`));
    throw error;
  }
}

/** The organization to work in: the one that is named, or a new one, and its name. */
export async function organizationFor(
  client: Client,
  journal: Journal,
  named: string | undefined,
): Promise<{ id: string; name: string; lag: number }> {
  try {
    if (named === undefined) {
      const made = await newOrganization(client, journal);
      return { ...made, lag: (await lagOf(() => isThere(client, made.id))) ?? longestLagMs };
    }
    const { organization } = await client.readorganization({ organizationID: named });
    if (!organization) throw wrongly(`nothing was changed: there is no organization ${named} on the platform`);
    return { id: named, name: organization.name, lag: 0 };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isAdvised(error)) throw unfit("Organization and Team", error.message);
    throw wrongly(`nothing was tried: ${error.message}`);
  }
}

const isThere = async (client: Client, organizationID: string): Promise<boolean> =>
  (await orUndefinedIfNotFound(client.readorganization({ organizationID })))?.organization !== undefined;

/** Makes an organization under an ID of ours, by which it is found when no answer comes; where none can be chosen, without. */
async function newOrganization(client: Client, journal: Journal): Promise<{ id: string; name: string }> {
  const { mark } = journal.run;
  const info = { name: `microapps verify ${mark}`, description: "A sandbox: it is removed at the end." };
  const make = async (id?: string): Promise<{ id: string; name: string }> => {
    const number = journal.making({ kind: "organization", ...(id === undefined ? {} : { id }) });
    const chosen = id === undefined ? {} : { _id: id };
    const request = { organizationInfo: { ...info, ...chosen } };
    const { organizationID } = await client.insertorganization(request).catch((error: unknown): never => {
      if (isRefusal(error)) journal.removed(number);
      throw error;
    });
    journal.made(number, [organizationID]);
    return { id: organizationID, name: info.name };
  };
  try {
    return await make(mark);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return make();
  }
}

/** Milliseconds between two looks for a thing that was just made, and how long it is looked for. */
export const lookMs = 250;
const longestLagMs = 30_000;

/** Seconds until new things are found, as a profile has them: two runs that measure about the same write the same. */
export const toVisibleAfter = (lagMs: number): { visibleAfter?: number } =>
  lagMs === 0 ? {} : { visibleAfter: [1, 2, 5, 10, 20].find((seconds) => lagMs + lookMs <= seconds * 1000) ?? 30 };

/** Looks for a thing that was just made. Returns the milliseconds until it was there; undefined if it never was. */
export async function lagOf(look: () => Promise<boolean>): Promise<number | undefined> {
  for (let waited = 0; waited <= longestLagMs; waited += lookMs) {
    if (await look()) return waited;
    await sleep(lookMs);
  }
  return undefined;
}

/**
 * Looks whether each table is there, is empty and keeps the mark, and finds the IDs of its fields. Rows are made for it,
 * which the run removes. `lag` is the longest time in milliseconds until a row could be read.
 */
export async function examineTables(
  rawClient: PlatformClient,
  tables: SandboxNames["tables"],
  mark: string,
): Promise<{ fields: Partial<Record<FixtureName, string>>; lag: number }> {
  const found: Partial<Record<string, string>> = {};
  let longest = 0;
  let parent: string | undefined;
  for (const name of sandboxTableNames) {
    const microAppID = tables[name];
    if (microAppID === undefined || (name === "cities" && parent === undefined)) continue;
    await refuseRows(rawClient, name, microAppID);
    const values = valuesOf(name, mark);
    const request = { microAppID, rowData: values, ...(name === "cities" ? { embeddingRowID: parent } : {}) };
    const made = await rawClient.call({ name: "insertmicroapprow", request, as: "admin" });
    if (made.kind === "refused") {
      refuseForm("insertmicroapprow", made, name);
      throw wrongly(`table ${microAppID} takes no row: ${made.message}; a sandbox needs ${fieldsOf(name)}`);
    }
    if (name === "countries") parent = textIn(made, "rowID");
    // Rows of a sub-table may be found by their parents alone.
    const filters = name === "cities" ? [{}, { optViewFilters: [{ embeddingRowID: parent }] }] : [{}];
    const shown = async (more: object): Promise<object[]> => {
      const reads = filters.map((filter) => ({ microAppID, ...filter, ...more }));
      const replies = reads.map((read) => rawClient.call({ name: "microappdata", request: read, as: "admin" }));
      return (await Promise.all(replies)).flatMap(({ body }) => (isObject(body) ? [body] : []));
    };
    const lag = await lagOf(async () => JSON.stringify(await shown({})).includes(mark));
    if (lag === undefined) {
      throw wrongly(`table ${microAppID} does not keep what is written into Run: a sandbox needs ${fieldsOf(name)}`);
    }
    longest = Math.max(longest, lag);
    const raw = await shown({ platformFormat: true });
    for (const [label, value] of Object.entries(values)) {
      const id = keyOf(raw, value);
      if (id !== undefined && id !== label) found[`${name}.${label}`] = id;
    }
  }
  return { fields: found, lag: longest };
}

async function refuseRows(rawClient: PlatformClient, name: SandboxTable, table: string): Promise<void> {
  const reply = await rawClient.call({ name: "microappdata", request: { microAppID: table }, as: "admin" });
  if (reply.kind !== "answer") {
    refuseForm("microappdata", reply, name);
    throw wrongly(`table ${table} can't be read: ${reply.message}`);
  }
  const rows = at(reply.answer, "microAppRows");
  if (!Array.isArray(rows) || rows.length === 0) return;
  throw wrongly(
    `nothing was changed: table ${table}, which is to be ${name} of the sandbox, has rows: a sandbox is empty`,
  );
}

/** Throws where a platform takes a request in none of the documented forms. */
function refuseForm(endpoint: EndpointName, { code, message }: { code: string; message: string }, name: string): void {
  const hint = hintOf(endpoint, { code: code as ErrorCode, message }); // the client's own codes
  if (hint === undefined) return;
  const resources = name === "cities" ? "SeedRows of a sub-table" : "SeedRows, RowFile and getRows";
  throw unfit(resources, `${endpoint}: ${message}. ${hint}`);
}

/** A value for each field that takes a plain one. */
function valuesOf(name: SandboxTable, mark: string): Record<string, unknown> {
  const plain: Readonly<Record<string, unknown>> = {
    text: (label: string): unknown => `${label} ${mark}`,
    number: () => 61_803_398,
    date: () => "2001-02-03T04:05:06.000Z",
    checkbox: (label: string): unknown => [`${label} ${mark}`],
  };
  return Object.fromEntries(
    Object.entries(sandboxTables[name].fields as Readonly<Record<string, unknown>>).flatMap(([label, field]) => {
      const type = isObject(field) ? field["type"] : field;
      const make = plain[String(type)] as ((label: string) => unknown) | undefined;
      return make === undefined ? [] : [[label, make(label)]];
    }),
  );
}

const textIn = (reply: CallResult, path: string): string | undefined => {
  const found = reply.kind === "answer" ? at(reply.answer, path) : undefined;
  return typeof found === "string" ? found : undefined;
};

/** The key under which a value stands, at whatever depth. */
function keyOf(body: unknown, value: unknown): string | undefined {
  if (Array.isArray(body)) return body.map((each) => keyOf(each, value)).find((key) => key !== undefined);
  if (!isObject(body)) return undefined;
  for (const [key, inner] of Object.entries(body)) {
    if (!/^sortVal\d*$/.test(key) && JSON.stringify(inner) === JSON.stringify(value)) return key;
    const below = keyOf(inner, value);
    if (below !== undefined) return below;
  }
  return undefined;
}

import type { EndpointName } from "../contract/endpoints.ts";
import { maxRowsPerInsert } from "../contract/rows.ts";
import { isObject, type Json } from "../contract/wire.ts";
import { valueAt } from "./matching.ts";
import type { EndpointCall, PlatformClient, CallResult } from "./platformClient.ts";

/** Something that a fact made. `rows` are those of a batch, which has no IDs: the new rows of the table `id`. */
export interface MadeThing {
  kind: "row" | "rows" | "child" | "team" | "organization" | "app" | "file";
  id: string;
  /** IDs of the rows that the table had before the batch. */
  before?: readonly string[];
}

type Made = readonly [kind: MadeThing["kind"], path: string];
const makers: Partial<Record<EndpointName, Made>> = {
  insertmicroapprow: ["row", "rowID"],
  microappchildCreate: ["child", "childID"],
  insertorganization: ["organization", "organizationID"],
  insertteam: ["team", "teamID"],
  microappchildUploadFileToStore: ["file", "fileKey"],
  microappchildStorecopy: ["file", "signedUrl"],
  createappwithprompt: ["app", "link"],
};
const removers: Partial<Record<EndpointName, Made>> = {
  removemicroapprow: ["row", "rowID"],
  microappchildDelete: ["child", "childID"],
  deleteorganization: ["organization", "organizationID"],
  deleteteam: ["team", "teamID"],
};

/** Keeps the things that facts made until they are removed, and reports both at once. */
export class FactThings {
  readonly #client: PlatformClient;
  readonly #made: (thing: MadeThing) => void;
  readonly #removed: (thing: MadeThing) => void;
  #things: MadeThing[] = [];

  constructor(
    client: PlatformClient,
    made: (thing: MadeThing) => void = () => {},
    removed: (thing: MadeThing) => void = () => {},
  ) {
    this.#client = client;
    this.#made = made;
    this.#removed = removed;
  }

  /** Call it before a request goes out: new rows of a batch are found by comparing with the earlier rows. */
  async before({ name, request }: EndpointCall): Promise<void> {
    const { microAppID: id } = request;
    if (name !== "insertmicroapprows" || typeof id !== "string") return;
    if (this.#things.some((thing) => thing.kind === "rows" && thing.id === id)) return;
    const rows = await rowsIn(this.#client, id);
    if (rows) this.#add({ kind: "rows", id, before: rows });
  }

  /** To be called with the answer of each call. */
  after({ name, request }: EndpointCall, reply: CallResult): void {
    if (reply.kind === "refused") return;
    const [kind, path] = makers[name] ?? [];
    const id = kind && reply.kind === "answer" ? valueAt(reply.answer, path ?? "") : undefined;
    if (kind && typeof id === "string") this.#add({ kind, id });
    const [taken, named = ""] = removers[name] ?? [];
    const thing = this.#things.find(({ kind, id }) => kind === taken && id === request[named]);
    if (thing) this.#drop(thing);
  }

  /** Removes what is left, the newest first. Files go with their rows, and nothing can delete an app. */
  async clear(): Promise<void> {
    for (const thing of this.#things.toReversed()) {
      if (await remove(this.#client, thing)) this.#drop(thing);
    }
    this.#things = [];
  }

  /** Forgets what is left: somebody else has put the platform back. */
  forget(): void {
    this.#things = [];
  }

  #add(thing: MadeThing): void {
    this.#things.push(thing);
    this.#made(thing);
  }

  #drop(thing: MadeThing): void {
    this.#things = this.#things.filter((other) => other !== thing);
    this.#removed(thing);
  }
}

/** Removes a thing that a fact made; false where it is still there. */
export async function remove(client: PlatformClient, { kind, id, before = [] }: MadeThing): Promise<boolean> {
  const done = async (name: EndpointName, request: Json): Promise<boolean> => {
    const reply = await client.call({ name, request, as: "admin" });
    return reply.kind !== "refused" || reply.code === "notFound";
  };
  switch (kind) {
    case "row":
      return done("removemicroapprow", { rowID: id });
    case "rows":
      return removeRows(client, id, new Set(before));
    case "child":
      return done("microappchildDelete", { childID: id });
    case "organization":
      return done("deleteorganization", { organizationID: id });
    case "team":
      for (const member of await membersIn(client, id)) await done("deleteteammember", member);
      return done("deleteteam", { teamID: id });
    case "file":
      return true;
    case "app":
      return false;
  }
}

/** More rows than a run leaves in a table: whoever gives more makes them up. */
export const maxRowsLeft = 2 * maxRowsPerInsert;

/** Removes all rows of a table but these. A read may be bounded, so it is read until nothing is left. */
async function removeRows(client: PlatformClient, table: string, before: ReadonlySet<string>): Promise<boolean> {
  const tried = new Set<string>(before);
  for (;;) {
    const rows = ((await rowsIn(client, table)) ?? []).filter((id) => !tried.has(id));
    if (rows.length === 0) return true;
    if (tried.size + rows.length - before.size > maxRowsLeft) return false;
    for (const rowID of rows) {
      tried.add(rowID);
      const reply = await client.call({ name: "removemicroapprow", request: { rowID }, as: "admin" });
      if (reply.kind === "refused" && reply.code !== "notFound") return false;
    }
  }
}

async function rowsIn(client: PlatformClient, microAppID: string): Promise<string[] | undefined> {
  const reply = await client.call({ name: "microappdata", request: { microAppID }, as: "admin" });
  if (reply.kind !== "answer") return undefined;
  const rows = valueAt(reply.answer, "microAppRows");
  return (Array.isArray(rows) ? (rows as unknown[]) : []).flatMap((row) => idIn(row, "_id"));
}

async function membersIn(client: PlatformClient, teamID: string): Promise<Json[]> {
  const reply = await client.call({ name: "teammembers", request: { teamIDs: [teamID] }, as: "admin" });
  const members = reply.kind === "answer" ? valueAt(reply.answer, "teamMembers") : [];
  return (Array.isArray(members) ? (members as unknown[]) : []).flatMap((member) =>
    isObject(member) ? [{ teamID, userID: member["userID"], teamMemberID: member["teamMemberID"] }] : [],
  );
}

const idIn = (value: unknown, key: string): string[] => {
  const id = isObject(value) ? value[key] : undefined;
  return typeof id === "string" ? [id] : [];
};

import type { IncomingAnswer, OutgoingRequest, Send } from "../../../../provider/conformance/platformClient.ts";
import type { Endpoint } from "../../../../provider/contract/endpoint.ts";
import {
  endpoints,
  routesOf,
  type EndpointName,
  type Route,
  type WireNames,
} from "../../../../provider/contract/endpoints.ts";
import {
  answerIn,
  at,
  firstOf,
  isObject,
  jsonIn,
  refusalIn,
  toTextID,
  type Json,
} from "../../../../provider/contract/wire.ts";
import type { Journal, JournalThing } from "./journal.ts";
import { markLabel } from "./tables.ts";

/** A request was not sent, since it would touch something outside of the sandbox. */
export class OutsideSandbox extends Error {}

/** Things a run may touch beside those it makes. */
export interface Grounds {
  /** IDs of the tables, by label. */
  tables: Readonly<Record<string, string>>;
  /** True where organizations, and apps, which nothing removes, may be made. */
  mayMake: { organizations: boolean; apps: boolean };
  /** Addresses and IDs of the people who may be members of what is made, and be written to. */
  people: readonly string[];
  /** Address and ID of who calls, whose memberships elsewhere stay as they are. */
  caller: readonly string[];
  /** True for an ID made up for this run, which nothing can have. */
  isMadeUp: (id: string) => boolean;
  /** Names that this platform spells otherwise. */
  wireNames: WireNames;
  /** Receives each token, which no text may show. */
  hide: (token: string) => void;
  /** True when a text holds one of these tokens. */
  holdsToken: (text: string) => boolean;
  /** True when the environment lets an address be called. */
  isAllowed: (url: string) => boolean;
}

/**
 * Guards all access to the platform. A change only passes inside the sandbox. A creation is noted in the journal first
 * and carries the run's mark.
 */
export class RequestGuard {
  readonly #send: Send;
  readonly #grounds: Grounds;
  readonly #journal: Journal;
  /** Our things by ID: the numbers of the journal. An ID that we chose may be used for two requests. */
  readonly #own = new Map<string, Set<number>>();
  readonly #swept = new Set<string>();
  readonly #routes: ReadonlyMap<string, Route>;
  /** Why requests were not sent. */
  readonly refusals = new Set<string>();

  constructor(send: Send, grounds: Grounds, journal: Journal) {
    this.#send = send;
    this.#grounds = grounds;
    this.#journal = journal;
    this.#routes = routesOf(grounds.wireNames);
    for (const id of Object.values(grounds.tables)) this.own(id);
  }

  /** Counts a thing as the sandbox's. */
  own(id: string, number?: number): void {
    const numbers = this.#own.get(id) ?? new Set();
    if (number !== undefined) numbers.add(number);
    this.#own.set(id, numbers);
  }

  /** Sends a request, or throws OutsideBed. What may change something is not cut off: what it did must be known. */
  readonly send: Send = async (request, signal) => {
    const name = this.#routes.get(request.url.split("?")[0] ?? "")?.name;
    this.#refuseLeaking(name, request);
    if (name === undefined && request.method !== "GET") this.#refuse("an address that is none of the interface");
    if (!request.url.startsWith("/") && !this.#grounds.isAllowed(request.url)) {
      this.#refuse("an address that MICROAPPS_ALLOWED_ENDPOINTS does not list");
    }
    const asked = parametersOf(request);
    if (name === undefined || !changes(name)) return this.#learning(name, asked, await this.#send(request, signal));
    this.#refuseOutside(name, asked);
    const maker = makers[name];
    if (!maker) return this.#removing(name, asked, await this.#send(request));
    const { sent, numbers } = this.#making(maker(asked, this.#grounds.tables), request);
    const answer = await this.#send(sent);
    this.#made(name, numbers, answer);
    return answer;
  };

  #refuse(what: string): never {
    const text = `it would touch ${what}`;
    this.refusals.add(text);
    throw new OutsideSandbox(text);
  }

  /** A token goes into the headers of a session and into a logout: a row or an address is read by others. */
  #refuseLeaking(name: EndpointName | undefined, { url, body = "" }: OutgoingRequest): void {
    const texts = name === "login" || name === "logout" ? [url] : [url, body];
    if (texts.some((text) => this.#grounds.holdsToken(text))) this.#refuse("a token, and send it elsewhere");
  }

  #refuseOutside(name: EndpointName, asked: Json): void {
    const { mayMake, people, caller, isMadeUp } = this.#grounds;
    const refuse = (what: string): never => this.#refuse(what);
    if (name === "insertorganization" && !mayMake.organizations) refuse("organizations beside the sandbox");
    if (name === "createappwithprompt" && !mayMake.apps) refuse("apps, which nothing removes");
    if (!this.#isInside(idsIn(asked, ownedNames))) refuse("something that is not the sandbox's");
    const persons = idsIn(asked, name === "enforceteammembership" ? [...personNames, "userID"] : personNames);
    if (persons.some((person) => !people.includes(person) && !isMadeUp(person)))
      refuse("somebody who is not the sandbox's");
    if (name === "enforceteammembership" && persons.some((person) => caller.includes(person))) {
      refuse("memberships of who calls");
    }
  }

  #isInside(ids: readonly string[]): boolean {
    return ids.every((id) => this.#own.has(id) || this.#grounds.isMadeUp(id));
  }

  /** Notes what is about to be made; the rows get the mark. */
  #making(things: readonly JournalThing[], request: OutgoingRequest): { sent: OutgoingRequest; numbers: number[] } {
    const numbers = things.flatMap((thing) => {
      const isBatch = thing.kind === "row" && thing.id === undefined && thing.isBatch === true;
      if (isBatch && this.#swept.has(thing.table ?? "")) return [];
      if (isBatch) this.#swept.add(thing.table ?? "");
      const number = this.#journal.making(thing);
      if (thing.id !== undefined) this.own(thing.id, number);
      return [number];
    });
    return { sent: marked(request, this.#journal.run.mark), numbers };
  }

  /** Notes the ID of what was made, or that nothing was. */
  #made(name: EndpointName, numbers: readonly number[], answer: IncomingAnswer): void {
    const [number] = numbers;
    if (number === undefined) return;
    const wire = answerIn(answer.text);
    const isRefused = (answer.status >= 400 && answer.status < 500) || refusalIn(wire) !== undefined;
    // A refused batch may have left a part of itself.
    if (isRefused && name !== "insertmicroapprows") this.#journal.removed(number);
    else if (!isRefused) {
      const ids = newIDs(name, wire);
      if (ids.length === 0) return;
      this.#journal.made(number, ids);
      for (const id of ids) this.own(id, number);
    }
  }

  /** Notes what was removed; what a removed thing had goes with it. */
  #removing(name: EndpointName, asked: Json, answer: IncomingAnswer): IncomingAnswer {
    const isDone = answer.status < 400 && refusalIn(answerIn(answer.text)) === undefined;
    if (isDone && name in removers) {
      const id = removers[name]?.map((path) => at(asked, path)).find((found) => typeof found === "string");
      for (const number of (typeof id === "string" && this.#own.get(id)) || []) this.#journal.removed(number);
    }
    return answer;
  }

  #hideToken(token: unknown): void {
    if (typeof token === "string") this.#grounds.hide(token);
  }

  /** Learns what is ours from what is read: members of our teams, children of our rows, and rows with the mark. */
  #learning(name: EndpointName | undefined, asked: Json, answer: IncomingAnswer): IncomingAnswer {
    if (name === undefined) return answer;
    const wire = answerIn(answer.text);
    if (name === "login") this.#hideToken(firstOf(wire, "authToken", "data.authToken", "body.authToken"));
    const of = idsIn(asked, ownedNames);
    const belongs = lists.has(name) && of.length > 0 && this.#isInside(of);
    const ids = belongs ? idsIn(wire, ["_id", "teamMemberID"]) : markedIn(wire, this.#journal.run.mark);
    for (const id of ids) this.own(id);
    return answer;
  }
}

/** Parameters that say what is touched. */
const ownedNames = [
  ...["microAppID", "microAppResourceID", "appID", "rowID", "childID", "embeddingRowID", "organizationID"],
  ...["teamID", "teamIDs", "teamMemberID", "sourceResourceID", "destinationResourceID", "resourceID"],
];

/** Calls that read what belongs to something. */
const lists: ReadonlySet<EndpointName> = new Set(["teammembers", "readteammember", "microappchildList"]);

/** Parameters that say whom a change is about. */
const personNames = ["email", "emails", "userIDs", "members", "userEmail"];

/** Things that each call makes: rows of a batch get no ID in its answer. */
const makers: Partial<Record<EndpointName, (asked: Json, tables: Readonly<Record<string, string>>) => JournalThing[]>> =
  {
    insertmicroapprow: ({ microAppID }, tables) => [{ kind: "row", table: labelOf(microAppID, tables) }],
    insertmicroapprows: ({ microAppID }, tables) => [
      { kind: "row", table: labelOf(microAppID, tables), isBatch: true },
    ],
    microappchildCreate: () => [{ kind: "child" }],
    insertorganization: (asked) => [{ kind: "organization", id: textAt(asked, "organizationInfo._id") }],
    insertteam: (asked) => [{ kind: "team", id: textAt(asked, "teamInfo._id") }],
  };

/** Where a call that removes something names it. */
const removers: Partial<Record<EndpointName, readonly string[]>> = {
  removemicroapprow: ["rowID"],
  microappchildDelete: ["childID"],
  deleteorganization: ["organizationID"],
  deleteteam: ["teamID"],
};

const labelOf = (id: unknown, tables: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(tables).find(([, each]) => each === id)?.[0];

const textAt = (value: unknown, path: string): string | undefined => {
  const found = at(value, path);
  return typeof found === "string" ? found : undefined;
};

/** True when a call may change something, whatever its HTTP method: the platform might carry it out all the same. */
const changes = (name: EndpointName): boolean =>
  endpoints[name].effect !== "read" && name !== "login" && name !== "logout";

/** Parameters of query and body. */
function parametersOf({ url, body }: OutgoingRequest): Json {
  const written = [...new URLSearchParams(url.split("?")[1] ?? "")];
  const query = Object.fromEntries(
    written.map(([name, value]) => [name, /^[[{]/.test(value) ? (jsonIn(value) ?? value) : value]),
  );
  const sent = body === undefined ? undefined : jsonIn(body);
  return { ...query, ...(isObject(sent) ? sent : {}) };
}

/** Texts under these names, at whatever depth; values of rows are not looked at. */
function idsIn(found: unknown, names: readonly string[], isNamed = false): string[] {
  const value = toTextID(found);
  if (typeof value === "string") return isNamed ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => idsIn(each, names, isNamed));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "rowData" ? [] : idsIn(inner, names, names.includes(key)),
  );
}

/** The request with the mark in each row that it inserts. */
function marked(request: OutgoingRequest, mark: string): OutgoingRequest {
  const body = request.body === undefined ? undefined : jsonIn(request.body);
  if (!isObject(body)) return request;
  const withMark = (row: unknown): unknown => (isObject(row) ? { ...row, [markLabel]: mark } : row);
  const { rowData, rows } = body;
  const more = {
    ...(isObject(rowData) ? { rowData: withMark(rowData) } : {}),
    ...(Array.isArray(rows) ? { rows: rows.map(withMark) } : {}),
  };
  return { ...request, body: JSON.stringify({ ...body, ...more }) };
}

/** The ID of what was made, wherever the platform puts it. */
function newIDs(name: EndpointName, wire: unknown): string[] {
  const { unwrap }: Endpoint = endpoints[name];
  const answer = unwrap(wire);
  if (!isObject(answer)) return [];
  const ids = Object.entries(answer).map(([name, value]) => (name.endsWith("ID") ? toTextID(value) : undefined));
  return ids.filter((id) => typeof id === "string");
}

/** IDs of the rows in an answer that carry the mark. */
function markedIn(wire: unknown, mark: string): string[] {
  if (Array.isArray(wire)) return wire.flatMap((each) => markedIn(each, mark));
  if (!isObject(wire)) return [];
  const id = toTextID(wire["_id"]);
  const isRow = typeof id === "string" && wire[markLabel] === mark;
  return isRow ? [id] : Object.values(wire).flatMap((each) => markedIn(each, mark));
}

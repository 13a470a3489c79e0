import { setTimeout as sleep } from "node:timers/promises";
import { type Endpoint, endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import { needsOf, resolve, type Fact, type FactStep } from "./facts.ts";
import { mismatch, valueAt, type Mismatch } from "./matching.ts";

/** What a call came to: an answer without its envelope, or a refusal. */
export type Reply = { answer: unknown } | { refused: { message: string; code: string } };

/** A way to call a platform. Rejects with `Lost` where no answer came, so that nobody knows what was done. */
export type Call = (name: EndpointName, request: Json, as: FactStep["as"]) => Promise<Reply>;

export class Lost extends Error {}

/** Something that facts made on the platform. */
export interface Made {
  kind: "row" | "child record" | "team" | "organization" | "app";
  id: string;
}

/** Something that could not be removed. */
export interface Left extends Made {
  why: string;
}

export type FactResult = { fact: Fact } & (
  | { status: "fits" }
  | ({ status: "misfit" } & Mismatch)
  | { status: "notTried"; why: string; isLost?: boolean }
);

export interface FactRun {
  facts: readonly Fact[];
  call: Call;
  /** What the sandbox has, by the names of `sandboxNames` and `chosenIDs`. */
  sandbox: ReadonlyMap<string, string>;
  /** Stands in whatever is made. */
  mark: string;
  /** Ends the run before its next call; what was made is removed all the same. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for which a read that is not as expected is tried again (default 0). */
  patienceMs?: number | undefined;
  /** Puts the platform back after each fact, in place of removing what was made. */
  reset?: (() => void) | undefined;
  /** Receives each result at once. */
  done?: ((result: FactResult) => void) | undefined;
}

/** Tables of a sandbox; rows below others go first. */
export const tables = ["cities", "countries", "currencies"] as const;
/** The label that tells whose a row is, and the beginning of what stands there. */
const markLabel = "Run";
export const ownMark = "microapps-verify";

/** Tries facts one after the other. After a lost call, and when it is stopped, the others are not tried. */
export async function runFacts(run: FactRun): Promise<{ results: FactResult[]; left: Left[] }> {
  const left: Left[] = [];
  const results: FactResult[] = [];
  for (const fact of run.facts) {
    const why = obstacle(fact, run, results, left);
    const result: FactResult = why === undefined ? await tried(fact, run, left) : { fact, status: "notTried", why };
    results.push(result);
    run.done?.(result);
  }
  return { results, left };
}

const stopped = "the run was stopped";

/** Why a fact is not tried; undefined when it is. */
function obstacle(fact: Fact, run: FactRun, results: readonly FactResult[], left: readonly Left[]): string | undefined {
  if (run.signal?.aborted || results.some((result) => "isLost" in result)) return stopped;
  const needs = needsOf(fact);
  const missing = needs.filter((name) => !run.sandbox.has(name));
  if (missing.length > 0) return `they need ${[...new Set(missing.map(askedFor))].join(", ")}`;
  // What a call promises in its first fact is presumed by all others.
  const calls = new Set<string>(fact.steps.map(({ call }) => call));
  const broken = results.find(({ status, fact: { id } }) => status !== "fits" && id !== fact.id && calls.has(id));
  if (broken) return `they presume "${broken.fact.id}"`;
  const isDisturbed = left.some(({ kind }) => kind === "row") && tables.some((table) => needs.includes(table));
  return isDisturbed ? "rows of an earlier fact could not be removed" : undefined;
}

/** What brings a thing into a sandbox. */
function askedFor(name: string): string {
  if (name === "generate" || name === "notify") return `--${name}`;
  if (name === "caller.apiKey") return "microapps:apiKey";
  if (name === "person.password") return "MICROAPPS_PERSON_PASSWORD";
  return name.startsWith("caller.") ? name.replace(".", "'s ") : `--sandbox ${name.replace(/\.userID$/, "")}=…`;
}

async function tried(fact: Fact, run: FactRun, left: Left[]): Promise<FactResult> {
  const workshop = new Workshop(run);
  try {
    const wrong = await carryOut(fact, run, workshop);
    return wrong ? { fact, status: "misfit", ...wrong } : { fact, status: "fits" };
  } catch (error) {
    if (error instanceof Lost) return { fact, status: "notTried", why: error.message, isLost: true };
    if (!run.signal?.aborted) throw error;
    return { fact, status: "notTried", why: stopped };
  } finally {
    if (run.reset) run.reset();
    else left.push(...(await workshop.clear()));
  }
}

async function carryOut(
  { steps }: Fact,
  { sandbox, mark, signal, patienceMs = 0 }: FactRun,
  workshop: Workshop,
): Promise<Mismatch | undefined> {
  const known = new Map<string, unknown>([...sandbox, ["mark", mark]]);
  for (const written of steps) {
    const step = resolve(written, known) as FactStep; // names became values
    const until = Date.now() + patienceMs;
    const isRead = endpoints[step.call].effect === "read";
    let reply: Reply;
    let wrong: Mismatch | undefined;
    for (;;) {
      signal?.throwIfAborted();
      reply = await workshop.call(step);
      wrong = differenceOf(step, reply);
      if (!wrong || !isRead || Date.now() >= until) break;
      await sleep(250); // what was made may be shown a little later
    }
    if (wrong) return wrong;
    for (const [name, path] of Object.entries(written.keep)) {
      const value = "answer" in reply ? valueAt(reply.answer, path) : undefined;
      if (value === undefined) return { path, expected: "$any", seen: value };
      known.set(name, value);
      if (typeof value === "string") workshop.own.add(value);
    }
  }
  return undefined;
}

function differenceOf({ answer, refused, gone }: FactStep, reply: Reply): Mismatch | undefined {
  if (gone !== undefined) {
    return "refused" in reply ? undefined : mismatch("$absent", valueAt(reply.answer, gone), gone);
  }
  if (refused && "answer" in reply) return { path: "", expected: "a refusal", seen: reply.answer };
  if ("answer" in reply) return answer === undefined ? undefined : mismatch(answer, reply.answer);
  const { message } = reply.refused;
  if (!refused) return { path: "", expected: answer ?? "an answer", seen: message };
  return refused.message === undefined ? undefined : mismatch(refused.message, message, "message");
}

/** Where a call names what it touches. */
const touching = new Set([
  ...["microAppID", "microAppResourceID", "appID", "rowID", "childID", "embeddingRowID", "organizationID"],
  ...["teamID", "teamIDs", "teamMemberID", "sourceResourceID", "destinationResourceID", "resourceID"],
  ...["email", "emails", "userID", "userIDs", "userEmail", "adminID", "viewers", "teamViewers"],
]);

/** What calls make, and where they have its ID; a chosen one stands in the request. */
const makers: Partial<Record<EndpointName, [kind: Made["kind"], answer: string, request?: string]>> = {
  insertmicroapprow: ["row", "rowID"],
  microappchildCreate: ["child record", "childID"],
  insertteam: ["team", "teamID", "teamInfo._id"],
  insertorganization: ["organization", "organizationID", "organizationInfo._id"],
  createappwithprompt: ["app", "link"],
};
const removers: Partial<Record<Made["kind"], [name: EndpointName, id: string]>> = {
  row: ["removemicroapprow", "rowID"],
  "child record": ["microappchildDelete", "childID"],
  team: ["deleteteam", "teamID"],
  organization: ["deleteorganization", "organizationID"],
};

/** Makes the calls of one fact inside of the sandbox, and removes what they made. */
class Workshop {
  /** What changes may touch. */
  readonly own: Set<string>;
  readonly #run: FactRun;
  readonly #tables = new Set<string>();
  #made: Made[] = [];

  constructor(run: FactRun) {
    this.#run = run;
    // An ID to choose is ours once something was made under it.
    this.own = new Set([...run.sandbox].flatMap(([name, value]) => (name.startsWith("id.") ? [] : [value])));
  }

  /** Carries out a step. The one rule: a change names nothing but the sandbox's things and what this fact made. */
  async call({ call: name, with: request, as }: FactStep): Promise<Reply> {
    const { call, mark } = this.#run;
    const { effect }: Endpoint = endpoints[name];
    if (effect === "read" || name === "login" || name === "logout") return call(name, request, as);
    const outside = idsIn(request).find((id) => !this.own.has(id) && !id.startsWith(mark));
    if (outside !== undefined) throw new Error(`a fact would touch ${outside}, which is not the sandbox's`);
    const [kind, answered = "", chosen = ""] = makers[name] ?? [];
    const id = valueAt(request, chosen);
    if (kind && typeof id === "string") this.#add(kind, id); // the answer may be lost
    if (name.startsWith("insertmicroapprow")) this.#tables.add(String(request["microAppID"]));
    const reply = await call(name, marked(request, mark), as);
    if ("refused" in reply) {
      this.#made = this.#made.filter((made) => made.id !== id);
      return reply;
    }
    const made = valueAt(reply.answer, answered);
    if (kind && typeof made === "string") this.#add(kind, made);
    const [, key = ""] = Object.values(removers).find(([remover]) => remover === name) ?? [];
    this.#made = this.#made.filter((each) => each.id !== request[key]);
    return reply;
  }

  /** Removes what is left, the newest first. */
  async clear(): Promise<Left[]> {
    const { call, sandbox } = this.#run;
    const left: Left[] = [];
    for (const made of this.#made.toReversed()) left.push(...(await remove(call, made)));
    const tried = new Set(left.map(({ id }) => id));
    for (const table of tables.map((name) => sandbox.get(name) ?? "")) {
      if (this.#tables.has(table)) left.push(...(await removeRows(call, table, tried)));
    }
    return left;
  }

  #add(kind: Made["kind"], id: string): void {
    this.#made = [...this.#made.filter((made) => made.id !== id), { kind, id }];
    this.own.add(id);
  }
}

/** A request with the mark in each row that it inserts. */
function marked(request: Json, mark: string): Json {
  const { rowData, rows } = request;
  const withMark = (row: unknown): unknown => (isObject(row) ? { ...row, [markLabel]: mark } : row);
  if (Array.isArray(rows)) return { ...request, rows: rows.map(withMark) };
  return isObject(rowData) && "microAppID" in request ? { ...request, rowData: withMark(rowData) } : request;
}

/** IDs and addresses that a request touches; values of rows are not looked at. */
function idsIn(value: unknown, isNamed = false): string[] {
  if (typeof value === "string") return isNamed ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => idsIn(each, isNamed));
  return Object.entries(isObject(value) ? value : {}).flatMap(([key, inner]) =>
    key === "rowData" || key === "rows" ? [] : idsIn(inner, touching.has(key)),
  );
}

/** Removes a thing; what is returned is still there. */
export async function remove(call: Call, made: Made): Promise<Left[]> {
  const { kind, id } = made;
  const [name, key] = removers[kind] ?? [];
  if (name === undefined || key === undefined) return [{ ...made, why: `no call removes an ${kind}` }];
  try {
    const members = kind === "team" ? await listed(call, "teammembers", { teamIDs: [id] }, "teamMembers") : [];
    for (const { userID, teamMemberID } of members ?? []) {
      await call("deleteteammember", { teamID: id, userID, teamMemberID }, "caller");
    }
    const reply = await call(name, { [key]: id }, "caller");
    return "answer" in reply || reply.refused.code === "notFound" ? [] : [{ ...made, why: reply.refused.message }];
  } catch (error) {
    if (error instanceof Lost) return [{ ...made, why: error.message }];
    throw error;
  }
}

/** Most rows with our mark that a table may have. */
const mostRows = 2_000;

/** Removes the rows with our mark, read after read until no other one comes. */
export async function removeRows(call: Call, table: string, tried = new Set<string>()): Promise<Left[]> {
  const left: Left[] = [];
  const all = (why: string): Left[] => [...left, { kind: "row", id: `in table ${table}`, why }];
  for (;;) {
    const rows = await rowsIn(call, table);
    if (!rows) return all("the table can't be read");
    const own = rows.filter(({ id, isOwn }) => isOwn && !tried.has(id));
    if (own.length === 0) return left;
    if (tried.size > mostRows) return all("there is no end of them");
    for (const { id } of own) {
      tried.add(id);
      left.push(...(await remove(call, { kind: "row", id })));
    }
  }
}

/** Rows of a table, as many as one read brings; undefined where it can't be read. */
export async function rowsIn(call: Call, table: string): Promise<{ id: string; isOwn: boolean }[] | undefined> {
  const rows = await listed(call, "microappdata", { microAppID: table }, "microAppRows").catch(() => undefined);
  return rows?.map((row) => ({ id: String(row["_id"]), isOwn: String(row[markLabel]).startsWith(ownMark) }));
}

async function listed(call: Call, name: EndpointName, request: Json, key: string): Promise<Json[] | undefined> {
  const reply = await call(name, request, "caller");
  const list = "answer" in reply ? valueAt(reply.answer, key) : undefined;
  return Array.isArray(list) ? (list as unknown[]).filter(isObject) : undefined;
}

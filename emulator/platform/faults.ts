import { z } from "zod";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isObject, textsIn, type Json } from "../../platform/contract/wire.ts";
import { sentences } from "../../platform/messages/text.ts";
import { otherForms, type CallContext, type OtherForm } from "../data/callContext.ts";
import type { Database } from "../data/database.ts";
import { invalid, notFound } from "../data/platformError.ts";
import type { Ending, Outgoing } from "../http/server.ts";

// Everything that a platform does and that a client should get over or name. The emulator protects nobody from it: each
// kind is an entry of the table below, and the README describes it.

const names = Object.keys(endpoints) as [EndpointName, ...EndpointName[]]; // keys of the contract's table
const name = z.enum(names, { error: "must be the name of an endpoint" });

/** What a fault says beside its kind. */
const terms = z.strictObject({
  endpoint: z
    .union([name, z.array(name)])
    .optional()
    .describe("Where; everywhere when it is left out."),
  after: z.int().min(0).optional().describe("Calls that pass before the first is hit."),
  count: z.int().min(1).optional().describe("Calls that are hit; all when it is left out."),
  commit: z.boolean().optional().describe("Carry the call out before it goes wrong."),
  status: z.int().min(400).max(599).optional(),
  retryAfter: z.int().min(0).optional().describe("Seconds."),
  message: z.string().min(1).optional().describe("Words of the failure."),
  milliseconds: z.int().min(0).optional(),
  rows: z.int().min(0).optional().describe("Rows of a batch that are kept."),
  forms: z.array(z.enum(otherForms)).optional().describe("Forms that values are read back in."),
  unicode: z.enum(["NFC", "NFD", "NFKC", "NFKD"]).optional().describe("Form that texts are written in."),
  length: z.int().min(1).optional().describe("Characters of a text that are kept."),
});
type Terms = z.output<typeof terms>;

/** What an endpoint does with a request. */
type Work = (request: unknown) => unknown;

/** What a kind of fault does with a call. */
interface Kind {
  /** Replaces the answer. */
  ends?: (fault: Terms) => { outgoing: Outgoing; ending: Ending };
  /** Carries the call out in another way. Each time that `work` is done is a transaction. */
  around?: (work: Work, fault: Terms, call: Pick<CallContext, "database" | "now">) => Work;
}

const none: Outgoing = { status: 0, body: null, headers: {} };
const failure = ({ message = "This failure was asked for" }: Terms) => ({ status: "failure", message });

const kinds = {
  status: {
    ends: (fault) => {
      const headers: Record<string, string> =
        fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) };
      return { outgoing: { status: fault.status ?? 500, body: failure(fault), headers }, ending: "answer" };
    },
  },
  reset: { ends: () => ({ outgoing: none, ending: "reset" }) },
  timeout: { ends: () => ({ outgoing: none, ending: "never" }) },
  brokenJSON: { ends: () => ({ outgoing: none, ending: "cut" }) },
  errorInside: {
    ends: (fault) => ({ outgoing: { status: 200, body: failure(fault), headers: {} }, ending: "answer" }),
  },
  expiredToken: {},
  slow: {},
  otherForms: {},
  keepsPart: { around: keepsPart },
  partialBatch: {
    around:
      (work, { rows = 1, message = "this row is refused" }) =>
      (request) => {
        if (!isBatch(request)) return work(request);
        if (rows > 0) work({ ...request, rows: request.rows.slice(0, rows) });
        throw invalid(`rows.${rows}: ${message}`);
      },
  },
  twice: {
    around: (work) => (request) => {
      const answer = work(request);
      attempt(work, request);
      return answer;
    },
  },
  changedTexts: {
    around:
      (work, { unicode = "NFD", length }) =>
      (request) =>
        work(withTexts(request, (text) => text.normalize(unicode).slice(0, length))),
  },
  late: { around: late },
  repeatedItems: { around: (work) => (request) => withLists(work(request), (items) => [...items, ...items]) },
  otherIDs: {
    around: (work) => (request) =>
      withLists(work(request), (items, list) =>
        list === "microAppRows"
          ? items.map((row) => (isObject(row) ? { ...row, _id: String(row["_id"]).toUpperCase() } : row))
          : items,
      ),
  },
} as const satisfies Record<string, Kind>;

type KindName = keyof typeof kinds;
export const faultKinds = Object.keys(kinds) as [KindName, ...KindName[]];
const kindOf = (fault: Fault): Kind => kinds[fault.kind];

/** Something that goes wrong on purpose; the README has what each kind does. */
const fault = terms.extend({ kind: z.enum(faultKinds) });

const faultPlan = z.strictObject({
  faults: z.array(fault).default([]),
});

export type Fault = z.output<typeof fault>;
export type FaultPlan = z.input<typeof faultPlan>;

/** The faults that are played on one call. */
export class Play {
  readonly #faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }

  /** Names of the faults for the call log; null without any. */
  get name(): string | null {
    const words = this.#faults.map((fault) =>
      [
        fault.kind,
        ...(fault.kind === "status" ? [fault.status ?? 500] : []),
        ...(this.#isAfter(fault) ? ["after commit"] : []),
      ].join(" "),
    );
    return words.length === 0 ? null : words.join(" ");
  }

  #isAfter = (fault: Fault): boolean => kindOf(fault).ends !== undefined && fault.commit === true;

  #of = (kind: KindName): Fault | undefined => this.#faults.find((fault) => fault.kind === kind);

  /** Milliseconds that the call waits. */
  get delay(): number {
    const slow = this.#of("slow");
    return slow ? (slow.milliseconds ?? 1000) : 0;
  }

  /** True when the caller's session ends first. */
  get expires(): boolean {
    return this.#of("expiredToken") !== undefined;
  }

  /** The forms that values are read back in. */
  get otherForms(): readonly OtherForm[] {
    const fault = this.#of("otherForms");
    return fault ? (fault.forms ?? otherForms) : [];
  }

  /** What replaces the answer, and whether the call is carried out all the same. */
  get ending(): { outgoing: Outgoing; ending: Ending; carriesOut: boolean } | undefined {
    const [ends] = this.#faults.filter((fault) => kindOf(fault).ends);
    const ending = ends && kindOf(ends).ends?.(ends);
    return ending && { ...ending, carriesOut: ends.commit === true || ending.ending === "cut" };
  }

  /** The work as the faults have it done; undefined where they leave it as it is. `lateMs` is a fault of all calls. */
  around(work: Work, call: CallContext, lateMs: number): Work | undefined {
    const always: Fault[] = lateMs > 0 ? [{ kind: "late", milliseconds: lateMs }] : [];
    const faults = [...this.#faults, ...always].filter((fault) => kindOf(fault).around);
    if (faults.length === 0) return undefined;
    return faults.reduce((inner, fault) => kindOf(fault).around?.(inner, fault, call) ?? inner, work);
  }
}

/** Decides which faults are played, and counts them. */
export class Faults {
  #faults: { fault: Fault; passed: number; hit: number }[] = [];

  /** Replaces all faults. */
  set(plan: unknown): void {
    const result = faultPlan.safeParse(plan, sentences);
    if (!result.success) {
      const [issue] = result.error.issues;
      throw invalid(`${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? "is not valid"}`);
    }
    this.#faults = result.data.faults.map((fault) => ({ fault, passed: 0, hit: 0 }));
  }

  /** The faults with the number of calls that each has hit. */
  list(): (Fault & { hit: number })[] {
    return this.#faults.map(({ fault, hit }) => ({ ...fault, hit }));
  }

  /** Decides what is played on a call, and counts it. One fault at most replaces the answer. */
  next(endpoint: EndpointName): Play {
    const played: Fault[] = [];
    for (const counted of this.#faults) {
      const { fault } = counted;
      const isTaken = kindOf(fault).ends && played.some((other) => kindOf(other).ends);
      if (isTaken || !this.#hits(counted, endpoint)) continue;
      counted.hit++;
      played.push(fault);
    }
    return new Play(played);
  }

  #hits(counted: { fault: Fault; passed: number; hit: number }, endpoint: EndpointName): boolean {
    const { fault, hit } = counted;
    if (fault.endpoint !== undefined && ![fault.endpoint].flat().includes(endpoint)) return false;
    if (fault.count !== undefined && hit >= fault.count) return false;
    if (fault.after !== undefined && counted.passed < fault.after) {
      counted.passed++;
      return false;
    }
    return true;
  }
}

const isBatch = (request: unknown): request is Json & { rows: unknown[] } =>
  isObject(request) && Array.isArray(request["rows"]);

/** Takes back what a call has changed; its answer stays. */
class TakenBack extends Error {
  readonly answer: unknown;
  constructor(answer: unknown) {
    super();
    this.answer = answer;
  }
}

/** Carries a call out again, or later: the caller has an answer. */
function attempt(work: Work, request: unknown): void {
  try {
    work(request);
  } catch {
    // Nobody hears of it.
  }
}

/** Of a batch the first rows stay, of any other write nothing does, or it is done later. The answer is that of the whole. */
function keepsPart(work: Work, { rows = 0, milliseconds }: Terms, { database }: { database: Database }): Work {
  return (request) => {
    try {
      return database.transaction(() => {
        throw new TakenBack(work(request));
      });
    } catch (error) {
      if (!(error instanceof TakenBack)) throw error;
      if (isBatch(request) && rows > 0) work({ ...request, rows: request.rows.slice(0, rows) });
      if (milliseconds !== undefined) setTimeout(attempt, milliseconds, work, request).unref();
      return error.answer;
    }
  };
}

/** A request with its texts changed, those of people: names, descriptions and what is in rows, but for IDs. */
function withTexts(request: unknown, change: (text: string) => string): unknown {
  const changed = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return /ID$|^_id$/.test(key) ? value : change(value);
    if (Array.isArray(value)) return value.map((item: unknown) => changed(item, key));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, changed(inner, name)]));
  };
  if (!isObject(request)) return request;
  const written = new Set(["rowData", "rows", "organizationInfo", "teamInfo", "content"]);
  const entries = Object.entries(request).map(([key, value]) => [key, written.has(key) ? changed(value, key) : value]);
  return Object.fromEntries(entries);
}

/** An answer with its lists changed. */
function withLists(answer: unknown, change: (items: unknown[], list: string) => unknown[]): unknown {
  const body = isObject(answer) ? answer["body"] : undefined;
  if (!isObject(answer) || !isObject(body)) return answer;
  const lists = Object.entries(body).map(([name, items]) => [
    name,
    Array.isArray(items) ? change(items as unknown[], name) : items,
  ]);
  return { ...answer, body: Object.fromEntries(lists) as Json };
}

/** The tables of things, with the columns that have their IDs and when they were made, and the lists that have them. */
const things = [
  ["Row", "rows", "id", "submitted", "microAppRows"],
  ["Organization", "organizations", "id", "created", undefined],
  ["Team", "teams", "id", "created", undefined],
  ["Child", "children", "id", "created", "childItems"],
  ["Member", "members", "id", "created", "teamMembers"],
  ["Member", "members", "user_id", "created", "teamMembers"],
] as const;

/** Parameters that name things. */
const naming = ["rowID", "embeddingRowID", "appID", "organizationID", "teamID", "teamIDs", "childID"];

/** Answers as a copy does that is brought up to date so much later: what was made since is not found, nor in a list. */
function late(
  work: Work,
  { milliseconds = 1000 }: Terms,
  { database, now }: Pick<CallContext, "database" | "now">,
): Work {
  const isLate = (table: string, key: string, made: string, id: string) =>
    database.one(`SELECT 1 FROM ${table} WHERE ${key} = ? AND ${made} > ?`, id, now - milliseconds) !== undefined;
  return (request) => {
    const parts = isObject(request) ? [request, request["teamInfo"]].filter(isObject) : [];
    for (const id of textsIn(parts.map((part) => naming.map((name) => part[name])))) {
      for (const [what, table, key, made] of things)
        if (what !== "Member" && isLate(table, key, made, id)) throw notFound(what, id);
    }
    return withLists(work(request), (items, list) =>
      items.filter((item) => {
        const id = isObject(item) ? item["_id"] : item;
        if (typeof id !== "string") return true;
        return !things.some(([, table, key, made, of]) => of === list && isLate(table, key, made, id));
      }),
    );
  };
}

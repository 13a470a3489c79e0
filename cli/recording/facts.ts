import { endpoints } from "../../provider/contract/endpoints.ts";
import { isObject, textsIn, type Json } from "../../provider/contract/wire.ts";
import { isChange, subjectsOf, type RecordedCall } from "./calls.ts";
import { describeExpected, written } from "./factShapes.ts";
import type { Known } from "./known.ts";
import type { Replacer } from "./privacy/replacer.ts";
import type { RowValues } from "./shapes.ts";

/** Most steps of a fact: one that needs more is about too much. */
const maxSteps = 12;

/** Rows of a batch that a fact inserts: more say nothing more. */
const maxRows = 3;

/** Most facts of a recording. */
const maxFacts = 500;

/** Ingredients of facts. */
export interface FactContext {
  known: Known;
  replacer: Replacer;
  values: RowValues;
  /** The day, as ISO 8601 has it. */
  date: string;
}

/** Facts by ID, and how many exchanges can't be one. */
export interface MadeFacts {
  facts: Json;
  count: number;
  unfit: number;
}

/** Makes a fact of each exchange with new information. */
export function factsOf(calls: readonly RecordedCall[], context: FactContext): MadeFacts {
  const facts: Json = {};
  let [count, unfit] = [0, 0];
  for (const [index, call] of calls.entries()) {
    if (!call.isNew) continue;
    const steps = count < maxFacts ? stepsOf(calls, index, context) : undefined;
    if (!steps) {
      unfit++;
      continue;
    }
    count++;
    facts[freeID(call, facts)] = {
      rule: ruleOf(call),
      evidence: { kind: "recorded", place: context.date },
      steps,
    };
  }
  return { facts, count, unfit };
}

function freeID({ name, sent }: RecordedCall, facts: Json): string {
  const words = Object.keys(sent).filter((key) => /^\w+$/.test(key));
  const id = words.length === 0 ? `${name}: without parameters` : `${name}: ${words.join(", ")}`;
  let free = id;
  for (let number = 2; Object.hasOwn(facts, free); number++) free = `${id} (${number})`;
  return free;
}

function ruleOf({ refused, answer, status }: RecordedCall): string {
  if (refused !== undefined) return `is refused with HTTP ${status}, as recorded`;
  const keys = Object.keys(answer ?? {}).filter((key) => answer?.[key] !== undefined);
  return keys.length === 0 ? "succeeds, as recorded" : `answers ${keys.join(", ")}, as recorded`;
}

/** The steps to a call and itself; undefined where it can't be tried again without touching what others have. */
function stepsOf(calls: readonly RecordedCall[], index: number, context: FactContext): Json[] | undefined {
  const target = calls[index];
  if (!target) return undefined;
  const before = needed(calls, index);
  const all = [...before, target];
  const own = new Set(before.flatMap(({ made }) => made?.id ?? []));
  const isOwn = (call: RecordedCall): boolean => !isChange(call) || subjectsOf(call).every((id) => own.has(id));
  if (all.length > maxSteps || !all.every(isOwn)) return undefined;
  const writer = new Steps(context);
  const steps = all.map((call) => writer.step(call, call === target));
  return steps.includes(undefined) ? undefined : (steps as Json[]); // none is undefined
}

/** The calls that made what a call mentions, and those that changed it since. */
function needed(calls: readonly RecordedCall[], index: number): RecordedCall[] {
  const found = new Set<number>();
  const wanted = new Set(calls[index]?.mentions);
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (let at = index - 1; at >= 0; at--) {
      const call = calls[at];
      if (!call || found.has(at) || !isChange(call)) continue;
      const makes = call.made !== undefined && wanted.has(call.made.id);
      const changes = subjectsOf(call).some((id) => wanted.has(id) && wasMade(calls, at, id));
      if (!makes && !changes) continue;
      found.add(at);
      for (const id of call.mentions) wanted.add(id);
    }
  }
  return [...found].sort((a, b) => a - b).flatMap((at) => calls[at] ?? []);
}

const wasMade = (calls: readonly RecordedCall[], before: number, id: string): boolean =>
  calls.slice(0, before).some(({ made }) => made?.id === id);

/** A name from the sandbox or of an earlier step. Recorded texts that look like one must not be taken for it. */
const reference = /^\$[A-Za-z]|\$\{/;

/** The person of a name like `$member.email`. */
const personIn = (name: string | undefined): string | undefined => /^\$(\w+)\.(?:userID|email)$/.exec(name ?? "")?.[1];

/** The steps of one fact. */
class Steps {
  readonly #context: FactContext;
  readonly #names = new Map<string, string>();
  /** Texts and numbers that a step wrote, by label. */
  readonly #wrote = new Map<string, unknown>();
  /** People who call, or are named, in a step. */
  readonly #persons = new Set<string>();
  /** Things that steps made so far. */
  #made = 0;
  #isUnfit = false;
  /** True when the current call was refused because something does not exist. */
  #isMissing = false;
  #isLogin = false;

  constructor(context: FactContext) {
    this.#context = context;
    const { first, users } = context.known.people;
    const others = [...users].filter((user) => user !== first);
    for (const [index, name] of (["admin", "member", "other", "invitee"] as const).entries()) {
      const user = index === 0 ? first : others[index - 1];
      if (user?.email !== undefined) this.#names.set(user.email, `$${name}.email`);
      if (user?.id !== undefined && name !== "invitee") this.#names.set(user.id, `$${name}.userID`);
    }
  }

  /** A step; undefined for a call that can't be one. */
  step(call: RecordedCall, isTarget: boolean): Json | undefined {
    const { name, answer, refused, status, made } = call;
    const as = this.#callerOf(call);
    this.#isLogin = name === "login";
    this.#isMissing = refused !== undefined && (status === 404 || /not (be )?found|not exist|unknown/i.test(refused));
    const sent = this.#request(call);
    if (as === undefined || !this.#fits() || [...textsIn(call.sent)].some((text) => reference.test(text)))
      return undefined;
    const step: Json = { call: name, ...(as === "admin" ? {} : { as }), with: sent };
    if (refused !== undefined) return { ...step, refused: { status, ...this.#words(call) } };
    if (made && !isTarget) {
      const kept = `${made.word}${++this.#made}`;
      this.#names.set(made.id, `$${kept}`);
      step["keep"] = { [kept]: made.path };
    }
    if (!isTarget) return step;
    const expected = describeExpected(this.#lasting(call, answer ?? {}), (value, label) => this.#knows(value, label));
    const { replacer } = this.#context;
    const clean = (path: string): string =>
      path
        .split(".")
        .map((part) => replacer.text(part))
        .join(".");
    if (Object.keys(expected.answer).length > 0) step["answer"] = replacer.value(expected.answer);
    if (expected.volatile.length > 0) step["volatile"] = expected.volatile.map(clean);
    return this.#fits() ? step : undefined;
  }

  #fits = (): boolean => !this.#isUnfit;

  #callerOf({ name, headers }: RecordedCall): string | undefined {
    if (endpoints[name].auth === "none") return "admin";
    const { "x-auth-token": token, "x-user-id": user } = headers;
    if (token === undefined || user === undefined) return "nobody";
    const known = this.#named(user);
    return known?.endsWith(".userID") ? personIn(known) : undefined;
  }

  /** The name that stands for a text of a request. */
  #named(text: string): string | undefined {
    const name = this.#names.get(text);
    const person = personIn(name);
    if (person !== undefined) this.#persons.add(person);
    return name;
  }

  /** True when the fact knows what a name stands for. The author of earlier things is another person in a sandbox. */
  #isKnown(name: string): boolean {
    const person = personIn(name);
    if (person === undefined) return true;
    return person === "admin" ? this.#made > 0 || this.#isLogin : this.#persons.has(person);
  }

  /** The platform's words, where they are its own. */
  #words({ refused = "", sent, wire }: RecordedCall): Json {
    const message = isObject(wire) ? (wire["message"] ?? wire["error"]) : undefined;
    if (typeof message !== "string" || !refused.includes(message)) return {};
    const isOwn = this.#context.replacer.text(message) === message && !/\d|["'“]/.test(message);
    const quotes = [...textsIn(sent)].some((text) => text.length > 2 && message.includes(text));
    return { message: isOwn && !quotes ? message : "$text" };
  }

  #request({ name, sent, refused }: RecordedCall): Json {
    if (name === "login" && refused === undefined) return { email: "$admin.email", password: "$admin.password" };
    const request = this.#value(sent, "", refused === undefined) as Json; // it stays an object
    if (refused === undefined && typeof sent["teamMemberID"] === "string") {
      // A membership has another ID at each try; team and user say which one is meant.
      delete request["teamMemberID"];
      if (sent["teamID"] === undefined || sent["userID"] === undefined) this.#isUnfit = true;
    }
    const info = request["organizationInfo"] ?? request["teamInfo"];
    if (refused !== undefined || !isObject(info)) return request;
    if (name.startsWith("insert") && info["_id"] !== undefined) info["_id"] = `id${this.#made}-\${unique}`;
    if (name.endsWith("organization") && typeof info["name"] === "string") info["name"] += " ${unique}";
    return request;
  }

  #value(value: unknown, key: string, isDone: boolean): unknown {
    const { replacer, values, known } = this.#context;
    if (typeof value === "string") {
      const name = this.#named(value);
      if (name !== undefined) return name;
      // A missing or deleted thing gets an ID that nothing has; a sandbox has one organization for all.
      if (this.#isMissing && this.#isThing(key)) return "$unknown";
      if (key === "organizationID") return known.people.organizations.has(value) ? "$organization" : "$unknown";
      const replaced = String(replacer.value(value, key));
      if (replaced !== value && isDone) this.#isUnfit = true; // a person who does not exist in a sandbox
      return this.#isGone(key, value) ? "$unknown" : replaced;
    }
    if (written.has(key)) return this.#writtenValue(value, key, values);
    if (Array.isArray(value)) return value.map((item) => this.#value(item, key, isDone));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const some = name === "rows" && Array.isArray(inner) ? inner.slice(0, maxRows) : inner;
        const made = written.has(name) ? this.#writtenValue(some, name, values) : this.#value(inner, name, isDone);
        return [replacer.text(name), made];
      }),
    );
  }

  /** Values that users wrote, with the IDs from earlier steps replaced by references. */
  #writtenValue(value: unknown, label: string, values: RowValues): unknown {
    if (typeof value === "string" && this.#names.has(value)) return this.#named(value);
    if (Array.isArray(value)) return value.map((item) => this.#writtenValue(item, label, values));
    if (isObject(value)) {
      // A pattern matches other values than those that stand for the ones it was made for.
      if ("$regex" in value) this.#isUnfit = true;
      const entries = Object.entries(value).map(([key, inner]) => [
        this.#context.replacer.text(key),
        this.#writtenValue(inner, key, values),
      ]);
      return Object.fromEntries(entries) as Json;
    }
    const made = values.written(label, value);
    if ((typeof made === "string" || typeof made === "number") && made !== "")
      this.#wrote.set(`${label}\0${String(value)}`, made);
    return made;
  }

  /** True for a parameter that is the ID of a thing. */
  #isThing = (key: string): boolean => /^(organization|team|teamMember|row|child|microApp)IDs?$/.test(key);

  /** True for the ID of a thing that no longer exists at the end. */
  #isGone(key: string, id: string): boolean {
    const { tables, people } = this.#context.known;
    if (key === "rowID" || key === "appID" || key === "embeddingRowID") return !tables.find(id);
    if (key === "teamID" || key === "teamIDs") return !people.teams.has(id);
    return key === "microAppID" && !tables.all.has(id);
  }

  /** An answer without what of a table or a team may be otherwise the next time. */
  #lasting({ name, sent }: RecordedCall, answer: Json): Json {
    const { tables, people } = this.#context.known;
    const goneBy = (key: string, isThere: (id: string) => boolean): void => {
      const id = sent[key];
      if (typeof id === "string" && !this.#names.has(id) && !isThere(id)) this.#isUnfit = true;
    };
    if (name === "microappdataRow" && answer["currentRow"] !== undefined)
      goneBy("rowID", (id) => tables.find(id) !== undefined);
    if (name === "createappwithpromptStatus") this.#isUnfit = true; // no seed has apps
    if (name === "readteam") goneBy("teamID", (id) => people.teams.has(id));
    if (name === "readorganization") goneBy("organizationID", (id) => people.organizations.has(id));
    return answer;
  }

  #knows(value: unknown, label: string): unknown {
    const name = typeof value === "string" ? this.#names.get(value) : undefined;
    if (name !== undefined) return this.#isKnown(name) ? name : undefined;
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    return this.#wrote.get(`${label}\0${String(value)}`);
  }
}

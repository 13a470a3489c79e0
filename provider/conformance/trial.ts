import { randomBytes } from "node:crypto";
import { isObject, type Json } from "../contract/wire.ts";
import type { Fact, FactRead, StepOutcome, FactStep } from "./fact.ts";
import type { FixtureIDs } from "./fixtures.ts";
import type { FactThings } from "./made.ts";
import { mismatch, softenExpected, valueAt, type Mismatch } from "./matching.ts";
import type { PlatformClient, CallResult } from "./platformClient.ts";
import { resolve } from "./references.ts";

/** Extra access where the platform is an emulator. */
export interface Emulated {
  /** Has these settings and no others until the next call. */
  set: (settings: Json) => void;
  /** Puts the clock forward, marks a row, or reads what was delivered. */
  do: (what: "advance" | "markRow" | "notifications", request: Json) => unknown;
}

/** Connections and limits for trying a fact. */
export interface Stage {
  client: PlatformClient;
  ledger: FactThings;
  sandbox: FixtureIDs;
  emulator?: Emulated | undefined;
  signal?: AbortSignal | undefined;
}

/** Where a fact does not hold; `value` is the habit of which this is known. */
export interface FactFailure extends Mismatch {
  /** Counted from 0, the steps of its beginning included. */
  step: number;
  value?: string;
}

/** An ID of the usual form that nothing has. */
const unknownID = "nothinghasthisid0";

/** Carries out the steps of a fact; undefined when all came out as expected. */
export async function carryOutFact({ steps, habit }: Fact, stage: Stage): Promise<FactFailure | undefined> {
  const known = new Map<string, unknown>(Object.entries(stage.sandbox));
  known.set("unique", `x${randomBytes(8).toString("hex")}`).set("unknown", unknownID);
  for (const [index, step] of steps.entries()) {
    const plain = resolve(step, known) as FactStep;
    const variants: Json[] = plain.each ?? [{}];
    for (const variant of variants) {
      const reply = await carriedOut({ ...plain, with: merged(plain.with, variant) }, stage);
      const wrong = findDifference({ ...plain, answer: softenExpected(plain.answer, plain.volatile ?? []) }, reply);
      if (wrong) {
        const value = habit === undefined ? undefined : await otherwise(plain, reply, stage);
        return { step: index, ...wrong, ...(value === undefined ? {} : { value }) };
      }
      for (const [name, path] of Object.entries(plain.keep ?? {})) {
        const value = reply.kind === "answer" ? kept(reply.answer, path) : undefined;
        if (value === undefined) return { step: index, path: keptAt(path), expected: "$any", seen: value };
        known.set(name, value);
      }
    }
  }
  return undefined;
}

type Kept = NonNullable<FactStep["keep"]>[string];

const keptAt = (kept: Kept): string => (typeof kept === "string" ? kept : kept.at);

function kept(answer: unknown, kept: Kept): unknown {
  const value = valueAt(answer, keptAt(kept));
  return typeof kept === "string" ? value : new RegExp(kept.match, "u").exec(String(value))?.[0];
}

/** The value of the habit that has this outcome. */
async function otherwise(step: FactStep, reply: CallResult, stage: Stage): Promise<string | undefined> {
  for (const [value, alternatives] of Object.entries(step.otherwise ?? {})) {
    for (const { then = [], ...outcome } of alternatives) {
      if (!findDifference(outcome, reply) && (await allCome(then, stage))) return value;
    }
  }
  return undefined;
}

async function allCome(looks: readonly FactRead[], stage: Stage): Promise<boolean> {
  for (const look of looks) if (findDifference(look, await carriedOut(look, stage))) return false;
  return true;
}

/** Puts a variant over a request; `$absent` takes a parameter out. */
const merged = (request: Json, variant: Json): Json =>
  Object.fromEntries(Object.entries({ ...request, ...variant }).filter(([, value]) => value !== "$absent"));

async function carriedOut(step: FactRead, { client, ledger, emulator, signal }: Stage): Promise<CallResult> {
  signal?.throwIfAborted();
  if (step.emulator !== undefined) {
    const answer = emulator?.do(step.emulator, step.with);
    return { kind: "answer", status: 200, body: answer, answer };
  }
  if (step.fetch !== undefined) {
    const answer = await client.fetch(step.fetch, signal);
    const { status, text } = answer;
    if (status < 400) return { kind: "answer", status, body: text, answer };
    return { kind: "refused", status, body: text, code: "notFound", message: text };
  }
  if (step.call === undefined) throw new Error("a step calls something"); // the schema refuses it
  const { call: name, with: request, as, form, method, headers } = step;
  const call = { name, request, as, form, method, headers };
  await ledger.before(call);
  const reply = await client.call(call, signal);
  ledger.after(call, reply);
  return reply;
}

/** Compares what came with what is expected; undefined where it matches. */
export function findDifference({ answer, body, refused }: StepOutcome, reply: CallResult): Mismatch | undefined {
  if (refused !== undefined) return refusalOf(refused, reply);
  const readable = reply.kind === "answer" || (reply.kind === "unreadable" && answer === undefined);
  if (!readable) return { path: "", expected: answer ?? "an answer", seen: failed(reply) };
  const wrong = body === undefined ? undefined : mismatch(body, reply.body);
  if (wrong || answer === undefined || reply.kind !== "answer") return wrong;
  return mismatch(answer, reply.answer);
}

function refusalOf(expected: NonNullable<StepOutcome["refused"]>, reply: CallResult): Mismatch | undefined {
  if (reply.kind !== "refused") return { path: "refused", expected, seen: reply.body };
  const { code, status, message, body } = expected;
  const inside = reply.status < 400; // a failure in HTTP 200 has a code by its words alone
  const pairs: [path: string, expected: unknown, seen: unknown][] = [
    ["refused.code", inside ? undefined : code, reply.code],
    ["refused.status", status, reply.status],
    ["refused.message", message, reply.message],
    ["refused.body", body, reply.body],
  ];
  for (const [path, wanted, seen] of pairs) {
    const wrong = wanted === undefined ? undefined : mismatch(wanted, seen, path);
    if (wrong) return wrong;
  }
  return undefined;
}

const failed = (reply: CallResult): unknown => {
  if (reply.kind === "answer") return reply.answer;
  const { kind, code, status, message, body } = reply;
  return { [kind]: code, status, message, ...(isObject(body) ? { body } : {}) };
};

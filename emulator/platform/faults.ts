import { z } from "zod";
import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import { otherForms, type OtherForm } from "../data/callContext.ts";
import { invalid } from "../data/platformError.ts";

const names = Object.keys(endpoints) as [EndpointName, ...EndpointName[]]; // keys of the contract's table
const name = z.enum(names, { error: "must be the name of an endpoint" });

/** The kinds of what goes wrong. */
export const faultKinds = [
  "status",
  "reset",
  "timeout",
  "brokenJSON",
  "errorInside",
  "expiredToken",
  "slow",
  "defaultLimit",
  "keepsPart",
  "otherForms",
  "late",
] as const;

/**
 * Something that goes wrong on purpose.
 *
 * - `status`: answers `status` (500 by default) and `retryAfter`
 * - `reset`: drops the connection
 * - `timeout`: never answers
 * - `brokenJSON`: carries the call out and ends the answer in its middle
 * - `errorInside`: answers HTTP 200 with a failure in it, whose words are `message`
 * - `expiredToken`: ends the caller's session before the call
 * - `slow`: waits `milliseconds` (1,000) first
 * - `defaultLimit`: rows that a read answers when it names no limit
 * - `keepsPart`: keeps `rows` rows of a batch (none by default), and nothing of any other write, and answers as if it had
 *   kept all
 * - `late`: does not find what was made within the last `milliseconds` (1,000), as a copy that is brought up to date later
 * - `otherForms`: reads rows back in these `forms`: dates as midnight UTC, texts trimmed, numbers or checkboxes as text
 */
const fault = z.strictObject({
  kind: z.enum(faultKinds),
  endpoint: z
    .union([name, z.array(name)])
    .optional()
    .describe("Where; everywhere when it is left out."),
  after: z.int().min(0).optional().describe("Calls that pass before the first is hit."),
  count: z.int().min(1).optional().describe("Calls that are hit; all when it is left out."),
  probability: z.number().min(0).max(1).optional().describe("Of a call to be hit."),
  commit: z.boolean().optional().describe("Carry the call out before it goes wrong."),
  status: z.int().min(400).max(599).optional(),
  retryAfter: z.int().min(0).optional().describe("Seconds."),
  message: z.string().min(1).optional().describe("Words of the failure."),
  milliseconds: z.int().min(0).optional(),
  limit: z.int().min(1).optional(),
  rows: z.int().min(0).optional().describe("Rows of a batch that are kept."),
  forms: z.array(z.enum(otherForms)).optional().describe("Forms that values are read back in."),
});

const faultPlan = z.strictObject({
  faults: z.array(fault).default([]),
  randomSeed: z.int().default(1).describe("Two plans with the same one hit the same calls."),
});

export type Fault = z.output<typeof fault>;
export type FaultPlan = z.input<typeof faultPlan>;

/** The faults that are played on one call. */
export interface Play {
  /** Fault that replaces the call's answer. */
  ending: Fault | undefined;
  expiredToken: boolean;
  /** Milliseconds to wait before the call. */
  delay: number;
  defaultLimit: number | undefined;
  /** Rows of a batch that are kept, and whether anything of another write is; undefined where all is. */
  keeps: number | undefined;
  forms: readonly OtherForm[];
  /** Milliseconds for which new things are not found. */
  late: number;
  /** Names of the faults for the call log; null without any. */
  name: string | null;
}

interface Counted {
  fault: Fault;
  passed: number;
  hit: number;
}

/** Kinds that leave a call its answer. */
const lasting = new Set<Fault["kind"]>([
  ...(["slow", "defaultLimit", "expiredToken", "keepsPart", "otherForms", "late"] as const),
]);

/** Decides which faults are played, and counts them. */
export class Faults {
  #faults: Counted[] = [];
  #random: () => number = random(1);

  /** Replaces all faults. */
  set(plan: unknown): void {
    const result = faultPlan.safeParse(plan, sentences);
    if (!result.success) {
      const [issue] = result.error.issues;
      throw invalid(`${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? "is not valid"}`);
    }
    this.#faults = result.data.faults.map((fault) => ({ fault, passed: 0, hit: 0 }));
    this.#random = random(result.data.randomSeed);
  }

  /** The faults with the number of calls that each has hit. */
  list(): (Fault & { hit: number })[] {
    return this.#faults.map(({ fault, hit }) => ({ ...fault, hit }));
  }

  /** Decides what is played on a call, and counts it. */
  next(endpoint: EndpointName): Play {
    const play: Play = {
      ending: undefined,
      expiredToken: false,
      delay: 0,
      defaultLimit: undefined,
      keeps: undefined,
      forms: [],
      late: 0,
      name: null,
    };
    const played: string[] = [];
    for (const counted of this.#faults) {
      const { fault } = counted;
      const ends = !lasting.has(fault.kind);
      if ((ends && play.ending) || !this.#hits(counted, endpoint)) continue;
      counted.hit++;
      played.push(fault.kind === "status" ? `status ${fault.status ?? 500}` : fault.kind);
      if (ends) {
        play.ending = fault;
        if (fault.commit) played.push("after commit");
      } else if (fault.kind === "slow") play.delay += fault.milliseconds ?? 1000;
      else if (fault.kind === "late") play.late = Math.max(play.late, fault.milliseconds ?? 1000);
      else if (fault.kind === "defaultLimit") play.defaultLimit = fault.limit ?? 1;
      else if (fault.kind === "keepsPart") play.keeps = fault.rows ?? 0;
      else if (fault.kind === "otherForms") play.forms = [...play.forms, ...(fault.forms ?? otherForms)];
      else play.expiredToken = true;
    }
    if (played.length > 0) play.name = played.join(" ");
    return play;
  }

  #hits(counted: Counted, endpoint: EndpointName): boolean {
    const { fault, hit } = counted;
    if (fault.endpoint !== undefined && ![fault.endpoint].flat().includes(endpoint)) return false;
    if (fault.count !== undefined && hit >= fault.count) return false;
    if (fault.after !== undefined && counted.passed < fault.after) {
      counted.passed++;
      return false;
    }
    return fault.probability === undefined || this.#random() < fault.probability;
  }
}

/** Numbers from 0 to 1, the same ones for the same start (mulberry32). */
export function random(start: number): () => number {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

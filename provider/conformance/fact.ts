import { z } from "zod";
import { endpoints, type EndpointName } from "../contract/endpoints.ts";
import { errorCodes, type ErrorCode } from "../contract/errors.ts";
import { switches as habits, type SwitchName as HabitName } from "../habits/deviations.ts";
import { checkExpectation, checkFile } from "./factChecks.ts";
import { fixtures, people, type FixtureName } from "./fixtures.ts";

const names = <Name extends string>(table: Readonly<Record<Name, unknown>>): [Name, ...Name[]] =>
  Object.keys(table) as [Name, ...Name[]]; // no table is empty
const endpointName = z.enum(names<EndpointName>(endpoints));
const habitName = z.enum(names<HabitName>(habits));

/** Where a rule comes from; `place` is a heading of the specification with a number or a name, a section, or a date. */
export const evidence = z.strictObject({
  kind: z.enum(["documented", "client", "recorded", "assumed"]),
  place: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).transform((place) => [place].flat()),
});

/** Part of what must come back, in which matchers may stand. */
const expectation = z.unknown().superRefine(checkExpectation);

const refusal = z.strictObject({
  code: z
    .enum(names<ErrorCode>(errorCodes))
    .optional()
    .describe("By HTTP status and words; not compared where a refusal comes with HTTP 200."),
  status: expectation.optional().describe("HTTP status."),
  message: expectation.optional(),
  body: expectation.optional().describe("The whole body as it came."),
});

/** Result of a step. `answer` is without its envelope, as the contract has it; `body` is the full one. */
const outcome = {
  answer: expectation.optional(),
  body: expectation.optional(),
  refused: refusal.optional(),
};

/** Headers of a session in place of a person's. */
const session = z.strictObject({
  authToken: z.string().optional(),
  userId: z.string().optional(),
  apiKey: z.string().optional(),
});

const call = {
  call: endpointName.optional(),
  fetch: z.string().optional().describe("An address, asked without headers; its answer is {text, headers}."),
  emulator: z.enum(["advance", "markRow", "notifications"]).optional().describe("Something beside the interface."),
  as: z.union([z.enum([...people, "nobody"]), session]).default("admin"),
  with: z.record(z.string(), z.unknown()).default({}),
  each: z
    .array(z.record(z.string(), z.unknown()))
    .min(1)
    .optional()
    .describe("The step is tried with each of these put over `with`; $absent takes a parameter out."),
  form: z.string().optional().describe("One spelling of the request (default: one that the platform takes)."),
  method: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
};

/** A step that only looks, to tell one alternative from another. */
const look = z.strictObject({ ...call, ...outcome });

const kept = z.strictObject({ at: z.string(), match: z.string() });
const alternative = z.strictObject({ ...outcome, then: z.array(look).optional() });

/** A call, and what must come of it. */
export const step = z.strictObject({
  ...call,
  ...outcome,
  keep: z
    .record(z.string(), z.union([z.string(), kept]))
    .optional()
    .describe("Values of the answer for later steps: name and path, or the part of a text that matches."),
  volatile: z.array(z.string()).optional().describe("Paths of the answer that need only be there; * is any step."),
  otherwise: z
    .record(
      z.string(),
      z.union([alternative, z.array(alternative).min(1)]).transform((one) => [one].flat()),
    )
    .optional()
    .describe("What comes where the platform has another value of the fact's habit; of several any may come."),
});

export const fact = z.strictObject({
  rule: z.string().min(1).describe("The rest of a sentence that begins with the fact's ID."),
  evidence,
  needs: z
    .array(z.enum(names<FixtureName>(fixtures)))
    .default([])
    .describe("Beside what the steps refer to."),
  settings: z.record(z.string(), z.unknown()).optional().describe("Settings of the emulator; tried on one alone."),
  presumes: z
    .partialRecord(habitName, z.union([z.string(), z.array(z.string())]))
    .default({})
    .describe("Habits without which the fact says nothing."),
  habit: habitName.optional().describe("What the fact tells of the platform."),
  after: z.string().optional().describe("A beginning of the same file."),
  steps: z.array(step).min(1),
});

/** A file of facts: by ID, which begins with an endpoint; a second word is a parameter, after a colon anything else. */
const facts = z.strictObject({
  version: z.literal(1),
  beginnings: z.record(z.string(), z.array(step)).default({}).describe("Steps that several facts begin with."),
  facts: z.record(z.string().regex(idForm(), "must begin with an endpoint"), fact),
});
export const factsFile = facts.superRefine(checkFile);

/** An endpoint, a parameter of it, or a rule: `login`, `login email`, `login: headers`. */
function idForm(): RegExp {
  return new RegExp(`^(?:${Object.keys(endpoints).join("|")})(?: [\\w.]+)?(?:: .+)?$`);
}

export type FactStep = z.output<typeof step>;
export type FactRead = z.output<typeof look>;
export type StepOutcome = Pick<FactStep, "answer" | "body" | "refused">;

/** A fact with its ID and all of its steps. */
export interface Fact extends Omit<z.output<typeof fact>, "after"> {
  id: string;
  /** Name of its file, which is that of a family of endpoints. */
  section: string;
}

import { randomBytes } from "node:crypto";
import type { CallOptions, CallRecord } from "../../../platform/client/index.ts";
import { timeOf } from "../../../platform/contract/values.ts";
import {
  ApiError,
  type ErrorCode,
  isNotFound,
  isOutcomeUnknown,
  isRefusal,
  isUndocumented,
} from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { type Context, PartialFailure, ResourceError } from "./resource.ts";

const nothing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** The wanted values that differ from those found; nothing, null and the empty text are the same. */
export function findChangedValues<T extends object>(wanted: T, found: Readonly<Record<string, unknown>>): Partial<T> {
  const changed = Object.entries(wanted).filter(
    ([name, value]) => value !== found[name] && !(nothing(value) && nothing(found[name])),
  );
  return Object.fromEntries(changed) as Partial<T>; // a subset of the entries of T
}

/** The managed part of a description: all of it when it is imported or declared. */
export function toManagedDescription(
  found: { description?: string | null | undefined },
  state: { name?: string; description?: string | null | undefined },
): { description?: string | null } {
  const imported = state.name === undefined;
  if (imported) return found.description ? { description: found.description } : {};
  return state.description === undefined ? {} : { description: absentAs(state.description, found.description) };
}

/** The live description. An empty one is returned in the declared spelling of "nothing". */
const absentAs = (declared: string | null, found: string | null | undefined): string | null =>
  nothing(found) ? (nothing(declared) ? declared : null) : (found ?? null);

const day = 86_400_000;

/** Age of a thing, from the platform's time: a thing made by an interrupted run is recent. */
function ageOf(now: number, { createdAt }: Aged): "recent" | "old" | "unknown" {
  const time = timeOf(createdAt);
  if (time === undefined) return "unknown";
  return now - time <= day ? "recent" : "old";
}

const unlike = {
  recent: "with other content",
  old: "and was not made within the last day",
  unknown: "and the platform does not tell when it was made, so nobody can know whether a run of this stack made it",
};

/**
 * Goes on with what is there under the ID of the creation, or throws why not; true where it is adopted. The ID is derived from the resource's URN: what
 * has it, says what is declared and is a day old at most, is what an interrupted run made.
 */
function take<Found extends Aged>(
  { context, what, matches, adopt }: Creation<Found>,
  id: string,
  { found, age, isOurs }: { found: Found; age: keyof typeof unlike; isOurs: boolean },
): boolean {
  if (isOurs || (matches(found) && age === "recent")) {
    context.report.info(`${what} was already there with the ID that this resource creates it with: going on with it`);
    return false;
  } else if (adopt) {
    context.report.info(`adopting ${id} as ${what}`);
    return true;
  } else {
    const how = matches(found) ? unlike[age] : unlike.recent;
    throw new ResourceError(
      `${what} was not created because ${id} already exists on the platform ${how}. If an interrupted run made it, ` +
        `set adopt: true to take it over. If this run is to replace it (--replace, or a tainted state): run the same ` +
        `command with --refresh, which tells what is to be replaced. If another resource has it, which was called so ` +
        `before: declare its old name with aliases there, and give this one another name; if that is of a stack that was ` +
        `called so before, give this stack or resource another name.`,
    );
  }
}

interface Aged {
  createdAt?: unknown;
}

/** Context for reading the platform; `onCall` receives its time. */
type Looking = Context & Pick<CallOptions, "onCall">;

interface Creation<Found extends Aged> {
  context: Context;
  /** Kind and name for people, e.g. `team "Crew"`. */
  what: string;
  /** The present ID for the creation; undefined lets the platform choose. */
  choose: () => string | undefined;
  adopt: boolean;
  urn: string | undefined;
  /** Its name in the journal. */
  thing: (id: string) => string;
  /** True when the thing under that ID is known to have been this resource's. */
  keeps?: boolean;
  find: (id: string, context: Looking) => Promise<Found | undefined>;
  /** True when the live thing equals the one to create. */
  matches: (found: Found) => boolean;
  create: (id: string | undefined) => Promise<string>;
}

/** True when a failed call may have been carried out; a call without an error is over. */
const mayBeMade = (error: unknown): boolean =>
  error !== undefined && (!(error instanceof ApiError) || error.code === "cancelled" || isOutcomeUnknown(error));

const never = new AbortController().signal;

/** For what follows a creation: it ends also when the run is cancelled meanwhile, so that what was made is saved. */
export const uncancellable = <Any extends Context>(context: Any): Any => ({ ...context, signal: never });

/** Result of a creation. `found` is an existing thing, or the one found after a lost answer. */
interface Created<Found> {
  id: string;
  found?: Found;
  /** Undefined where the thing was this resource's already. */
  isAdopted?: boolean;
}

/**
 * Creates a thing under an ID of our choice exactly once, whatever happened before or happens on the way: only when it
 * is refused, or its answer is lost, is it looked for.
 */
export async function createOnce<Found extends Aged>(creation: Creation<Found>): Promise<Created<Found>> {
  const { choose, create, urn, context } = creation;
  const { journal } = context;
  const id = choose();
  if (id === undefined) return { id: await create(undefined), isAdopted: false };
  const kept = creation.keeps ? await creation.find(id, context) : undefined;
  if (kept) return { id, found: kept };
  const thing = creation.thing(id);
  const isBegun = journal.find(urn, thing) !== undefined;
  if (!isBegun) journal.begin(urn, thing, new Date(context.now()).toISOString());
  let isLost = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const newID = await create(id);
      if (creation.adopt)
        context.report.info(
          `made new: no ${creation.what.split(" ")[0] ?? "thing"} with the ID of this key was there to adopt. One that was made by hand is taken over by an import`,
        );
      if (newID === id) honouring.add(context.client);
      journal.answered(urn, thing);
      return { id: newID, isAdopted: false };
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      isLost ||= mayBeMade(error);
      if (!isLost && !isBegun) journal.settle(urn, thing);
      if (isUndocumented(error) || (!isUnknown && !mayBeThere(error))) throw error;
      const { found, age } = await look(creation, id);
      if (found === undefined && (!isUnknown || attempt === 3)) throw error;
      const honoursForSure = honouring.has(context.client);
      if (found === undefined && isOutcomeUnknown(error) && !honoursForSure) throw unsure(creation, error);
      if (found === undefined) continue;
      // Another resource of this run may turn out to have it meanwhile.
      if (choose() !== id) return createOnce(creation);
      // It is of the call that was lost, unless it was there for long: nothing else makes a thing with this ID.
      const isOurs = creation.matches(found) && (isBegun || (isLost && age !== "old"));
      const isAdopted = take(creation, id, { found, age, isOurs });
      journal.answered(urn, thing);
      return { id, found, isAdopted };
    }
  }
}

/** Clients whose platform was seen to take an ID that the caller chose. */
const honouring = new WeakSet<object>();

/** A platform that gives IDs of its own makes a second thing, and nobody would find the first. */
const unsure = ({ what }: Pick<Creation<Aged>, "what">, { platformMessage }: ApiError): ResourceError =>
  new ResourceError(
    `whether ${what} was created is not known: ${platformMessage}. It is not found under the ID that was chosen for it, and ` +
      `this platform may give IDs of its own: made once more, it might be there twice. Look for it on the platform. If it is ` +
      `not there, run up again; if it is, delete it first, or import it.`,
  );

/** Reads the thing under an ID, and its age by the platform's clock, which may differ from ours. */
async function look<Found extends Aged>({ find, context }: Creation<Found>, id: string) {
  let now: number | undefined;
  const onCall = ({ date }: CallRecord): void => void (now = date ?? now);
  const found = await find(id, { ...context, onCall });
  return { found, age: found === undefined ? ("unknown" as const) : ageOf(now ?? context.now(), found) };
}

/** True when a refused creation may mean that the thing exists. The wording of such a refusal is undocumented. */
const mayBeThere = (error: unknown): boolean =>
  isRefusal(error) || (error instanceof ApiError && error.code === "conflict");

type Settings = Readonly<Record<string, unknown>>;

interface Sent<Wanted extends object> {
  context: Context;
  /** Kind and name for people, e.g. `team "Crew"`. */
  what: string;
  id: string;
  wanted: Wanted;
  /** Outputs to save: all as declared. */
  outputs: Settings;
  /** Reads it; undefined when there is none. */
  find: () => Promise<Settings | undefined>;
}

/** Reads back settings that were sent. Throws when the platform has others, and saves those. */
export async function proveSettings<Wanted extends object>(sent: Sent<Wanted>): Promise<void> {
  const { context, wanted } = sent;
  const isShown = (found: Settings | undefined): boolean =>
    found === undefined || Object.keys(findChangedValues(wanted, found)).length === 0;
  prove(sent, await untilShown(context, () => read(sent), isShown));
}

function prove<Wanted extends object>(sent: Sent<Wanted>, found: Settings | undefined): void {
  const { what, id, wanted, outputs } = sent;
  if (!found) {
    const message = `${what} was written as ${id}, and the platform does not find it there. Look for it on the platform, then run up again.`;
    throw new PartialFailure(message, id, outputs);
  }
  const others = Object.keys(findChangedValues(wanted, found)).map(
    (name) => `${name} is ${shown(found[name])}, not ${shown(Reflect.get(wanted, name))}`,
  );
  if (others.length === 0) return;
  const message =
    `${what} was written, and the platform has something else: ${others.join("; ")}. Declare what the platform ` +
    `keeps, or ask its operator whether this can be changed; then run up again.`;
  const names = Object.keys(wanted).filter((name) => name in outputs);
  const kept = Object.fromEntries(names.map((name) => [name, found[name] ?? undefined]));
  throw new PartialFailure(message, id, { ...outputs, ...kept });
}

async function read<Wanted extends object>({ what, id, outputs, find }: Sent<Wanted>): Promise<Settings | undefined> {
  try {
    return await find();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PartialFailure(`${what} was written and could not be read back: ${reason}`, id, outputs);
  }
}

const shown = (value: unknown): string => (typeof value === "string" && value !== "" ? quote(value) : "empty");

/** Forms of new things that a platform was seen to keep, by its client. */
const kept = new WeakMap<object, Map<string, Promise<boolean>>>();

/**
 * The same for new things: those with the same settings set are alike, so one of them is read for all that a run makes,
 * and each only once that one was not kept.
 */
export async function proveNew<Wanted extends object>(kind: string, sent: Sent<Wanted>): Promise<void> {
  const form = JSON.stringify([kind, ...Object.entries(sent.wanted).map(([name, value]) => [name, Boolean(value)])]);
  // A new thing has no former settings.
  await proveOnce(sent.context, form, () => read(sent).then((found) => prove(sent, found)));
}

interface Deleted {
  kind: string;
  /** Kind and name for people, e.g. `team "Crew"`. */
  what: string;
  id: string;
  /** Reads what has an ID; undefined when there is none. */
  find: (id: string) => Promise<unknown>;
}

/**
 * Reads what was deleted. Throws when it is still there, whatever the platform answered; of one kind, one deletion of a
 * run is read, and each only once that one was not carried out.
 */
export async function proveGone(context: Context, deleted: Deleted): Promise<void> {
  const { kind, what, id, find } = deleted;
  const look = (): Promise<boolean> =>
    find(id).then(
      (found) => found === undefined,
      (error: unknown) => isHidden(error, deleted),
    );
  await proveOnce(context, `no ${kind}`, async () => {
    if (await untilShown(context, look, (isGone) => isGone)) return;
    throw new ResourceError(
      `${what} is still there, though the platform answered that it deleted it. Look for it on the platform; then run the same command again.`,
    );
  });
}

/** Answers with which platforms refuse to read an unknown ID; a failure on the way is none of them. */
const refusals: readonly ErrorCode[] = ["invalidRequest", "rejected", "serverError", "badAnswer", "conflict"];

/**
 * True of a thing that nobody may read any more, and of one that is answered like an ID that nothing can have; throws
 * what is no such answer.
 */
async function isHidden(error: unknown, { id, find }: Deleted): Promise<true> {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "notFound" || error.code === "forbidden") return true;
  if (!refusals.includes(error.code)) throw error;
  const unknown = randomBytes(12).toString("hex");
  const other: unknown = await find(unknown).catch((refusal: unknown) => refusal);
  const isSame = other instanceof ApiError && formOf(other, unknown) === formOf(error, id);
  if (!isSame) throw error;
  return true;
}

/** A refusal without the ID that it may repeat. */
const formOf = ({ code, status, platformMessage }: ApiError, id: string): string =>
  JSON.stringify([code, status, platformMessage.replaceAll(id, "")]);

/** Proves the first of its form in a run, and each once that one failed. */
async function proveOnce({ client }: Context, form: string, prove: () => Promise<void>): Promise<void> {
  const forms = kept.get(client) ?? new Map<string, Promise<boolean>>();
  kept.set(client, forms);
  const first = forms.get(form);
  if (first && (await first)) return;
  const proof = prove();
  if (!first) {
    forms.set(
      form,
      proof.then(
        () => true,
        () => false,
      ),
    );
  }
  await proof;
}

const firstWaitMs = 200;
const longestWaitMs = 2_000;

/**
 * Looks for what this run has written until it is shown, as long as a platform may show it late (eventual consistency).
 * Returns the last look, which is the truth then.
 */
export async function untilShown<Look>(
  { client, now, sleep }: Pick<Context, "client" | "now" | "sleep">,
  look: () => Promise<Look>,
  isShown: (look: Look) => boolean,
): Promise<Look> {
  const end = now() + client.consistencyMs;
  for (let wait = firstWaitMs; ; wait = Math.min(wait * 2, longestWaitMs)) {
    const found = await look();
    if (isShown(found) || now() + wait > end) return found;
    await sleep(wait);
  }
}

import type { CallOptions, CallRecord } from "../../../platform/client/http/call.ts";
import { ApiError, isOutcomeUnknown, isRefusal, isUndocumented } from "../../../platform/contract/errors.ts";
import { timeOf } from "../../../platform/contract/fields.ts";
import { ResourceError, type Context } from "./resource.ts";

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

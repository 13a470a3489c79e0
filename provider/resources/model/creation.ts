import { ApiError, isOutcomeUnknown, isRefusal, orUndefinedIfNotFound } from "../../contract/errors.ts";
import { ResourceError, type Context } from "./resource.ts";

const nothing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** The wanted values that differ from those found; nothing, null and the empty text are the same. */
export function changedValues<T extends object>(wanted: T, found: Readonly<Record<string, unknown>>): Partial<T> {
  const changed = Object.entries(wanted).filter(
    ([name, value]) => value !== found[name] && !(nothing(value) && nothing(found[name])),
  );
  return Object.fromEntries(changed) as Partial<T>; // a subset of the entries of T
}

/** What of a description is managed: always when it is imported or declared. */
export function observedDescription(
  found: { description?: string | null | undefined },
  state: { name?: string; description?: string | null | undefined },
): { description?: string | null } {
  const imported = state.name === undefined;
  if (imported) return found.description ? { description: found.description } : {};
  return state.description === undefined ? {} : { description: absentAs(state.description, found.description) };
}

/** Deletes a team with all of its members. */
export async function dissolve(context: Context, teamID: string): Promise<void> {
  for (const member of (await context.members.list(teamID)) ?? []) await context.members.remove(teamID, member);
  await orUndefinedIfNotFound(context.client.deleteteam({ teamID }, context));
}

/** Milliseconds before a refused deletion is tried again, twice as many each time, and how often nothing may have happened. */
const pause = { milliseconds: 200, most: 3 };

/**
 * Deletes what holds nothing any more. Engines delete side by side what does not depend on each other, such as members
 * that a program makes inside of `apply`: so it is tried again while what stands in the way becomes less.
 */
export async function deleteEmptied({ sleep }: Context, remove: () => Promise<unknown>): Promise<void> {
  let fewest = Infinity;
  for (let pauses = 0; ; pauses++) {
    try {
      await orUndefinedIfNotFound(remove());
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "conflict")) throw error;
      const count = error.dependants.length;
      if (count < fewest) [fewest, pauses] = [count, 0];
      if (pauses === pause.most) throw error;
    }
    await sleep(pause.milliseconds * 2 ** pauses);
  }
}

/** What was found, in the declared spelling of "nothing" when it is nothing. */
const absentAs = (declared: string | null, found: string | null | undefined): string | null =>
  nothing(found) ? (nothing(declared) ? declared : null) : (found ?? null);

const day = 86_400_000;

/** Whether a thing was made within the last day, as what an interrupted run made was. */
function isRecent({ now }: Context, { createdAt }: { createdAt?: unknown }): boolean {
  const time = typeof createdAt === "string" || typeof createdAt === "number" ? new Date(createdAt).getTime() : NaN;
  return now() - time <= day;
}

/** Goes on with what is there under the ID of the creation, or throws why not. */
function take<Found extends { createdAt?: unknown }>(
  creation: Creation<Found>,
  id: string,
  found: Found,
): { isFound?: boolean } {
  const { context, what, matches, adopt, isBegun } = creation;
  if (isBegun(id)) {
    context.report.info(`an interrupted run made ${what} already: going on with it`);
  } else if (adopt) {
    context.report.info(`adopting ${id} as ${what}`);
  } else if (matches(found) && isRecent(context, found)) {
    context.report.info(`${what} was already there with the ID that this resource creates it with: ${goesOn}`);
    return { isFound: true };
  } else {
    const how = matches(found) ? "and was not made within the last day" : "with other content";
    throw new ResourceError(
      `${what} was not created because ${id} already exists on the platform ${how}. If an interrupted run made it, ` +
        `set adopt: true to take it over. If this run is to replace it (--replace, or a tainted state): run the same ` +
        `command with --refresh, which tells what is to be replaced. If another resource has it, which was called so ` +
        `before: declare its old name with aliases there, and give this one another name; if that is of a stack that was ` +
        `called so before, give this stack or resource another name.`,
    );
  }
  return {};
}

const goesOn = "going on with it. It was found, so it stays when its declaration goes; set adopt: true to own it";

interface Creation<Found extends { createdAt?: unknown }> {
  context: Context;
  /** What it is, for people, e.g. `team "Crew"`. */
  what: string;
  /** The ID that it is created with, as it is known now; undefined lets the platform choose. */
  choose: () => string | undefined;
  adopt: boolean;
  /** Whether a run of this stack that was interrupted began to make it. */
  isBegun: (id: string) => boolean;
  /** Whether what is there under that ID is known to be what this resource has had. */
  keeps?: boolean;
  find: (id: string) => Promise<Found | undefined>;
  /** Whether what was found is what would be created. */
  matches: (found: Found) => boolean;
  create: (id: string | undefined) => Promise<string>;
}

const never = new AbortController().signal;

/** For what follows a creation: it ends also when the run is cancelled meanwhile, so that what was made is saved. */
export const uncancellable = <Any extends Context>(context: Any): Any => ({ ...context, signal: never });

/** What a creation came to: `found` is what was there already, or what a lost answer left to be looked for. */
interface Created<Found> {
  id: string;
  found?: Found;
  /** Whether it was there before this stack met it. */
  isFound?: boolean;
}

/**
 * Creates a thing under an ID of our choice exactly once, whatever happened before or happens on the way: only when it
 * is refused, or its answer is lost, is it looked for.
 */
export async function createOnce<Found extends { createdAt?: unknown }>(
  creation: Creation<Found>,
): Promise<Created<Found>> {
  const { choose, find, create, matches, context } = creation;
  // Where the platform takes no ID of ours, a repeated call would make a second one.
  const honours = context.manner.habits.chosenIDs === "honoured";
  const id = honours || creation.keeps ? choose() : undefined;
  if (id === undefined) return { id: await create(undefined) };
  const kept = creation.keeps ? await find(id) : undefined;
  if (kept) return { id, found: kept };
  if (!honours) return { id: await create(undefined) };
  for (let attempt = 1; ; attempt++) {
    try {
      return { id: await create(id) };
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      if (!isUnknown && !mayBeThere(error)) throw error;
      const found = await find(id);
      if (found === undefined && (!isUnknown || attempt === 3)) throw error;
      if (found === undefined) continue;
      // Another resource of this run may turn out to have it meanwhile.
      if (choose() !== id) return createOnce(creation);
      // What this call made, as far as anybody can tell.
      const isOurs = isUnknown && matches(found) && isRecent(context, found);
      return { id, found, ...(isOurs ? {} : take(creation, id, found)) };
    }
  }
}

/** Whether a creation was refused, as it is when there is such a thing already. Nobody says in which words. */
const mayBeThere = (error: unknown): boolean =>
  isRefusal(error) || (error instanceof ApiError && error.code === "conflict");

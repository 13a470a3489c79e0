import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import type { CallOptions, CallRecord } from "../../platform/client/index.ts";
import { timeOf } from "../../platform/contract/values.ts";
import {
  ApiError,
  type ErrorCode,
  isNotFound,
  isOutcomeUnknown,
  isRefusal,
  isUndocumented,
} from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { PartialFailure, ResourceError } from "./common.ts";
import type { Context, Resource } from "./resource.ts";

/** Declares a resource. */
export const resource = <Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  declaration: Resource<Inputs, Outputs>,
): Resource<Inputs, Outputs> => declaration;

const nothing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** The wanted values that differ from those found; nothing, null and the empty text are the same. */
function findChangedValues<T extends object>(wanted: T, found: Readonly<Record<string, unknown>>): Partial<T> {
  const changed = Object.entries(wanted).filter(
    ([name, value]) => !isDeepStrictEqual(value, found[name]) && !(nothing(value) && nothing(found[name])),
  );
  return Object.fromEntries(changed) as Partial<T>; // a subset of the entries of T
}

/** What people give to a thing on the platform. */
type Named = {
  resourceUrn?: string | undefined;
  name: string;
  description?: string | null | undefined;
  adopt?: boolean | undefined;
};

/** A kind of thing with a name and a description, which the platform has under an ID of ours. */
export interface Kind<Found extends Settings & Aged> {
  /** As in the journal: `Team`. */
  name: string;
  /** Its settings, which an update changes, beside its name. */
  settings: readonly string[];
  find: (context: Context & Pick<CallOptions, "onCall">, id: string) => Promise<Found | undefined>;
  update: (context: Context, id: string, change: Partial<Sendable>) => Promise<unknown>;
  /** True where a list shows a new one, which is read for all that are made at the same time. */
  isListed?: (context: Context, id: string) => Promise<boolean>;
}

/** Kind and name for people, e.g. `team "Crew"`. */
export const called = ({ name: kind }: { name: string }, { name }: { name: string }): string =>
  `${kind.toLowerCase()} ${quote(name)}`;

/** The settings of one, as the platform is sent them. */
type Sendable = Pick<Named, "name" | "description">;

/** The declared settings: what is unset is left alone. */
function settingsOf({ settings }: { settings: readonly string[] }, { name, ...rest }: Named): Sendable {
  const declared: Settings = rest;
  const set = settings.filter((one) => declared[one] !== undefined);
  return { name, ...Object.fromEntries(set.map((one) => [one, declared[one]])) };
}

/** One of a kind that is to be created. */
interface Making<Found extends Settings & Aged, Outputs extends Named> {
  kind: Kind<Found>;
  context: Context;
  inputs: Outputs;
  /** The present ID for it; undefined lets the platform choose. */
  choose: () => string | undefined;
  /** True when the thing under that ID is known to have been this resource's. */
  keeps?: boolean;
  /** Settings that nobody changes, such as what it belongs to. */
  beside?: object;
  insert: (info: Sendable & { _id?: string }) => Promise<string>;
  /** What the state has; `isAdopted` is undefined where the thing was this resource's already. */
  outputs?: (isAdopted: boolean | undefined) => Outputs;
}

/** Creates one of a kind, or goes on with what an interrupted run made, and verifies its settings. */
export async function createNamed<Found extends Settings & Aged, Outputs extends Named>(
  making: Making<Found, Outputs>,
): Promise<{ id: string; outputs: Outputs; isNew: boolean }> {
  const { kind, context, inputs, beside } = making;
  const { id, found, isAdopted } = await createOnce(making);
  const outputs = making.outputs?.(isAdopted) ?? inputs;
  const after = uncancellable(context);
  const find = (): Promise<Found | undefined> => kind.find(after, id);
  const wanted = { ...settingsOf(kind, inputs), ...beside };
  if (found) await sync(kind, after, id, outputs, found);
  else await verifyNew(kind, { context, what: called(kind, inputs), id, outputs, wanted, find });
  return { id, outputs, isNew: found === undefined };
}

/** Reads one of a kind: what is there, and its settings as the state keeps them. */
export async function readNamed<Found extends Settings & Aged & { name: string }>(
  kind: Kind<Found>,
  context: Context,
  id: string,
  state: Partial<Named>,
): Promise<(Sendable & { found: Found }) | undefined> {
  context.journal.settle(state.resourceUrn, `${kind.name} ${id}`);
  const found = await kind.find(context, id);
  if (!found) return undefined;
  const known: Settings = state;
  // A setting is managed when it is imported or declared; "nothing" is spelt as declared.
  const isManaged = (one: string): boolean =>
    known["name"] === undefined ? !nothing(found[one]) : known[one] !== undefined;
  const shown = (one: string): unknown => (nothing(found[one]) ? (known[one] === "" ? "" : null) : found[one]);
  const settings = kind.settings.filter(isManaged).map((one) => [one, shown(one)] as const);
  return { found, name: found.name, ...Object.fromEntries(settings) };
}

/** Sends only what differs from what is there, and verifies it. */
export async function sync<Found extends Settings & Aged>(
  kind: Kind<Found>,
  context: Context,
  id: string,
  outputs: Named,
  there?: Found,
): Promise<void> {
  const [what, wanted, find] = [called(kind, outputs), settingsOf(kind, outputs), () => kind.find(context, id)];
  const found = there ?? (await find());
  if (!found)
    throw new ResourceError(
      `${what} is gone from the platform: run the same command with --refresh, which creates it again.`,
    );
  const change = findChangedValues(wanted, found);
  if (Object.keys(change).length === 0) return;
  await kind.update(context, id, change);
  await verifySettings({ context, what, id, wanted, outputs, find });
}

/** Milliseconds before what stands in the way is looked at again, twice as many each time, and how often nothing may have happened. */
const patience = { milliseconds: 200, most: 3 };

/**
 * Looks at what stands in the way of a deletion until nothing does, or it becomes less no more. Engines delete side by side
 * what does not depend on each other, such as members that a program makes inside of `apply`.
 */
export async function whileFewer<Look>(
  { sleep }: Context,
  look: () => Promise<Look>,
  count: (look: Look) => number,
): Promise<Look> {
  let fewest = Infinity;
  for (let pauses = 0; ; pauses++) {
    const found = await look();
    const left = count(found);
    if (left < fewest) [fewest, pauses] = [left, 0];
    if (left === 0 || pauses === patience.most) return found;
    await sleep(patience.milliseconds * 2 ** pauses);
  }
}

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
 * Goes on with what is there under the ID of the creation, or throws why not; true where it is adopted. The ID is derived from
 * the resource's URN: what has it, says what is declared and is a day old at most, is what an interrupted run made.
 */
function take(
  { context, kind, inputs }: Pick<Making<Settings & Aged, Named>, "context" | "kind" | "inputs">,
  id: string,
  { isAlike, age, isOurs }: { isAlike: boolean; age: keyof typeof unlike; isOurs: boolean },
): boolean {
  const what = called(kind, inputs);
  if (isOurs || (isAlike && age === "recent")) {
    context.report.info(`${what} was already there with the ID that this resource creates it with: going on with it`);
    return false;
  }
  if (inputs.adopt) {
    context.report.info(`adopting ${id} as ${what}`);
    return true;
  }
  throw new ResourceError(
    `${what} was not created because ${id} already exists on the platform ${unlike[isAlike ? age : "recent"]}. If an interrupted run made it, ` +
      `set adopt: true to take it over. If this run is to replace it (--replace, or a tainted state): run the same ` +
      `command with --refresh, which tells what is to be replaced. If another resource has it, which was called so ` +
      `before: declare its old name with aliases there, and give this one another name; if that is of a stack that was ` +
      `called so before, give this stack or resource another name.`,
  );
}

interface Aged {
  createdAt?: unknown;
}

/** True when a failed call may have been carried out; a call without an error is over. */
const mayBeMade = (error: unknown): boolean =>
  error !== undefined && (!(error instanceof ApiError) || error.code === "cancelled" || isOutcomeUnknown(error));

/** True when a refused creation may mean that the thing exists. The wording of such a refusal is undocumented. */
const mayBeThere = (error: unknown): boolean =>
  isRefusal(error) || (error instanceof ApiError && error.code === "conflict");

const never = new AbortController().signal;

/** For what follows a creation: it ends also when the run is cancelled meanwhile, so that what was made is saved. */
export const uncancellable = <Any extends Context>(context: Any): Any => ({ ...context, signal: never });

/** Clients whose platform was seen to take an ID that the caller chose. */
const honouring = new WeakSet<object>();

/**
 * Creates a thing under an ID of our choice exactly once, whatever happened before or happens on the way: only when it
 * is refused, or its answer is lost, is it looked for. `found` is what was there, or is found after a lost answer.
 */
async function createOnce<Found extends Settings & Aged, Outputs extends Named>(
  making: Making<Found, Outputs>,
): Promise<{ id: string; found?: Found; isAdopted?: boolean }> {
  const { choose, insert, context, kind, inputs, beside, keeps } = making;
  const { resourceUrn: urn, adopt } = inputs;
  const { journal } = context;
  const settings = settingsOf(kind, inputs);
  const id = choose();
  if (id === undefined) return { id: await insert(settings), isAdopted: false };
  const kept = keeps ? await kind.find(context, id) : undefined;
  if (kept) return { id, found: kept };
  const thing = `${kind.name} ${id}`;
  const isBegun = journal.find(urn, thing) !== undefined;
  if (!isBegun) journal.begin(urn, thing, new Date(context.now()).toISOString());
  let isLost = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const newID = await insert({ _id: id, ...settings });
      if (adopt)
        context.report.info(
          `made new: no ${kind.name.toLowerCase()} with the ID of this key was there to adopt. One that was made by hand is taken over by an import`,
        );
      if (newID === id) honouring.add(context.client);
      journal.answered(urn, thing);
      return { id: newID, isAdopted: false };
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      isLost ||= mayBeMade(error);
      if (!isLost && !isBegun) journal.settle(urn, thing);
      if (isUndocumented(error) || (!isUnknown && !mayBeThere(error))) throw error;
      // Its age is told by the platform's clock, which may differ from ours.
      let now: number | undefined;
      const onCall = ({ date }: CallRecord): void => void (now = date ?? now);
      const found = await kind.find({ ...context, onCall }, id);
      if (found === undefined && (!isUnknown || attempt === 3)) throw error;
      // A platform that gives IDs of its own makes a second thing, and nobody would find the first.
      if (found === undefined && isOutcomeUnknown(error) && !honouring.has(context.client)) {
        throw new ResourceError(
          `whether ${called(kind, inputs)} was created is not known: ${error.platformMessage}. It is not found under the ID that was chosen for it, and ` +
            `this platform may give IDs of its own: made once more, it might be there twice. Look for it on the platform. If it is ` +
            `not there, run up again; if it is, delete it first, or import it.`,
        );
      }
      if (found === undefined) continue;
      // Another resource of this run may turn out to have it meanwhile.
      if (choose() !== id) return createOnce(making);
      const [age, changed] = [ageOf(now ?? context.now(), found), findChangedValues({ ...settings, ...beside }, found)];
      const isAlike = Object.keys(changed).length === 0;
      // It is of the call that was lost, unless it was there for long: nothing else makes a thing with this ID.
      const isOurs = isAlike && (isBegun || (isLost && age !== "old"));
      const isAdopted = take({ context, kind, inputs }, id, { isAlike, age, isOurs });
      journal.answered(urn, thing);
      return { id, found, isAdopted };
    }
  }
}

type Settings = Readonly<Record<string, unknown>>;

interface Sent {
  context: Context;
  /** Kind and name for people, e.g. `team "Crew"`. */
  what: string;
  id: string;
  wanted: Settings;
  /** Outputs to save: all as declared. */
  outputs: Settings;
  /** Reads it; undefined when there is none. */
  find: () => Promise<Settings | undefined>;
}

/** Reads back settings that were sent. Throws when the platform has others, and saves those. */
async function verifySettings(sent: Sent): Promise<void> {
  const { context, wanted } = sent;
  const isShown = (found: Settings | undefined): boolean =>
    found === undefined || Object.keys(findChangedValues(wanted, found)).length === 0;
  prove(sent, await untilShown(context, () => read(sent), isShown));
}

function prove(sent: Sent, found: Settings | undefined): void {
  const { what, id, wanted, outputs } = sent;
  if (!found) {
    const message = `${what} was written as ${id}, and the platform does not find it there. Look for it on the platform, then run up --refresh.`;
    throw new PartialFailure(message, id, outputs);
  }
  const others = Object.keys(findChangedValues(wanted, found)).map(
    (name) => `${name} is ${shown(found[name])}, not ${shown(wanted[name])}`,
  );
  if (others.length === 0) return;
  const message =
    `${what} was written, and the platform has something else: ${others.join("; ")}. Declare what the platform ` +
    `keeps, or ask its operator whether this can be changed; then run up again.`;
  const names = Object.keys(wanted).filter((name) => name in outputs);
  const kept = Object.fromEntries(names.map((name) => [name, found[name] ?? undefined]));
  throw new PartialFailure(message, id, { ...outputs, ...kept });
}

async function read({ what, id, outputs, find }: Sent): Promise<Settings | undefined> {
  try {
    return await find();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new PartialFailure(`${what} was written and could not be read back: ${messageOf(error)}`, id, outputs);
  }
}

const shown = (value: unknown): string => (typeof value === "string" && value !== "" ? quote(value) : "empty");

/** New things with the same settings set. */
interface Alike {
  /** Whether the platform kept the first one. */
  isKept: Promise<boolean>;
  /** Whether a list shows each of the others. */
  listed: Promise<boolean>[];
}

/** New things that are alike, by their form and by the client that made them. */
const made = new WeakMap<object, Map<string, Alike>>();

/**
 * The same for new things: of those that are alike one is read, and the others only where that one was not kept, or no list
 * shows them.
 */
async function verifyNew({ name, isListed }: Pick<Kind<Settings & Aged>, "name" | "isListed">, sent: Sent) {
  const form = JSON.stringify([name, ...Object.entries(sent.wanted).map(([name, value]) => [name, Boolean(value)])]);
  const forms = made.get(sent.context.client) ?? new Map<string, Alike>();
  made.set(sent.context.client, forms);
  const first = forms.get(form);
  const listed = first && isListed?.(sent.context, sent.id);
  if (listed) first.listed.push(listed);
  if (listed && (await first.isKept) && (await listed)) return;
  const proof = read(sent).then((found) => prove(sent, found)); // a new thing has no former settings
  const [yes, no] = [() => true, () => false]; // whoever asked gets the error
  const alike = first ?? { isKept: proof.then(yes, no), listed: [] };
  forms.set(form, alike);
  await proof;
  await Promise.all(alike.listed); // what follows all of them begins at once, and is read at once
}

interface Deleted {
  /** Kind and name for people, e.g. `team "Crew"`. */
  what: string;
  id: string;
  /** Reads what has an ID; undefined when there is none. */
  find: (id: string) => Promise<unknown>;
}

/** Reads what was deleted. Throws when it is still there, whatever the platform answered. */
export async function verifyGone(context: Context, deleted: Deleted): Promise<void> {
  const { what, id, find } = deleted;
  const look = (): Promise<boolean> =>
    find(id).then(
      (found) => found === undefined,
      (error: unknown) => isHidden(error, deleted),
    );
  if (await untilShown(context, look, (isGone) => isGone)) return;
  throw new ResourceError(
    `${what} is still there, though the platform answered that it deleted it. Look for it on the platform; then run the same command again.`,
  );
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

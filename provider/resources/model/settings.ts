import { randomBytes } from "node:crypto";
import { ApiError, isNotFound, type ErrorCode } from "../../../platform/contract/errors.ts";
import { quote } from "../../../platform/messages/text.ts";
import { findChangedValues } from "./creation.ts";
import { PartialFailure, ResourceError, type Context } from "./resource.ts";
import { untilShown } from "./shown.ts";

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

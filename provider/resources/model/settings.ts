import { isNotFound } from "../../contract/errors.ts";
import { quote } from "../../messages/text.ts";
import { findChangedValues } from "./creation.ts";
import { PartialFailure, type Context } from "./resource.ts";
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
  const forms = kept.get(sent.context.client) ?? new Map<string, Promise<boolean>>();
  kept.set(sent.context.client, forms);
  const first = forms.get(form);
  if (first && (await first)) return;
  const proof = read(sent).then((found) => prove(sent, found)); // a new thing has no former settings
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

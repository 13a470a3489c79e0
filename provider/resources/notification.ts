import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { AnswerOf } from "../contract/endpoints.ts";
import { isOutcomeUnknown } from "../contract/errors.ts";
import { email, id, withoutUndefined } from "../contract/values.ts";
import { quote } from "../messages/text.ts";
import { exceptSpelling } from "./members/users.ts";
import {
  declareAgain,
  common,
  generation,
  PartialFailure,
  ResourceError,
  type Context,
  type OfflineContext,
} from "./model/resource.ts";
import { forgetDeed, noteDeed, noteNext, explainDeed, type Deed } from "./records/deeds.ts";
import { anyIntent, forgetIntent, readIntent, refuseUnsealed, writeIntent } from "./records/intents.ts";
import { resource, type State } from "./resource.ts";

const withTriggers = "A change of it alone sends nothing: change triggers, too.";

const inputs = z.object({
  ...common,
  appID: id.meta({
    description: "App that it is about; the account must be an administrator or author of it.",
    replaces: true,
  }),
  email: email.meta({ description: "The recipient's e-mail address.", replaces: true }),
  message: z
    .string()
    .min(1)
    .optional()
    .meta({
      description: `Text that the recipient sees; without it, only the badge changes. ${withTriggers}`,
      ignoredInDiff: true,
    }),
  badgeCount: z
    .int()
    .min(0)
    .optional()
    .meta({ description: `Absolute number on the badge. ${withTriggers}`, ignoredInDiff: true }),
  channel: z
    .enum(["push", "inApp", "default"])
    .optional()
    .meta({
      description: `push: a push message alone. inApp: a record in the app alone. default: both. ${withTriggers}`,
      ignoredInDiff: true,
    }),
  triggers: z.record(z.string(), z.unknown()).optional().meta({
    description: "Anything by name, e.g. a version: whenever it changes, the notification is sent again.",
  }),
  again: declareAgain("Send it"),
  generation,
});

const outputs = z.object({
  sentAt: z.string().meta({ description: 'When it was sent last (ISO 8601); "imported" when that was not done here.' }),
  notificationCount: z
    .int()
    .optional()
    .meta({ description: "Records in the app that were made; unset when not known." }),
  pushCount: z.int().optional().meta({ description: "Push messages that were prepared; unset when not known." }),
});

type Inputs = z.output<typeof inputs>;
type Sent = State<typeof inputs, typeof outputs>;

const counts = z.object({ notificationCount: z.int(), pushCount: z.int() });

/** A notification that was about to be sent; `answer` is there once it was. */
const sending = anyIntent.extend({ digest: z.string(), answer: counts.optional() });

const imported = "imported";

/**
 * A message to one user about an app: sent when it is created and whenever `triggers` change, and never by a refresh or
 * an import. It can't be read back, so an intent is on disk before it is sent: whatever happens, it is not sent twice.
 */
export const notification = resource({
  name: "Notification",
  summary: "A message to a user about an app, sent once and again whenever its triggers change.",
  example: {
    name: "welcome",
    inputs: {
      appID: "${portal.appID}",
      email: "ada@example.com",
      message: "The portal is there.",
      triggers: { version: 1 },
    },
  },
  importedBy: { id: "<appID>/<e-mail address>" },
  inputs,
  outputs,

  check: async (context, { inputs, unknown }, old) => {
    const { report, identities } = context;
    const contents = ["message", "badgeCount"] as const;
    const differs = (name: keyof Inputs): boolean => !unknown.has(name) && !isDeepStrictEqual(old[name], inputs[name]);
    // The content of an imported one is unknown: it may stay empty until there is something to send.
    const wasImported = old.appID !== undefined && contents.every((name) => old[name] === undefined);
    const nothing = contents.every((name) => inputs[name] === undefined && !unknown.has(name));
    const lacks = nothing && !(wasImported && !differs("triggers"));
    const problems = lacks ? [{ property: "message", reason: "set message, badgeCount or both" }] : [];
    const changed = ([...contents, "channel"] as const).filter(differs);
    if (old.appID !== undefined && changed.length > 0 && !unknown.has("triggers") && !differs("triggers")) {
      report.info(`${changed.join(", ")} changed and triggers did not: nothing is sent`);
    }
    const isNew = old.appID === undefined;
    if (isNew && unknown.size === 0) {
      problems.push(...(await explainDeed(context, deed, inputs, await isUnfinished(context, inputs))));
    }
    const generation = identities.generation(inputs.resourceUrn);
    return { inputs: { ...inputs, ...withoutUndefined({ generation }) }, problems };
  },

  diff: async (context, change, old, inputs) => {
    const { report } = context;
    const urn = inputs.inputs.resourceUrn;
    if (!context.isPlan) {
      await clearIntent(context, { resourceUrn: urn, sentAt: old.sentAt });
      if (old.sentAt !== imported) await noteDeed(context, deed, urn, old);
    }
    const meant = exceptSpelling(change, old, inputs);
    if (meant.changed.length > 0) report.forecast("it is sent again");
    return meant;
  },

  create: async (context, inputs) => {
    const id = context.publicID(`${inputs.appID}/${inputs.email}`);
    const replaced = context.identities.replaced(inputs.resourceUrn)?.inputs;
    return { id, outputs: await send(context, id, inputs, replaced) }; // of this resource
  },

  read: async (context, id, state) => {
    if (state.appID !== undefined) {
      await clearIntent(context, state);
      return { id, outputs: state as Sent }; // a state that is not empty is whole
    }
    const [appID, email, ...rest] = id.split("/");
    if (!appID || !email?.includes("@") || rest.length > 0) {
      throw new ResourceError(`${quote(id)} is no notification: it has the form <appID>/<e-mail address>`);
    }
    return { id, outputs: { appID, email, sentAt: imported } };
  },

  update: async (context, id, old, inputs) => {
    const { sentAt, notificationCount, pushCount } = old;
    // An imported one was sent by others: its first triggers are taken over with it.
    const known = sentAt === imported && old.triggers === undefined;
    if (known || isDeepStrictEqual(old.triggers ?? null, inputs.triggers ?? null)) {
      await clearIntent(context, old);
      return { ...inputs, sentAt, ...withoutUndefined({ notificationCount, pushCount }) };
    }
    return send(context, id, inputs, old);
  },

  delete: async (context, _id, state) => {
    await clearIntent(context, state);
    await forgetDeed(context, deed, state);
  },
});

const sorted = (triggers: Inputs["triggers"]): unknown[] =>
  Object.entries(triggers ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));

const digestOf = ({ appID, email, triggers, generation }: Inputs): string =>
  createHash("sha256")
    .update(
      JSON.stringify([appID, email.toLowerCase(), sorted(triggers), ...(generation === undefined ? [] : [generation])]),
    )
    .digest("hex");

const deed: Deed<Inputs> = {
  kind: "Notification",
  property: "message",
  contentOf: ({ appID, email, message, badgeCount, channel, triggers }) =>
    appID === undefined || email === undefined
      ? undefined
      : JSON.stringify([appID, email.toLowerCase(), message, badgeCount, channel, sorted(triggers)]),
  words: {
    done: "sent",
    why: "the same would be sent a second time",
    again: "the same is sent a second time",
    otherwise: "change message or triggers",
  },
};

/** Forgets the intent of what the state has. */
async function clearIntent(
  { directory }: Pick<Context, "directory">,
  { resourceUrn, sentAt }: Partial<Sent>,
): Promise<void> {
  if (resourceUrn === undefined) return;
  if ((await readIntent(directory, resourceUrn, sending))?.startedAt === sentAt)
    await forgetIntent(directory, resourceUrn);
}

/** True if an earlier run sent it, or began to, and may not have saved that: it is not sent again. */
async function isUnfinished({ directory, report }: OfflineContext, inputs: Partial<Inputs>): Promise<boolean> {
  const { resourceUrn, appID, email } = inputs;
  if (resourceUrn === undefined || appID === undefined || email === undefined) return false;
  const intent = await readIntent(directory, resourceUrn, sending);
  if (intent?.digest !== digestOf({ ...inputs, appID, email })) return false;
  report.forecast(`is not sent: an earlier run began that at ${intent.startedAt}`);
  return true;
}

async function send(context: Context, id: string, inputs: Inputs, old: Partial<Inputs> | undefined): Promise<Sent> {
  const { directory, report } = context;
  const { appID, email, message, badgeCount, channel } = inputs;
  const urn = inputs.resourceUrn ?? id;
  const digest = digestOf(inputs);
  const uncertain = (startedAt: string, why: string): PartialFailure =>
    new PartialFailure(
      `whether the notification to ${email} was sent at ${startedAt} is not known: ${why}. It is not sent again by itself; ` +
        `if ${email} has not got it, change triggers. The next up takes it as sent.`,
      id,
      { ...inputs, sentAt: startedAt },
    );

  const earlier = await readIntent(directory, urn, sending);
  if (earlier?.digest === digest) {
    refuseUnsealed(earlier);
    if (!earlier.answer) throw uncertain(earlier.startedAt, "no answer arrived");
    report.info(`was sent at ${earlier.startedAt} by an earlier run: not sent again`);
    return { ...inputs, sentAt: earlier.startedAt, ...earlier.answer };
  }
  const startedAt = new Date(context.now()).toISOString();
  let lost: string[] = [];
  let outputs: Sent;
  const onSend = async () => void (await writeIntent(directory, { urn, startedAt, digest }));
  try {
    const request = { appID, email, ...withoutUndefined({ message, badgeCount, channel }) };
    const { channel: used, ...sent } = await context.client.sendnotification(request, { ...context, onSend });
    const answer = counts.parse(sent);
    if ((channel ?? "default") === "default" && used === "inApp") {
      report.warning(
        `the platform delivers a notification without a channel in the app alone, and sends no push message: nobody was ` +
          `alerted. Set channel to inApp or to push`,
      );
    }
    await writeIntent(directory, { urn, startedAt, digest, answer });
    await noteNext(context, deed, inputs, old);
    lost = findLost(inputs, { ...sent, channel: used });
    outputs = { ...inputs, sentAt: startedAt, ...answer };
  } catch (error) {
    // The intent stays until the state has it.
    if (isOutcomeUnknown(error)) throw uncertain(startedAt, error.platformMessage);
    await forgetIntent(directory, urn);
    throw error;
  }
  if (lost.length === 0) return outputs;
  throw new PartialFailure(
    `the platform sent the notification to ${email} otherwise than it is declared: ${lost.join(", ")}. It may take these by ` +
      `other names, which no setting of this package sends. It is not sent again by itself; the next up takes it as sent.`,
    id,
    outputs,
  );
}

/** The parts of a notification that the platform sent without, as its answer has them. */
function findLost(
  { message, badgeCount, channel = "default" }: Inputs,
  sent: Pick<AnswerOf<"sendnotification">, "hasMessage" | "badgeCount" | "channel">,
): string[] {
  return [
    ...(message !== undefined && !sent.hasMessage ? ["without its message"] : []),
    ...(badgeCount !== undefined && sent.badgeCount !== badgeCount
      ? [`badgeCount is ${String(sent.badgeCount)}, not ${badgeCount}`]
      : []),
    ...(channel !== "default" && sent.channel !== channel ? [`channel is ${quote(sent.channel)}, not ${channel}`] : []),
  ];
}

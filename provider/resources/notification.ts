import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { email, id, withoutUndefined } from "../../platform/contract/values.ts";
import { isOutcomeUnknown } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { common, generation, PartialFailure, ResourceError } from "./common.ts";
import { findLegacyIntent } from "./journal.ts";
import { resource } from "./lifecycle.ts";
import type { Context, OfflineContext, State } from "./resource.ts";
import { exceptSpelling } from "./teamMember.ts";

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

/** A notification in the journal: its digest, and the counts once the platform answered. */
const sending = z.object({
  startedAt: z.string(),
  digest: z.string().optional(),
  answer: counts.optional(),
  file: z.string(),
});
const thing = "Notification";

const imported = "imported";

/**
 * A message to one user about an app: sent when it is created and whenever `triggers` change, and never by a refresh or
 * an import. It can't be read back, so the journal has a line before it is sent: whatever happens, it is not sent twice.
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

  check: (context, { inputs, unknown }, old) => {
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
    const { appID, email } = inputs;
    if (old.appID === undefined && unknown.size === 0 && appID !== undefined && email !== undefined) {
      const begun = begunBefore(context, inputs.resourceUrn, digestOf({ ...inputs, appID, email }));
      if (begun) report.forecast(`is not sent: an earlier run began that at ${begun.startedAt}`);
    }
    const generation = identities.generation(inputs.resourceUrn);
    return Promise.resolve({ inputs: { ...inputs, ...withoutUndefined({ generation }) }, problems });
  },

  diff: (context, change, old, inputs) => {
    if (!context.isPlan) settleSent(context, { resourceUrn: inputs.inputs.resourceUrn, sentAt: old.sentAt });
    const meant = exceptSpelling(change, old, inputs);
    if (meant.changed.length > 0) context.report.forecast("it is sent again");
    return Promise.resolve(meant);
  },

  create: async (context, inputs) => {
    const id = context.publicID(`${inputs.appID}/${inputs.email}`);
    return { id, outputs: await send(context, id, inputs) };
  },

  read: (context, id, state) => {
    if (state.appID !== undefined) {
      settleSent(context, state);
      return Promise.resolve({ id, outputs: state as Sent }); // a state that is not empty is whole
    }
    const [appID, email, ...rest] = id.split("/");
    if (!appID || !email?.includes("@") || rest.length > 0) {
      throw new ResourceError(`${quote(id)} is not a notification's ID, which has the form <appID>/<e-mail address>`);
    }
    return Promise.resolve({ id, outputs: { appID, email, sentAt: imported } });
  },

  update: (context, id, old, inputs) => {
    const { sentAt, notificationCount, pushCount } = old;
    // An imported one was sent by others: its first triggers are taken over with it.
    const known = sentAt === imported && old.triggers === undefined;
    if (known || isDeepStrictEqual(old.triggers ?? null, inputs.triggers ?? null)) {
      settleSent(context, old);
      return Promise.resolve({ ...inputs, sentAt, ...withoutUndefined({ notificationCount, pushCount }) });
    }
    return send(context, id, inputs);
  },

  delete: (context, _id, state) => {
    settleSent(context, state);
    return Promise.resolve();
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

/** Takes the line about what the state has out of the journal. */
function settleSent({ journal }: Pick<OfflineContext, "journal">, { resourceUrn, sentAt }: Partial<Sent>): void {
  if (journal.find(resourceUrn, thing)?.startedAt === sentAt) journal.settle(resourceUrn, thing);
}

/** The same notification as an earlier run began to send it, which may not have saved that: it is not sent again. */
function begunBefore(
  { journal, directory }: Pick<OfflineContext, "journal" | "directory">,
  urn: string | undefined,
  digest: string,
) {
  const earlier = [journal.find(urn, thing), findLegacyIntent(directory, urn)];
  return earlier.map((entry) => sending.safeParse(entry).data).find((begun) => begun?.digest === digest);
}

async function send(context: Context, id: string, inputs: Inputs): Promise<Sent> {
  const { journal, report } = context;
  const { appID, email, message, badgeCount, channel } = inputs;
  const urn = inputs.resourceUrn;
  const digest = digestOf(inputs);
  const uncertain = (startedAt: string, why: string): PartialFailure =>
    new PartialFailure(
      `whether the notification to ${email} was sent at ${startedAt} is not known: ${why}. It is not sent again by itself; ` +
        `if ${email} has not got it, change triggers. The next up takes it as sent.`,
      id,
      { ...inputs, sentAt: startedAt },
    );

  const earlier = begunBefore(context, urn, digest);
  if (earlier) {
    if (!earlier.answer) throw uncertain(earlier.startedAt, "no answer arrived");
    report.info(`was sent at ${earlier.startedAt} by an earlier run: not sent again`);
    return { ...inputs, sentAt: earlier.startedAt, ...earlier.answer };
  }
  const startedAt = new Date(context.now()).toISOString();
  let lost: string[] = [];
  let outputs: Sent;
  const onSend = (): void => journal.begin(urn, thing, startedAt, { digest });
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
    const reached = channel === "push" ? answer.pushCount : answer.notificationCount;
    if (message !== undefined && reached === 0) {
      report.warning(`the platform answered that this notification reached nobody: ${email} may not see its message`);
    }
    journal.answered(urn, thing, { answer });
    lost = findLost(inputs, { ...sent, channel: used });
    outputs = { ...inputs, sentAt: startedAt, ...answer };
  } catch (error) {
    // The line stays until the state has it.
    if (isOutcomeUnknown(error)) throw uncertain(startedAt, error.platformMessage);
    journal.settle(urn, thing);
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

import { createHash } from "node:crypto";
import { z } from "zod";
import { appIDIn, toFinishedAppLink } from "../contract/apps.ts";
import { ApiError, isOutcomeUnknown, orUndefinedIfNotFound } from "../contract/errors.ts";
import { email, withoutUndefined } from "../contract/values.ts";
import { describeNamed, readName } from "./model/identities.ts";
import {
  declareAgain,
  common,
  generation as replacements,
  ResourceError,
  type Context,
  type OfflineContext,
  type InputProblem,
} from "./model/resource.ts";
import { toWholeLink, wrongWith } from "./records/appLinks.ts";
import { countReplacements, forgetDeed, noteDeed, noteNext, explainDeed, type Deed } from "./records/deeds.ts";
import { anyIntent, forgetIntent, intentsOf, readIntent, refuseUnsealed, writeIntent } from "./records/intents.ts";
import { resource } from "./resource.ts";

const inputs = z.object({
  ...common,
  userEmail: email.meta({ description: "E-mail address of the user who becomes the owner.", replaces: true }),
  appPrompt: z.string().trim().min(1).meta({
    description: "Text that describes the app. White space does not count.",
    replaces: true,
  }),
  attachments: z.array(z.unknown()).optional().meta({
    description: "Attachments of the prompt, as the platform takes them.",
    replaces: true,
  }),
  onPromptChange: z
    .enum(["replace", "ignore", "error"])
    .default("error")
    .meta({
      description:
        "Effect of a change of the prompt, its attachments or the owner: a new generation, nothing, or an error. " +
        "A generation costs money and can't be deleted.",
      ignoredInDiff: true,
    }),
  again: declareAgain("Generate it"),
  generation: replacements,
});

const outputs = z.object({
  appID: z.string().meta({ description: "ID of the app.", stable: true }),
  editLink: z.string().meta({
    description: "Link to the app in the workspace, as the platform answered it.",
    stable: true,
  }),
  appLink: z.string().meta({ description: "Link to the finished app.", stable: true }),
});

type Inputs = z.output<typeof inputs>;

/** A generation that was begun; `link` is there once it was answered. */
const generation = anyIntent.extend({
  userEmail: z.string(),
  promptDigest: z.string(), // the prompt itself may be secret
  generation: z.int().optional(),
  link: z
    .string()
    .refine(
      (link) => toFinishedAppLink(link) !== undefined,
      "must be a link to an app, such as https://…/workspace/apps/<app_id>",
    )
    .optional(),
});

/** A prompt without the white space that does not count. */
const words = (prompt: string): string => prompt.trim().replaceAll(/\s+/g, " ");

const promptDigest = (prompt: string): string => createHash("sha256").update(words(prompt)).digest("hex").slice(0, 32);

const deed: Deed<Inputs> = {
  kind: "GeneratedApp",
  property: "appPrompt",
  contentOf: ({ appPrompt, userEmail, attachments }) =>
    appPrompt === undefined || userEmail === undefined
      ? undefined
      : JSON.stringify([words(appPrompt), userEmail.toLowerCase(), attachments ?? []]),
  words: {
    done: "generated",
    why: "another app of the same prompt costs money, and none can be deleted",
    again: "another app of the same prompt is generated, which costs money",
    otherwise: "change the prompt",
  },
};

/** The inputs that an app is generated from. */
const generating = ["appPrompt", "userEmail", "attachments"] as const;

const same: { [Name in keyof Inputs]?: (old: unknown, now: unknown) => boolean } = {
  appPrompt: (old, now) => typeof old === "string" && typeof now === "string" && words(old) === words(now),
  userEmail: (old, now) =>
    typeof old === "string" && typeof now === "string" && old.toLowerCase() === now.toLowerCase(),
};

/**
 * The generation of an app. It only starts the generation and keeps the app ID: AppReadiness waits for the end, so that
 * the ID is in the state before anything waits. A generation cannot be read back, so an intent is on disk before the
 * call and holds the ID once it is known.
 */
export const generatedApp = resource({
  name: "GeneratedApp",
  summary: "An app generated from a text.",
  example: {
    name: "portal",
    inputs: { userEmail: "admin@example.com", appPrompt: "A portal where the crew finds countries." },
  },
  importedBy: {
    otherwise: "Import it from a file whose entry has `inputs` and `outputs`: the platform tells no prompt.",
  },
  inputs,
  outputs,

  check: async (context, { inputs, unknown }, old) => {
    const { report } = context;
    if (old.appPrompt === undefined) {
      const begun = await begunElsewhere(context, inputs);
      const isKnown = begun.length === 0 && unknown.size === 0;
      const problems = isKnown ? await explainDeed(context, deed, inputs, await isUnfinished(context, inputs)) : begun;
      return { inputs: countReplacements(context, inputs), problems };
    }
    const changed = generating.filter((name) => differs(name, old, inputs, unknown));
    if (changed.length === 0) return { inputs: countReplacements(context, inputs), problems: [] };
    if (inputs.onPromptChange === "ignore") {
      report.info(`${changed.join(", ")} changed and onPromptChange is "ignore": the app stays as it is`);
    }
    const reason =
      "has changed, and a new generation costs money: set onPromptChange to replace (generate anew) or ignore, or put it back";
    return {
      inputs: countReplacements(context, inputs),
      problems: inputs.onPromptChange === "error" ? changed.map((property) => ({ property, reason })) : [],
    };
  },

  diff: async (context, _change, old, { inputs, unknown }) => {
    if (!context.isPlan) {
      await clearIntent(context, inputs.resourceUrn ?? "", old.appID);
      await noteDeed(context, deed, inputs.resourceUrn, old);
    }
    if (inputs.onPromptChange === "ignore") return { changed: [], replaces: [] };
    const replaces = generating.filter((name) => differs(name, old, inputs, unknown));
    // An unknown value may change, but makes no new app by itself.
    return { changed: [...replaces, ...generating.filter((name) => unknown.has(name))], replaces };
  },

  create: async (context, inputs) => {
    const urn = inputs.resourceUrn ?? `${inputs.userEmail} ${inputs.appPrompt}`;
    const link = (await interrupted(context, urn, inputs)) ?? (await generate(context, urn, inputs));
    const appID = appIDIn(link) ?? "";
    await noteNext(context, deed, inputs, context.identities.replaced(inputs.resourceUrn)?.inputs);
    return { id: appID, outputs: { ...inputs, appID, editLink: link, appLink: toFinishedAppLink(link) ?? link } };
  },

  read: async (context, id, state) => {
    if (state.resourceUrn !== undefined) await clearIntent(context, state.resourceUrn, id);
    const found = await orUndefinedIfNotFound(context.client.createappwithpromptStatus({ appID: id }, context));
    if (!found) return undefined; // its deed stays known: doing it once more takes an explicit order
    if (state.appPrompt === undefined) {
      throw new ResourceError(
        `app ${id} can't be imported by its ID alone, since the platform tells neither its prompt nor its owner nor its links. Import it from a file (pulumi import --file) whose entry has inputs (userEmail, appPrompt) and outputs (these, and appID, editLink, appLink).`,
      );
    }
    // A state without a prompt was refused above, so it is whole.
    return { id, outputs: state as Inputs & z.output<typeof outputs> };
  },

  update: (_context, _id, old, inputs) =>
    Promise.resolve({ ...inputs, appID: old.appID, editLink: old.editLink, appLink: old.appLink }),

  delete: async (context, id, state) => {
    if (state.resourceUrn !== undefined) await clearIntent(context, state.resourceUrn, id);
    await forgetDeed(context, deed, state);
    context.report.warning(
      `the platform offers no way to delete an app: it is forgotten here and stays at ${state.editLink}`,
    );
  },
});

function differs(
  name: (typeof generating)[number],
  old: Partial<Inputs>,
  inputs: Partial<Inputs>,
  unknown: ReadonlySet<string>,
): boolean {
  if (old.appPrompt === undefined || unknown.has(name)) return false;
  const equal = same[name] ?? ((a: unknown, b: unknown) => JSON.stringify(a ?? []) === JSON.stringify(b ?? []));
  return !equal(old[name], inputs[name]);
}

/** A generation of the same app that was begun under another name, which this run's program has not: it may be this one. */
async function begunElsewhere(
  { directory, identities }: OfflineContext,
  { resourceUrn, appPrompt, userEmail, again }: Partial<Inputs>,
): Promise<InputProblem[]> {
  if (again || appPrompt === undefined || userEmail === undefined || resourceUrn === undefined) return [];
  const digest = promptDigest(appPrompt);
  const begun = (await intentsOf(directory, generation)).filter(
    (intent) => intent.promptDigest === digest && intent.userEmail === userEmail,
  );
  const other = begun.find(({ urn }) => !identities.isDeclared(urn));
  if (!other || begun.some(({ urn }) => urn === resourceUrn)) return [];
  const { urn, startedAt, link, isSealed } = other; // nobody is sent to a link that others may have written
  const reason =
    `an app was begun from this prompt at ${startedAt} as ${describeNamed(readName(urn))}${link === undefined || !isSealed ? "" : `: ${link}`}. ` +
    `If this is the same one under another name: call it so again, run up, then rename it with aliases. ` +
    `If another app is meant, which costs money, set again: true.`;
  return [{ property: "appPrompt", reason }];
}

/** Forgets the intent of an app that the state has. */
async function clearIntent({ directory }: Pick<Context, "directory">, urn: string, appID: string): Promise<void> {
  const found = await readIntent(directory, urn, generation);
  if (found?.link !== undefined && appIDIn(found.link) === appID) await forgetIntent(directory, urn);
}

/** True if an earlier run got an app of this prompt that may not be in the state: it is gone on with. */
async function isUnfinished({ directory, report }: OfflineContext, inputs: Partial<Inputs>): Promise<boolean> {
  const intent = await readIntent(directory, inputs.resourceUrn ?? "", generation);
  if (!intent || intent.promptDigest !== promptDigest(inputs.appPrompt ?? "")) return false;
  const { file, isSealed, link } = intent;
  if (!isSealed) report.forecast(`stops at ${file}, which lacks the seal of this user on this machine`);
  else if (link !== undefined) report.forecast(`goes on with the app that an earlier run generated: ${link}`);
  return true;
}

/** The link that an interrupted run got and could not save any more. */
async function interrupted(context: Context, urn: string, inputs: Inputs): Promise<string | undefined> {
  const intent = await readIntent(context.directory, urn, generation);
  if (!intent) return undefined;
  const { promptDigest: digest, userEmail, link } = intent;
  // The intent is of the generation to replace, which is in the state.
  if (link !== undefined && (intent.generation ?? 0) < (inputs.generation ?? 0)) {
    await forgetIntent(context.directory, urn);
    return undefined;
  }
  refuseUnsealed(intent);
  if (link !== undefined && (digest !== promptDigest(inputs.appPrompt) || userEmail !== inputs.userEmail)) {
    context.report.warning(
      `an interrupted run generated an app from another prompt that is not managed any more: ${link}`,
    );
    await forgetIntent(context.directory, urn);
    return undefined;
  }
  if (link === undefined) {
    throw new ResourceError(
      `a generation of this app was started at ${intent.startedAt} and its answer never arrived, so it may exist. ` +
        `Look in the workspace of ${userEmail}: if it is there, write its link as "link" into ${intent.file}; if not, delete that file. Then run up again.`,
    );
  }
  const wrong = wrongWith(link, context);
  if (wrong) throw new ResourceError(`the link in ${intent.file} ${wrong}. Correct it, or delete it.`);
  context.report.info(`going on with the app that an earlier run generated: ${link}`);
  return link;
}

async function generate(context: Context, urn: string, inputs: Inputs): Promise<string> {
  const { userEmail, appPrompt } = inputs;
  const startedAt = new Date(context.now()).toISOString();
  const begun = { urn, userEmail, promptDigest: promptDigest(appPrompt), startedAt };
  const intent = { ...begun, ...withoutUndefined({ generation: inputs.generation }) };
  let file = "";
  context.report.status("starting the generation");
  try {
    const answer = await context.client.createappwithprompt(
      { userEmail, appPrompt, ...withoutUndefined({ attachments: inputs.attachments }) },
      { ...context, onSend: async () => void (file = await writeIntent(context.directory, intent)) },
    );
    const link = toWholeLink(answer, context);
    const wrong = wrongWith(link, context);
    if (wrong !== undefined) {
      throw new ResourceError(
        `the link that the platform answered ${wrong}. Nothing of it is kept: write the app's link as "link" into ${file}, or delete the file.`,
      );
    }
    await writeIntent(context.directory, { ...intent, link });
    return link;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isOutcomeUnknown(error)) {
      throw new ResourceError(
        `the platform's answer to the generation did not arrive (${error.platformMessage}), so the app may exist. Nothing is repeated, since a generation costs money. ` +
          `Look in the workspace of ${userEmail}: if it is there, write its link as "link" into ${file}; if not, delete that file. Then run up again.`,
      );
    }
    // A refusal is certain: nothing was generated, and the next run may try again.
    await forgetIntent(context.directory, urn);
    throw error;
  }
}

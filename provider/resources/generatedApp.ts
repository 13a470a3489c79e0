import { createHash } from "node:crypto";
import { z } from "zod";
import { appIDIn, email, leadsTo, toFinishedAppLink, withoutUndefined } from "../../platform/contract/values.ts";
import { ApiError, isOutcomeUnknown, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { printableLine } from "../../platform/messages/text.ts";
import { common, generation as replacements, ResourceError } from "./common.ts";
import { findLegacyIntent, type Entry } from "./journal.ts";
import { resource } from "./lifecycle.ts";
import type { Context, OfflineContext } from "./resource.ts";

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

/** A generation in the journal; `link` is there once it was answered, or a person wrote it there. */
const generation = z.object({
  startedAt: z.string(),
  file: z.string(),
  userEmail: z.string(),
  promptDigest: z.string(), // the prompt itself may be secret
  generation: z.int().optional(),
  link: z.string().optional(),
});
type Begun = z.output<typeof generation>;
const thing = "GeneratedApp";

/** A prompt without the white space that does not count. */
const words = (prompt: string): string => prompt.trim().replaceAll(/\s+/g, " ");

const promptDigest = (prompt: string): string => createHash("sha256").update(words(prompt)).digest("hex").slice(0, 32);

/** The inputs that an app is generated from. */
const generating = ["appPrompt", "userEmail", "attachments"] as const;

const same: { [Name in keyof Inputs]?: (old: unknown, now: unknown) => boolean } = {
  appPrompt: (old, now) => typeof old === "string" && typeof now === "string" && words(old) === words(now),
  userEmail: (old, now) =>
    typeof old === "string" && typeof now === "string" && old.toLowerCase() === now.toLowerCase(),
};

/**
 * The generation of an app. It only starts the generation and keeps the app ID: AppReadiness waits for the end, so that
 * the ID is in the state before anything waits. A generation cannot be read back, so the journal has a line before the call
 * and gets the link with the answer.
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

  check: (context, { inputs, unknown }, old) => {
    const { report, identities } = context;
    const counted = { ...inputs, ...withoutUndefined({ generation: identities.generation(inputs.resourceUrn) }) };
    const changed = old.appPrompt === undefined ? [] : generating.filter((name) => differs(name, old, inputs, unknown));
    if (old.appPrompt === undefined && unknown.size === 0) sayBegun(context, counted);
    if (changed.length > 0 && inputs.onPromptChange === "ignore") {
      report.info(`${changed.join(", ")} changed and onPromptChange is "ignore": the app stays as it is`);
    }
    const reason =
      "has changed, and a new generation costs money: set onPromptChange to replace (generate anew) or ignore, or put it back";
    const problems = inputs.onPromptChange === "error" ? changed.map((property) => ({ property, reason })) : [];
    const isGenerated = old.appPrompt === undefined || (changed.length > 0 && inputs.onPromptChange === "replace");
    if (isGenerated && context.hasAPIKey === false) {
      const needed =
        "needs a key: set microapps:apiKey (--secret), or MICROAPPS_API_KEY; the platform's operator gives it";
      problems.push({ property: "appPrompt", reason: needed });
    }
    return Promise.resolve({ inputs: counted, problems });
  },

  diff: (context, _change, old, { inputs, unknown }) => {
    if (!context.isPlan) settleKept(context, inputs.resourceUrn, old.appID);
    if (inputs.onPromptChange === "ignore") return Promise.resolve({ changed: [], replaces: [] });
    const replaces = generating.filter((name) => differs(name, old, inputs, unknown));
    // An unknown value may change, but makes no new app by itself.
    const changed = [...replaces, ...generating.filter((name) => unknown.has(name))];
    return Promise.resolve({ changed, replaces });
  },

  create: async (context, inputs) => {
    const link = interrupted(context, inputs) ?? (await generate(context, inputs));
    const appID = appIDIn(link) ?? "";
    return { id: appID, outputs: { ...inputs, appID, editLink: link, appLink: toFinishedAppLink(link) ?? link } };
  },

  read: async (context, id, state) => {
    settleKept(context, state.resourceUrn, id);
    const found = await orUndefinedIfNotFound(context.client.createappwithpromptStatus({ appID: id }, context));
    if (!found) return undefined;
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

  delete: (context, id, state) => {
    settleKept(context, state.resourceUrn, id);
    context.report.warning(
      `the platform offers no way to delete an app: it is forgotten here and stays at ${state.editLink}`,
    );
    return Promise.resolve();
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

/** Takes the line about an app that the state has out of the journal. */
function settleKept({ journal }: Pick<Context, "journal">, urn: string | undefined, appID: string): void {
  const link = begunIn(journal.find(urn, thing))?.link;
  if (link !== undefined && appIDIn(link) === appID) journal.settle(urn, thing);
}

const begunIn = (entry: Entry | object | undefined): Begun | undefined => generation.safeParse(entry).data;

/** A generation that an earlier run began and that no state has; undefined for one that the state had before this replacement. */
function findBegun(
  { journal, directory }: Pick<OfflineContext, "journal" | "directory">,
  inputs: Partial<Inputs>,
): Begun | undefined {
  const { resourceUrn: urn } = inputs;
  const begun = begunIn(journal.find(urn, thing));
  if (begun) return begun.link !== undefined && (begun.generation ?? 0) < (inputs.generation ?? 0) ? undefined : begun;
  const legacy = begunIn(findLegacyIntent(directory, urn));
  return legacy?.link === undefined ? legacy : undefined;
}

const isOf = ({ promptDigest: digest, userEmail }: Begun, inputs: Partial<Inputs>): boolean =>
  digest === promptDigest(inputs.appPrompt ?? "") && userEmail === inputs.userEmail;

/** Says in a preview what the run will do about a generation that an earlier run began. */
function sayBegun(context: OfflineContext, inputs: Partial<Inputs>): void {
  const begun = findBegun(context, inputs);
  if (begun?.link === undefined) {
    if (begun) context.report.forecast(`stops: ${mayExist(begun)}`);
  } else if (isOf(begun, inputs)) {
    context.report.forecast(`goes on with the app that an earlier run generated: ${printableLine(begun.link)}`);
  }
}

const mayExist = ({ startedAt, userEmail, file }: Begun): string =>
  `a generation of this app was started at ${startedAt} and its answer never arrived, so it may exist. ` +
  `Look in the workspace of ${userEmail}: if it is there, write its link as "link" into its line of ${file}; ` +
  `if not, delete that line. Then run up again.`;

/** The link that an interrupted run got and could not save any more. */
function interrupted(context: Context, inputs: Inputs): string | undefined {
  const { journal, report } = context;
  const begun = findBegun(context, inputs);
  if (!begun) return undefined;
  if (begun.link === undefined) throw new ResourceError(mayExist(begun));
  if (!isOf(begun, inputs)) {
    report.warning(
      `an interrupted run generated an app from another prompt that is not managed any more: ${printableLine(begun.link)}`,
    );
    journal.settle(inputs.resourceUrn, thing);
    return undefined;
  }
  const wrong = wrongWith(begun.link, context);
  if (wrong) throw new ResourceError(`the link in ${begun.file} ${wrong}. Correct it, or delete its line.`);
  report.info(`going on with the app that an earlier run generated: ${begun.link}`);
  journal.answered(inputs.resourceUrn, thing);
  return begun.link;
}

async function generate(context: Context, inputs: Inputs): Promise<string> {
  const { journal } = context;
  const { resourceUrn: urn, userEmail, appPrompt, generation } = inputs;
  const facts = { userEmail, promptDigest: promptDigest(appPrompt), ...withoutUndefined({ generation }) };
  const startedAt = new Date(context.now()).toISOString();
  context.report.status("starting the generation");
  const line = (): string => `its line of ${journal.find(urn, thing)?.file ?? "the journal"}`;
  try {
    const answer = await context.client.createappwithprompt(
      { userEmail, appPrompt, ...withoutUndefined({ attachments: inputs.attachments }) },
      { ...context, onSend: () => journal.begin(urn, thing, startedAt, facts) },
    );
    const { link } = answer;
    const wrong = wrongWith(link, context);
    if (wrong !== undefined) {
      throw new ResourceError(
        `the link that the platform answered ${wrong}. Nothing of it is kept: write the app's link as "link" into ${line()}, or delete that line.`,
      );
    }
    journal.answered(urn, thing, { link });
    return link;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isOutcomeUnknown(error)) {
      throw new ResourceError(
        `the platform's answer to the generation did not arrive (${error.platformMessage}), so the app may exist. Nothing is repeated, since a generation costs money. ` +
          `Look in the workspace of ${userEmail}: if it is there, write its link as "link" into ${line()}; if not, delete that line. Then run up again.`,
      );
    }
    // A refusal is certain: nothing was generated, and the next run may try again.
    journal.settle(urn, thing);
    throw error;
  }
}

/** Reason not to send people to a link; undefined when it leads to an app of the platform's. */
function wrongWith(link: string, { appServer }: Pick<Context, "appServer">): string | undefined {
  const shown = printableLine(link);
  if (toFinishedAppLink(link) === undefined)
    return `is none to an app, such as https://…/workspace/apps/<app_id>: ${shown}`;
  if (appServer === undefined || leadsTo(appServer, link)) return undefined;
  return `does not lead to ${appServer}, which microapps:appServer names: ${shown}`;
}

import { z } from "zod";
import { generationState, id, stateOf } from "../../platform/contract/values.ts";
import { orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { common, PartialFailure, ResourceError } from "./common.ts";
import { resource } from "./lifecycle.ts";
import type { Context } from "./resource.ts";

const inputs = z.object({
  ...common,
  appID: id.meta({ description: "The app whose generation is waited for.", replaces: true, link: true }),
  timeout: z.number().positive().default(1800).meta({ description: "Seconds to wait at most.", ignoredInDiff: true }),
  statusWords: z.record(z.string(), generationState).optional().meta({
    description: "Meaning of the platform's own status words, beyond the usual ones: word → pending, ready or failed.",
    ignoredInDiff: true,
  }),
});

const outputs = z.object({
  status: z.string().meta({ description: "The platform's own word for the state of the generation." }),
});

type Inputs = z.output<typeof inputs>;

/** The end of an app's generation, as a step of its own: waiting can be interrupted and goes on with the same app. */
export const appReadiness = resource({
  name: "AppReadiness",
  summary: "Waits until a generated app is ready.",
  example: { name: "ready", inputs: { appID: "${portal.appID}" } },
  importedBy: { id: "<appID>" },
  inputs,
  outputs,

  // A refresh takes from the engine what it knew of a wait that failed.
  diff: (context, change, { status }, { inputs, unknown }) =>
    Promise.resolve(
      change.replaces.length > 0 || unknown.size > 0 || stateOf(status, wordsOf(context, inputs)) === "ready"
        ? change
        : { ...change, changed: [...change.changed, "status"] },
    ),

  create: async (context, inputs) => ({ id: inputs.appID, outputs: await wait(context, inputs) }),

  read: async (context, id, state) => {
    const status = await statusOf(context, id);
    if (status === undefined) return undefined;
    // Once an app is ready, another word for it is no drift.
    const { status: before, statusWords } = state;
    const word =
      before !== undefined && stateOf(before, wordsOf(context, { statusWords })) === "ready" ? before : status;
    return { id, outputs: { timeout: 1800, ...state, appID: id, status: word } };
  },

  update: (context, _id, _old, inputs) => wait(context, inputs),

  delete: () => Promise.resolve(),
});

/** Meanings of status words: those of the inputs override those of the platform's profile. */
const wordsOf = (
  { dialect }: Pick<Context, "dialect">,
  { statusWords }: Partial<Pick<Inputs, "statusWords">>,
): NonNullable<Inputs["statusWords"]> => ({ ...dialect.statusWords, ...statusWords });

const statusOf = async (context: Context, appID: string): Promise<string | undefined> =>
  (await orUndefinedIfNotFound(context.client.createappwithpromptStatus({ appID }, context)))?.status;

async function wait(context: Context, inputs: Inputs): Promise<Inputs & { status: string }> {
  const { appID, timeout } = inputs;
  const start = context.now();
  for (let pause = 250; ; pause = Math.min(pause * 1.5, 10_000)) {
    const status = await statusOf(context, appID);
    if (status === undefined) throw new ResourceError(`there is no app ${appID} on the platform`);
    const meaning = stateOf(status, wordsOf(context, inputs));
    if (meaning === "ready") return { ...inputs, status };
    if (meaning === "failed") {
      const message = `the generation of app ${appID} failed: the platform's status is ${quote(status)}. Look at the app in the workspace; to generate anew, replace the GeneratedApp.`;
      throw new PartialFailure(message, appID, { ...inputs, status });
    }
    const waited = Math.round((context.now() - start) / 1000);
    if (waited >= timeout) {
      const message = `app ${appID} was not ready after ${waited} s: the platform's status is ${quote(status)}. Run up again to go on waiting for the same app, or raise the timeout.`;
      throw new PartialFailure(message, appID, { ...inputs, status });
    }
    context.report.status(`waiting for app ${appID}: ${status} (${waited} s)`);
    await context.sleep(pause);
  }
}

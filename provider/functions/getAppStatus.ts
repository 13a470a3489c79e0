import { z } from "zod";
import { generationState, stateOf } from "../../platform/contract/apps.ts";
import { id } from "../../platform/contract/values.ts";
import { platformFunction } from "./function.ts";
import { requireFound } from "./missing.ts";

export const getAppStatus = platformFunction({
  name: "getAppStatus",
  summary: "How far the generation of an app is.",
  example: { inputs: { appID: "${portal.appID}" }, output: "meaning" },
  inputs: z.object({
    appID: id.meta({ description: "ID of the app." }),
    statusWords: z.record(z.string(), generationState).optional().meta({
      description:
        "Meaning of the platform's own status words, beyond the usual ones: word → pending, ready or failed.",
    }),
  }),
  outputs: z.object({
    appID: id.meta({ description: "ID of the app." }),
    status: z.string().meta({ description: "The platform's own word for the state of the generation." }),
    meaning: generationState.meta({ description: "Meaning of the word." }),
    message: z.string().optional().meta({ description: "Message of the platform, if any." }),
  }),

  invoke: async (context, { appID, statusWords }) => {
    const asked = context.client.createappwithpromptStatus({ appID }, context);
    const { status, message } = await requireFound("appID", "app", asked);
    return { appID, status, meaning: stateOf(status, statusWords), ...(message === undefined ? {} : { message }) };
  },
});

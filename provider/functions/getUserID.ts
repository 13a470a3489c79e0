import { z } from "zod";
import { email, id } from "../../platform/contract/values.ts";
import { platformFunction } from "./function.ts";
import { requireFound } from "./missing.ts";

export const getUserID = platformFunction({
  name: "getUserID",
  summary: "The user ID that belongs to an e-mail address, on platforms that tell it.",
  example: { inputs: { email: "ada@example.com" }, output: "userID" },
  inputs: z.object({ email: email.meta({ description: "The user's e-mail address." }) }),
  outputs: z.object({ userID: id.meta({ description: "ID of the user." }) }),

  invoke: async (context, { email }) => ({
    userID: (await requireFound("email", "user", context.client.userid({ email }, context))).userID,
  }),
});

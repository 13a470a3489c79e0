import { z } from "zod";
import { id } from "../../contract/values.ts";

const onInvitation = "Acts when a user is invited.";

/** Inputs that say where an invitation leads. */
export const invitationTargets = {
  targetRoute: z
    .enum(["app", "go"])
    .optional()
    .meta({
      description: `Where the invitation leads. ${onInvitation}`,
      settles: "silently",
    }),
  targetInitialApp: id.optional().meta({
    description: `App that the invitation opens. ${onInvitation}`,
    settles: "silently",
  }),
  targetInitialScreen: id.optional().meta({
    description: `Screen that the invitation opens. ${onInvitation}`,
    settles: "silently",
  }),
};

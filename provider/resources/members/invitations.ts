import { z } from "zod";
import { id } from "../../contract/values.ts";

const onInvitation = "Acts when a user is invited.";

/** Inputs for the target of an invitation. */
export const invitationTargets = {
  targetRoute: z
    .enum(["app", "go"])
    .optional()
    .meta({
      description: `Where the invitation leads. ${onInvitation}`,
      ignoredInDiff: true,
    }),
  targetInitialApp: id.optional().meta({
    description: `App that the invitation opens. ${onInvitation}`,
    ignoredInDiff: true,
    link: true,
  }),
  targetInitialScreen: id.optional().meta({
    description: `Screen that the invitation opens. ${onInvitation}`,
    ignoredInDiff: true,
  }),
};

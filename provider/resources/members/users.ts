import { z } from "zod";
import { orUndefinedIfNotFound } from "../../contract/errors.ts";
import { email, id } from "../../contract/values.ts";
import type { Named } from "../../reconcile/rosters.ts";
import type { Diff, Context, Given, InputProblem } from "../model/resource.ts";

/** Inputs that name one user. */
export const user = {
  email: email.optional().meta({
    description: "The user's e-mail address; an unknown one is invited. Either this or userID.",
    replaces: true,
  }),
  userID: id.optional().meta({ description: "The user's ID. Either this or email.", replaces: true }),
};

/** Output with the user's ID. */
export const userFound = {
  memberUserID: id.meta({ description: "ID of the user, also of one who was named by address.", stable: true }),
};

/** Why the inputs do not name exactly one user. */
export function checkNamedOnce({ inputs, unknown }: Given<Named>): InputProblem[] {
  const named = [inputs.email, inputs.userID].filter((value) => value !== undefined).length;
  if (unknown.has("email") || unknown.has("userID") || named === 1) return [];
  return [{ property: "email", reason: named === 0 ? "set email or userID" : "set either email or userID, not both" }];
}

/** The change without that of an address in letter case alone: it is the same user's. */
export function exceptSpelling(change: Diff, old: Named, { inputs }: Given<Named>): Diff {
  const sameAddress = old.email !== undefined && old.email.toLowerCase() === inputs.email?.toLowerCase();
  const meant = (name: string): boolean => !(name === "email" && sameAddress);
  return { changed: change.changed.filter(meant), replaces: change.replaces.filter(meant) };
}

/** The user ID at an address; undefined when the platform knows none. */
export const userIDAt = async ({ client, signal }: Context, email: string): Promise<string | undefined> =>
  (await orUndefinedIfNotFound(client.userid({ email }, { signal })))?.userID;

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

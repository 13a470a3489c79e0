import type { PlatformFunction } from "../../functions/function.ts";
import { getTeamMembers } from "../../functions/getTeamMembers.ts";
import type { Properties } from "../properties.ts";

/** How the things of a type are listed, by IDs that import them. */
export interface Listing {
  /** The question for them, whose inputs the query has. */
  question: PlatformFunction;
  itemsOf: (outputs: Properties) => { id: string; name: string }[];
}

/** Rows are missing here: a SeedRows is imported by its declaration, since an ID does not identify its rows. */
const listings: Readonly<Record<string, Listing>> = {
  TeamMember: {
    question: getTeamMembers, // called with what an engine sent, which is checked
    itemsOf: (outputs) => {
      const { teamID, members } = getTeamMembers.outputs.parse(outputs);
      return members.map(({ userID, email }) => ({ id: `${teamID}/${userID}`, name: email ?? userID }));
    },
  },
};

/** How the things of a resource are listed; undefined where they are not. */
export const listingOf = (resource: string): Listing | undefined => listings[resource];

import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { common, ResourceError } from "./model/resource.ts";
import { resource } from "./resource.ts";

const given = z.unknown().optional();

const refusal = (): string => answerRemoved("inputs", "UserTeams") ?? "";

/**
 * What version 0.1.0 left in states: it is read as it stands, and forgotten without a call, so that the person's teams
 * stay as they are. A program can't declare it any more, and no schema has it.
 */
export const userTeams = resource({
  name: "UserTeams",
  summary: "Forgotten by the next up.",
  example: { name: "", inputs: {} },
  importedBy: { otherwise: "" },
  inputs: z.object({ ...common, email: given, userID: given, teamIDs: given, organizationID: given }),
  outputs: z.object({ memberUserID: given }),
  check: (_context, { inputs }) => Promise.resolve({ inputs, problems: [{ property: "", reason: refusal() }] }),
  create: () => Promise.reject(new ResourceError(refusal())),
  read: (_context, id, state) => Promise.resolve({ id, outputs: state }),
  update: () => Promise.reject(new ResourceError(refusal())),
  delete: ({ report }, id, { email }) => {
    report.info(`forgotten: ${typeof email === "string" ? email : id} stays in all teams, and UserTeams is gone`);
    return Promise.resolve();
  },
});

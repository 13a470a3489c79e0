import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { appReadiness } from "./appReadiness.ts";
import { common, ResourceError } from "./common.ts";
import { generatedApp } from "./generatedApp.ts";
import { resource } from "./lifecycle.ts";
import { notification } from "./notification.ts";
import { organization } from "./organization.ts";
import type { Resource } from "./resource.ts";
import { rowFile } from "./rowFile.ts";
import { seedRows } from "./seedRows.ts";
import { team } from "./team.ts";
import { teamMember } from "./teamMember.ts";
import { teamRoster } from "./teamRoster.ts";

/**
 * All resources. Both kinds of provider call them with an engine's inputs, checked against the resource's own schema.
 */
export const resources = [
  organization,
  team,
  teamMember,
  teamRoster,
  seedRows,
  rowFile,
  generatedApp,
  appReadiness,
  notification,
] as unknown as readonly Resource[];

const given = z.unknown().optional();

const refusal = (): string => answerRemoved("inputs", "UserTeams") ?? "";

/**
 * What version 0.1.0 left in states: it is read as it stands, and forgotten without a call, so that the person's teams
 * stay as they are. A program can't declare it any more, and no schema has it.
 */
const userTeams = resource({
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

/** By the last word of their types. States of 0.1.0 have one that nothing else knows. */
const byName = new Map([...resources, userTeams as unknown as Resource].map((one) => [one.name, one]));

/** The resource of a type, by the type's last word. */
export const resourceNamed = (name: string): Resource | undefined => byName.get(name);

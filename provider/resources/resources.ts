import { appReadiness } from "./appReadiness.ts";
import { generatedApp } from "./generatedApp.ts";
import { notification } from "./notification.ts";
import { organization } from "./organization.ts";
import type { Resource } from "./resource.ts";
import { rowFile } from "./rowFile.ts";
import { seedRows } from "./seedRows.ts";
import { team } from "./team.ts";
import { teamMember } from "./teamMember.ts";
import { teamRoster } from "./teamRoster.ts";
import { userTeams } from "./userTeams.ts";

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

/** Resources that states of 0.1.0 have and that nothing else knows. */
const removed = [userTeams] as unknown as readonly Resource[];

/** The resource of a type, by the type's last word. */
export const resourceNamed = (name: string): Resource | undefined =>
  [...resources, ...removed].find((one) => one.name === name);

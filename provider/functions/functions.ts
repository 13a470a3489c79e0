import type { PlatformFunction } from "./function.ts";
import { getAppStatus } from "./getAppStatus.ts";
import { getOrganization } from "./getOrganization.ts";
import { getRow } from "./getRow.ts";
import { getRows } from "./getRows.ts";
import { getTeam } from "./getTeam.ts";
import { getTeamMembers } from "./getTeamMembers.ts";
import { getUserID } from "./getUserID.ts";

/** All functions. Both kinds of provider call them with inputs checked against the function's own schema. */
export const functions = [
  getUserID,
  getOrganization,
  getTeam,
  getTeamMembers,
  getRows,
  getRow,
  getAppStatus,
] as unknown as readonly PlatformFunction[];

/** The function of a name. */
export const functionNamed = (name: string): PlatformFunction | undefined => functions.find((one) => one.name === name);

import { allMembers } from "../../platform/contract/people.ts";
import type { CallContext, Handler } from "../data/callContext.ts";
import {
  deleteTeam,
  insertTeam,
  joinTeam,
  membersOf,
  requireOrganizationAdmin,
  requireOrganizationMember,
  requirePlatformAdmin,
  requireTeam,
  requireTeamAdmin,
  requireUser,
  teamsOf,
} from "../data/people.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";

interface Organization {
  id: string;
  name: string;
  description: string | null;
  created: number;
  updated: number;
}

export function requireOrganization({ database }: Pick<CallContext, "database">, organizationID: string): Organization {
  const sql = "SELECT id, name, description, created, updated FROM organizations WHERE id = ?";
  const found = database.one<Organization>(sql, organizationID);
  if (!found) throw notFound("Organization", organizationID);
  return found;
}

export const insertorganization: Handler<"insertorganization"> = ({ organizationInfo, adminID }, call) => {
  requirePlatformAdmin(call, "create organizations"); // assumed
  const { database, now, newID, user } = call;
  const { name, description } = organizationInfo;
  const id = chosenID(call, organizationInfo._id, "organizationInfo") ?? newID();
  const admin = adminID === undefined ? user : requireUser(database, adminID);
  if (database.one("SELECT 1 FROM organizations WHERE id = ?", id))
    throw new PlatformError("conflict", `Organization ${id} already exists`);
  requireFreeName(call, name, id);
  database.run("INSERT INTO organizations VALUES (?, ?, ?, ?, ?)", id, name, description ?? null, now, now);
  const teamID = newID();
  insertTeam(database, { id: teamID, organizationID: id, name: allMembers, adminID: admin.id, isAllMembers: 1 }, now);
  joinTeam(call, requireTeam(database, teamID), admin.id, "admin");
  return { organizationID: id };
};

export const readorganization: Handler<"readorganization"> = ({ organizationID }, call) => {
  if (isUnknown(call, "organizations", organizationID)) return {};
  const { id, name, description, created, updated } = requireOrganization(call, organizationID);
  requireOrganizationMember(call, id);
  const createdAt = new Date(created).toISOString(); // the form of times is assumed
  return { organization: { _id: id, name, description, createdAt, updatedAt: new Date(updated).toISOString() } };
};

export const updateorganization: Handler<"updateorganization"> = ({ organizationID, organizationInfo }, call) => {
  const found = requireOrganization(call, organizationID);
  requireOrganizationAdmin(call, organizationID, "change it");
  const { name = found.name, description = found.description } = pickTaken(call, organizationInfo);
  requireFreeName(call, name, organizationID);
  call.database.run(
    "UPDATE organizations SET name = ?, description = ?, updated = ? WHERE id = ?",
    ...[name, description, call.now, organizationID],
  );
  return {};
};

export const deleteorganization: Handler<"deleteorganization"> = ({ organizationID }, call) => {
  if (isGone(call, "organizations", organizationID)) return {};
  requireOrganization(call, organizationID);
  requireOrganizationAdmin(call, organizationID, "delete it");
  const teams = teamsOf(call.database, organizationID);
  const dependants = teams.filter((team) => team.isAllMembers === 0).map(({ id, name }) => ({ id, name }));
  // assumed: the documentation only asks to check dependencies first
  if (dependants.length > 0 && call.habits.cascade === "refused")
    throw new PlatformError("conflict", "The organization still has teams", { dependants });
  for (const team of teams) deleteTeam(call.database, team.id);
  call.database.run("DELETE FROM organizations WHERE id = ?", organizationID);
  return {};
};

export const insertteam: Handler<"insertteam"> = ({ teamInfo, adminID }, call) => {
  const { database, now, newID, user } = call;
  const { organizationID, name } = teamInfo;
  const id = chosenID(call, teamInfo._id, "teamInfo") ?? newID();
  requireOrganization(call, organizationID);
  requireOrganizationAdmin(call, organizationID, "create teams in it");
  const admin = adminID === undefined ? user : requireUser(database, adminID);
  if (database.one("SELECT 1 FROM teams WHERE id = ?", id))
    throw new PlatformError("conflict", `Team ${id} already exists`);
  requireOwnName(call, organizationID, name);
  insertTeam(database, { ...teamInfo, id, adminID: admin.id }, now);
  if (call.habits.creatorJoins === "yes" || adminID !== undefined)
    joinTeam(call, requireTeam(database, id), admin.id, "admin");
  return { teamID: id };
};

/** Refuses a second team of the name that stands for the whole organization (assumed), or of any, by the platform's habit. */
function requireOwnName({ database, habits }: CallContext, organizationID: string, name: string): void {
  const other = database.one<{ name: string }>(
    "SELECT name FROM teams WHERE organization_id = ? AND name = ? AND (is_all_members = 1 OR ?)",
    ...[organizationID, name, habits.teamNames === "unique" ? 1 : 0],
  );
  if (other) throw new PlatformError("conflict", `The organization has a team ${other.name} already`);
}

export const readteam: Handler<"readteam"> = ({ teamID }, call) => {
  if (isUnknown(call, "teams", teamID)) return {};
  const team = requireTeam(call.database, teamID);
  requireOrganizationMember(call, team.organizationID);
  const { id, organizationID, name, description } = team;
  const createdAt = new Date(team.created).toISOString();
  const updatedAt = new Date(team.updated).toISOString();
  return { team: { _id: id, organizationID, name, description, createdAt, updatedAt } };
};

export const updateteam: Handler<"updateteam"> = ({ teamID, teamInfo }, call) => {
  const team = requireTeam(call.database, teamID);
  requireTeamAdmin(call, team, "change the team");
  const { name = team.name, description = team.description } = pickTaken(call, teamInfo);
  if (team.isAllMembers === 1 && name !== team.name)
    throw new PlatformError("conflict", `The team ${team.name} can't be renamed`); // assumed
  if (name !== team.name) requireOwnName(call, team.organizationID, name);
  call.database.run(
    "UPDATE teams SET name = ?, description = ?, updated = ? WHERE id = ?",
    ...[name, description, call.now, teamID],
  );
  return {};
};

export const deleteteam: Handler<"deleteteam"> = ({ teamID }, call) => {
  if (isGone(call, "teams", teamID)) return {};
  const team = requireTeam(call.database, teamID);
  requireTeamAdmin(call, team, "delete the team");
  if (team.isAllMembers === 1)
    throw new PlatformError("conflict", `The team ${team.name} goes with its organization and can't be deleted`); // assumed
  // assumed: the documentation only asks to check memberships first
  const dependants = membersOf(call.database, teamID)
    .filter(({ userID }) => userID !== team.adminID && userID !== call.user.id)
    .map(({ userID, email }) => ({ id: userID, name: email }));
  if (dependants.length > 0 && call.habits.cascade === "refused")
    throw new PlatformError("conflict", "The team still has members", { dependants });
  deleteTeam(call.database, teamID);
  return {};
};

/** The ID that a caller chose for something new, as far as the platform lets them. */
function chosenID({ habits }: CallContext, id: string | undefined, where: string): string | undefined {
  if (id === undefined || habits.chosenIDs === "honoured") return id;
  if (habits.chosenIDs === "refused") throw invalid(`${where}._id: IDs can't be chosen here`);
  return undefined;
}

type Things = "organizations" | "teams";

const isThere = ({ database }: CallContext, table: Things, id: string): boolean =>
  database.one(`SELECT 1 FROM ${table} WHERE id = ?`, id) !== undefined;

/** True if something is not there, on a platform that answers nothing of it. */
const isUnknown = (call: CallContext, table: Things, id: string): boolean =>
  call.habits.unknownThing === "empty" && !isThere(call, table, id);

/** True if something is not there, on a platform that takes its deletion all the same. */
const isGone = (call: CallContext, table: Things, id: string): boolean =>
  call.habits.unknownDelete === "success" && !isThere(call, table, id);

interface Info {
  name?: string | undefined;
  description?: string | null | undefined;
}

/** The part of a change that the platform takes. */
const pickTaken = ({ habits }: CallContext, info: Info): Info =>
  info.description === null && habits.nullDescription === "ignored" ? { ...info, description: undefined } : info;

function requireFreeName({ database }: CallContext, name: string, id: string): void {
  if (database.one("SELECT 1 FROM organizations WHERE name = ? AND id <> ?", name, id)) {
    throw new PlatformError("conflict", `An organization named ${name} already exists`);
  }
}

import type { CallContext } from "../data/callContext.ts";
import { deleteTeam, joinTeam, membersOf, requireTeam } from "../data/memberships.ts";
import { requireOrganizationAdmin, requireOrganizationMember, requireTeamAdmin } from "../data/permissions.ts";
import { PlatformError } from "../data/platformError.ts";
import { requireUser } from "../data/users.ts";
import type { Handler } from "./handler.ts";
import { chosenID, isGone, isUnknown, requireOrganization, pickTaken } from "./organizations.ts";

export const insertteam: Handler<"insertteam"> = ({ teamInfo, adminID }, call) => {
  const { database, now, newID, user } = call;
  const { organizationID, name, description } = teamInfo;
  const id = chosenID(call, teamInfo._id, "teamInfo") ?? newID();
  requireOrganization(call, organizationID);
  requireOrganizationAdmin(call, organizationID, "create teams in it");
  const admin = adminID === undefined ? user : requireUser(database, adminID);
  if (database.one("SELECT 1 FROM teams WHERE id = ?", id)) {
    throw new PlatformError("conflict", `Team ${id} already exists`);
  }
  requireOwnName(call, organizationID, name);
  database.run(
    "INSERT INTO teams VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
    ...[id, organizationID, name, description ?? null, admin.id, now, now],
  );
  if (call.habits.creatorJoins === "yes" || adminID !== undefined) {
    joinTeam(call, requireTeam(database, id), admin.id, "admin");
  }
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
  if (team.isAllMembers === 1 && name !== team.name) {
    throw new PlatformError("conflict", `The team ${team.name} can't be renamed`); // assumed
  }
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
  if (team.isAllMembers === 1) {
    throw new PlatformError("conflict", `The team ${team.name} goes with its organization and can't be deleted`); // assumed
  }
  // assumed: the documentation only asks to check memberships first
  const dependants = membersOf(call.database, teamID)
    .filter(({ userID }) => userID !== team.adminID && userID !== call.user.id)
    .map(({ userID, email }) => ({ id: userID, name: email }));
  if (dependants.length > 0 && call.habits.cascade === "refused")
    throw new PlatformError("conflict", "The team still has members", { dependants });
  deleteTeam(call.database, teamID);
  return {};
};

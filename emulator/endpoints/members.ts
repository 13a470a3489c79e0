import type { CallContext, Handler, User } from "../data/callContext.ts";
import {
  joinTeam,
  leaveTeam,
  membershipByID,
  membershipIn,
  membersOf,
  requireOrganizationAdmin,
  requireOrganizationMember,
  requireTeam,
  requireTeamAdmin,
  requireUser,
  userByEmail,
  userOrInvited,
  type Membership,
} from "../data/people.ts";
import { invalid, notFound, PlatformError, userNotFoundFor } from "../data/platformError.ts";
import { requireOrganization } from "./organizations.ts";

export const insertteammembers: Handler<"insertteammembers"> = ({ teamIDs, emails, userIDs, ...targets }, call) => {
  const { database } = call;
  const teams = teamIDs.map((id) => requireTeam(database, id));
  for (const team of teams) requireTeamAdmin(call, team, "add members");
  const users = [
    ...(userIDs ?? []).map((id) => requireUser(database, id)),
    ...(emails ?? []).flatMap((email) => invited(call, email) ?? []),
  ];
  if (call.habits.memberAgain === "refused") {
    const known = users.find(({ id }) => teams.some((team) => membershipIn(database, team.id, id)));
    if (known) throw new PlatformError("conflict", `${known.email} is already a member`);
  }
  for (const team of teams) for (const user of users) joinTeam(call, team, user.id, "member", targets);
  return {};
};

/** The user of an address who is added: unknown ones are invited, unless the platform has another habit. */
function invited(call: CallContext, email: string): User | undefined {
  const { invitations } = call.habits;
  if (invitations === "invited") return userOrInvited(call, email);
  const found = userByEmail(call.database, email);
  if (!found && invitations === "refused") throw userNotFoundFor(email);
  return found;
}

export const teammembers: Handler<"teammembers"> = ({ teamIDs }, call) => {
  const teamMembers = [...new Set(teamIDs)].flatMap((teamID) => {
    requireOrganizationMember(call, requireTeam(call.database, teamID).organizationID);
    return membersOf(call.database, teamID);
  });
  const { memberForm } = call.habits;
  if (memberForm === "objects") return { teamMembers: teamMembers.map(wire) };
  return { teamMembers: [...new Set(teamMembers.map(({ userID }) => userID))] };
};

export const readteammember: Handler<"readteammember"> = (request, call) => {
  const member = requireMember(call, request);
  requireOrganizationMember(call, requireTeam(call.database, member.teamID).organizationID);
  return { teamMember: wire(member) };
};

export const updateteammember: Handler<"updateteammember"> = ({ role, ...request }, call) => {
  const member = requireMember(call, request);
  requireTeamAdmin(call, requireTeam(call.database, member.teamID), "change members");
  const { roleChange } = call.habits;
  if (roleChange === "refused" && role !== member.role) throw invalid("role: roles can't be changed");
  if (roleChange === "ignored") return {};
  call.database.run("UPDATE members SET role = ? WHERE id = ?", role, member.id);
  if (roleChange === "exclusive" && role === "admin") {
    const others = "UPDATE members SET role = 'member' WHERE team_id = ? AND user_id NOT IN (?, ?)";
    call.database.run(others, member.teamID, member.userID, call.user.id);
  }
  return {};
};

export const deleteteammember: Handler<"deleteteammember"> = (request, call) => {
  if (call.habits.unknownDelete === "success" && !findMember(call, request)) return {};
  const member = requireMember(call, request);
  const team = requireTeam(call.database, member.teamID);
  // Everyone may leave a team (assumed).
  if (member.userID !== call.user.id) requireTeamAdmin(call, team, "remove members");
  leaveTeam(call.database, team, member.userID);
  return {};
};

/**
 * Afterwards the user is in exactly these teams, of one organization when it is named. What the caller may not change
 * refuses the whole. The memberships in "All Members" stay unless the organization's own team is named (assumed).
 */
export const enforceteammembership: Handler<"enforceteammembership"> = (request, call) => {
  const { database } = call;
  const { organizationID, email = "" } = request;
  const teams = [...new Set(request.teamIDs)].map((id) => requireTeam(database, id));
  if (organizationID !== undefined) {
    requireOrganization(call, organizationID);
    const foreign = teams.find((team) => team.organizationID !== organizationID);
    if (foreign) throw new PlatformError("invalidRequest", `Team ${foreign.id} is not one of the organization's`);
    requireOrganizationAdmin(call, organizationID, "enforce memberships");
  }
  for (const team of teams) requireTeamAdmin(call, team, "enforce memberships");
  const user = request.userID === undefined ? userOrInvited(call, email) : requireUser(database, request.userID);
  const wanted = new Set(teams.map(({ id }) => id));
  const current = database.all<{ teamID: string }>("SELECT team_id AS teamID FROM members WHERE user_id = ?", user.id);
  for (const { teamID } of current) {
    const team = requireTeam(database, teamID);
    const inScope = organizationID === undefined || team.organizationID === organizationID;
    if (wanted.has(teamID) || team.isAllMembers === 1 || !inScope) continue;
    requireTeamAdmin(call, team, "enforce memberships");
    leaveTeam(database, team, user.id);
  }
  for (const team of teams) joinTeam(call, team, user.id);
  return {};
};

const wire = ({ id, teamID, userID, email, role }: Membership) => ({
  _id: id,
  teamMemberID: id,
  teamID,
  userID,
  email,
  role,
});

interface Named {
  teamMemberID?: string | undefined;
  teamID?: string | undefined;
  userID?: string | undefined;
}

const findMember = ({ database }: CallContext, { teamMemberID, teamID, userID }: Named): Membership | undefined =>
  teamMemberID === undefined
    ? membershipIn(database, teamID ?? "", userID ?? "")
    : membershipByID(database, teamMemberID);

/** The member of a request; where it names the membership and the team with the user, they must agree. */
function requireMember(call: CallContext, { teamMemberID, teamID, userID }: Named): Membership {
  const found = findMember(call, { teamMemberID, teamID, userID });
  if (!found) throw notFound("Team member", teamMemberID ?? `${userID ?? ""} in team ${teamID ?? ""}`);
  if ((teamID ?? found.teamID) !== found.teamID || (userID ?? found.userID) !== found.userID) {
    throw new PlatformError("invalidRequest", "teamMemberID and teamID with userID name two members");
  }
  return found;
}

import type { CallContext, User } from "./callContext.ts";
import type { Database } from "./database.ts";
import { forbidden, notFound } from "./platformError.ts";

function usersBy(database: Database, where: string, ...values: string[]): User[] {
  const found = database.all<{ id: string; email: string; admin: number; invited: number }>(
    `SELECT id, email, admin, invited FROM users WHERE ${where}`,
    ...values,
  );
  return found.map((user) => ({ ...user, admin: user.admin === 1, invited: user.invited === 1 }));
}

/** Everyone with an account. */
export const allUsers = (database: Database): User[] => usersBy(database, "true ORDER BY email");

export const userByID = (database: Database, id: string): User | undefined => usersBy(database, "id = ?", id)[0];

/** E-mail addresses are compared without regard to case (assumed). */
export const userByEmail = (database: Database, email: string): User | undefined =>
  usersBy(database, "email = ?", email)[0];

/** The platform's first administrator; undefined when there is none. */
export const findAdministrator = (database: Database): User | undefined =>
  usersBy(database, "admin = 1 ORDER BY created, id LIMIT 1")[0];

export function requireUser(database: Database, id: string): User {
  const found = userByID(database, id);
  if (!found) throw notFound("User", id);
  return found;
}

type Making = Pick<CallContext, "database" | "newID" | "now">;

/** The user of an address; a new one is invited. */
export function userOrInvited({ database, newID, now }: Making, email: string): User {
  const found = userByEmail(database, email);
  if (found) return found;
  const id = newID();
  database.run("INSERT INTO users (id, email, admin, invited, created) VALUES (?, ?, 0, 1, ?)", id, email, now);
  return { id, email, admin: false, invited: true };
}

export interface StoredTeam {
  id: string;
  organizationID: string;
  name: string;
  description: string | null;
  /** User who became its administrator when it was created. */
  adminID: string | null;
  /** 1 for the team "All Members", to which every member of the organization belongs. */
  isAllMembers: number;
  created: number;
  updated: number;
}

export interface Membership {
  id: string;
  teamID: string;
  userID: string;
  email: string;
  role: "admin" | "member";
}

/** Where an invitation leads. */
interface Targets {
  targetRoute?: string | undefined;
  targetInitialApp?: string | undefined;
  targetInitialScreen?: string | undefined;
}

const selectTeams = `SELECT id, organization_id AS organizationID, name, description, admin_id AS adminID,
  is_all_members AS isAllMembers, created, updated FROM teams`;
const selectMembers = `SELECT m.id, m.team_id AS teamID, m.user_id AS userID, u.email, m.role
  FROM members m JOIN users u ON u.id = m.user_id`;

export function requireTeam(database: Database, teamID: string): StoredTeam {
  const team = database.one<StoredTeam>(`${selectTeams} WHERE id = ?`, teamID);
  if (!team) throw notFound("Team", teamID);
  return team;
}

/** Keeps a new team. */
export function insertTeam(database: Database, team: Partial<StoredTeam>, now: number): void {
  const { id = "", organizationID = "", name = "", description = null, adminID = null, isAllMembers = 0 } = team;
  database.run(
    `INSERT INTO teams (id, organization_id, name, description, admin_id, is_all_members, created, updated)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, organizationID, name, description, adminID, isAllMembers, now, now],
  );
}

export const teamsOf = (database: Database, organizationID: string): StoredTeam[] =>
  database.all<StoredTeam>(`${selectTeams} WHERE organization_id = ? ORDER BY name`, organizationID);

/** Members in the order in which they came. */
export const membersOf = (database: Database, teamID: string): Membership[] =>
  database.all<Membership>(`${selectMembers} WHERE m.team_id = ? ORDER BY m.seq`, teamID);

export const membershipByID = (database: Database, id: string): Membership | undefined =>
  database.one<Membership>(`${selectMembers} WHERE m.id = ?`, id);

export const membershipIn = (database: Database, teamID: string, userID: string): Membership | undefined =>
  database.one<Membership>(`${selectMembers} WHERE m.team_id = ? AND m.user_id = ?`, teamID, userID);

/** Adds a user to a team and to its organization's "All Members". Existing memberships stay as they are. */
export function joinTeam(
  { database, newID, now }: Making,
  team: StoredTeam,
  userID: string,
  role: "admin" | "member" = "member",
  { targetRoute = null, targetInitialApp = null, targetInitialScreen = null }: Nullable<Targets> = {},
): void {
  const insert = (teamID: string, as: "admin" | "member") =>
    database.run(
      `INSERT INTO members (id, team_id, user_id, role, target_route, target_app, target_screen, created)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (team_id, user_id) DO NOTHING`,
      ...[newID(), teamID, userID, as, targetRoute, targetInitialApp, targetInitialScreen, now],
    );
  insert(team.id, role);
  const all = teamsOf(database, team.organizationID).find(({ isAllMembers }) => isAllMembers === 1);
  if (all && all.id !== team.id) insert(all.id, "member");
}

type Nullable<Values> = { [Name in keyof Values]: Values[Name] | null };

/** Ends a membership. Who leaves "All Members" leaves the organization, so all of its teams (assumed). */
export function leaveTeam(database: Database, { id, organizationID, isAllMembers }: StoredTeam, userID: string): void {
  const teams = isAllMembers === 1 ? "SELECT id FROM teams WHERE organization_id = ?" : "SELECT ?";
  const sql = `DELETE FROM members WHERE user_id = ? AND team_id IN (${teams})`;
  database.run(sql, userID, isAllMembers === 1 ? organizationID : id);
}

export function deleteTeam(database: Database, teamID: string): void {
  database.run("DELETE FROM members WHERE team_id = ?", teamID);
  database.run("DELETE FROM teams WHERE id = ?", teamID);
}

// Permissions are assumed: only "organization or team admins add members" is documented. A platform administrator may
// do everything; an organization's administrators are those of its team "All Members".

type Asking = Pick<CallContext, "database" | "user">;

/** The caller's role in an organization's "All Members"; without that team, who is in any other is a member. */
function roleInOrganization({ database, user }: Asking, organizationID: string): string | undefined {
  return database.one<{ role: string }>(
    `SELECT iif(t.is_all_members = 1, m.role, 'member') AS role FROM members m JOIN teams t ON t.id = m.team_id
     WHERE t.organization_id = ? AND m.user_id = ? ORDER BY t.is_all_members DESC LIMIT 1`,
    ...[organizationID, user.id],
  )?.role;
}

export function requirePlatformAdmin({ user }: Asking, action: string): void {
  if (!user.admin) throw forbidden(`Only platform administrators can ${action}`);
}

export function requireOrganizationMember(call: Asking, organizationID: string): void {
  if (call.user.admin || roleInOrganization(call, organizationID) !== undefined) return;
  throw forbidden("Only members of the organization can read it");
}

export function requireOrganizationAdmin(call: Asking, organizationID: string, action: string): void {
  if (call.user.admin || roleInOrganization(call, organizationID) === "admin") return;
  throw forbidden(`Only administrators of the organization can ${action}`);
}

export function requireTeamAdmin(call: Asking, { id, organizationID }: StoredTeam, action: string): void {
  if (call.user.admin || membershipIn(call.database, id, call.user.id)?.role === "admin") return;
  if (roleInOrganization(call, organizationID) === "admin") return;
  throw forbidden(`Only administrators of the organization or the team can ${action}`);
}

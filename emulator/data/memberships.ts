import type { Database } from "./database.ts";
import { notFound } from "./platformError.ts";

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
export interface Targets {
  targetRoute?: string | undefined;
  targetInitialApp?: string | undefined;
  targetInitialScreen?: string | undefined;
}

const teamColumns =
  "id, organization_id AS organizationID, name, description, admin_id AS adminID, is_all_members AS isAllMembers, created, updated";
const memberColumns = "m.id, m.team_id AS teamID, m.user_id AS userID, u.email, m.role";
const memberTables = "members m JOIN users u ON u.id = m.user_id";

export function requireTeam(database: Database, teamID: string): StoredTeam {
  const team = database.one<StoredTeam>(`SELECT ${teamColumns} FROM teams WHERE id = ?`, teamID);
  if (!team) throw notFound("Team", teamID);
  return team;
}

export function teamsOf(database: Database, organizationID: string): StoredTeam[] {
  return database.all<StoredTeam>(
    `SELECT ${teamColumns} FROM teams WHERE organization_id = ? ORDER BY name`,
    organizationID,
  );
}

/** Members in the order in which they came. */
export function membersOf(database: Database, teamID: string): Membership[] {
  return database.all<Membership>(
    `SELECT ${memberColumns} FROM ${memberTables} WHERE m.team_id = ? ORDER BY m.seq`,
    teamID,
  );
}

export function membershipByID(database: Database, id: string): Membership | undefined {
  return database.one<Membership>(`SELECT ${memberColumns} FROM ${memberTables} WHERE m.id = ?`, id);
}

export function membershipIn(database: Database, teamID: string, userID: string): Membership | undefined {
  return database.one<Membership>(
    `SELECT ${memberColumns} FROM ${memberTables} WHERE m.team_id = ? AND m.user_id = ?`,
    teamID,
    userID,
  );
}

type JoinContext = { database: Database; newID: () => string; now: number };

/** Adds a user to a team and to its organization's "All Members". Existing memberships stay as they are. */
export function joinTeam(
  making: JoinContext,
  team: StoredTeam,
  userID: string,
  role: "admin" | "member" = "member",
  targets: Targets = {},
): void {
  const { database, newID, now } = making;
  const allMembers = database.one<{ id: string }>(
    "SELECT id FROM teams WHERE organization_id = ? AND is_all_members = 1",
    team.organizationID,
  );
  const insert = (teamID: string, as: "admin" | "member") =>
    database.run(
      `INSERT INTO members (id, team_id, user_id, role, target_route, target_app, target_screen, created)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (team_id, user_id) DO NOTHING`,
      ...[newID(), teamID, userID, as],
      ...[targets.targetRoute ?? null, targets.targetInitialApp ?? null, targets.targetInitialScreen ?? null, now],
    );
  insert(team.id, role);
  if (allMembers && allMembers.id !== team.id) insert(allMembers.id, "member");
}

/** Ends a membership. Who leaves "All Members" leaves the organization, so all of its teams (assumed). */
export function leaveTeam(database: Database, team: StoredTeam, userID: string): void {
  const scope = team.isAllMembers === 1 ? "SELECT id FROM teams WHERE organization_id = ?" : "SELECT ?";
  database.run(
    `DELETE FROM members WHERE user_id = ? AND team_id IN (${scope})`,
    userID,
    team.isAllMembers === 1 ? team.organizationID : team.id,
  );
}

export function deleteTeam(database: Database, teamID: string): void {
  database.run("DELETE FROM members WHERE team_id = ?", teamID);
  database.run("DELETE FROM teams WHERE id = ?", teamID);
}

import type { CallContext } from "./callContext.ts";
import type { StoredTeam } from "./memberships.ts";
import { forbidden } from "./platformError.ts";

// Permissions are assumed: only "organization or team admins add members" is documented. A platform administrator may
// do everything; an organization's administrators are those of its team "All Members".

type Asking = Pick<CallContext, "database" | "user">;

/** The caller's role in an organization's "All Members"; without that team, who is in any other is a member. */
function roleInOrganization({ database, user }: Asking, organizationID: string): string | undefined {
  return database.one<{ role: string }>(
    `SELECT iif(t.is_all_members = 1, m.role, 'member') AS role FROM members m JOIN teams t ON t.id = m.team_id
     WHERE t.organization_id = ? AND m.user_id = ? ORDER BY t.is_all_members DESC LIMIT 1`,
    organizationID,
    user.id,
  )?.role;
}

function isTeamAdmin({ database, user }: Asking, teamID: string): boolean {
  const sql = "SELECT role FROM members WHERE team_id = ? AND user_id = ?";
  return database.one<{ role: string }>(sql, teamID, user.id)?.role === "admin";
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

export function requireTeamAdmin(call: Asking, team: StoredTeam, action: string): void {
  if (call.user.admin || isTeamAdmin(call, team.id)) return;
  if (roleInOrganization(call, team.organizationID) === "admin") return;
  throw forbidden(`Only administrators of the organization or the team can ${action}`);
}

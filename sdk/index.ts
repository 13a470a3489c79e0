export {
  AppReadiness,
  GeneratedApp,
  Notification,
  Organization,
  RowFile,
  SeedRows,
  Team,
  TeamMember,
  TeamRoster,
  UserTeams,
} from "./resources.ts";
export type {
  AppReadinessArgs,
  GeneratedAppArgs,
  NotificationArgs,
  OrganizationArgs,
  RowFileArgs,
  RowsOf,
  SeedRowsArgs,
  TeamArgs,
  TeamMemberArgs,
  TeamRosterArgs,
  UserTeamsArgs,
} from "./resources.ts";
export { Provider } from "./provider.ts";
export type { ProviderArgs } from "./provider.ts";
export { Environment } from "./environment.ts";
export type { EnvironmentArgs } from "./environment.ts";
export {
  getAppStatus,
  getAppStatusOutput,
  getOrganization,
  getOrganizationOutput,
  getRow,
  getRowOutput,
  getRows,
  getRowsOutput,
  getTeam,
  getTeamMembers,
  getTeamMembersOutput,
  getTeamOutput,
  getUserID,
  getUserIDOutput,
} from "./functions.ts";
export type { FunctionOptions, FunctionOutputOptions } from "./functions.ts";

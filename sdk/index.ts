export * from "./resources.ts";
export type {
  AppReadinessArgs,
  GeneratedAppArgs,
  GetAppStatusArgs,
  GetAppStatusOutputArgs,
  GetAppStatusResult,
  GetOrganizationArgs,
  GetOrganizationOutputArgs,
  GetOrganizationResult,
  GetRowArgs,
  GetRowOutputArgs,
  GetRowResult,
  GetRowsArgs,
  GetRowsOutputArgs,
  GetRowsResult,
  GetTeamArgs,
  GetTeamMembersArgs,
  GetTeamMembersOutputArgs,
  GetTeamMembersResult,
  GetTeamOutputArgs,
  GetTeamResult,
  GetUserIDArgs,
  GetUserIDOutputArgs,
  GetUserIDResult,
  NotificationArgs,
  OrganizationArgs,
  ProviderArgs,
  RowFileArgs,
  SeedRowsArgs,
  TeamArgs,
  TeamMemberArgs,
  TeamRosterArgs,
} from "./args.ts";
export type { ParentRows, RowsOf } from "./resourceClass.ts";
export { Provider } from "./provider.ts";
export { Environment } from "./environment.ts";
export type { EnvironmentArgs } from "./environment.ts";
export * from "./functions.ts";

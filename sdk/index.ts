export { AppReadiness, GeneratedApp, Organization, SeedRows, Team, TeamMember } from "./resources.ts";
export type { GeneratedAppArgs, RowsOf, SeedRowsArgs } from "./resources.ts";

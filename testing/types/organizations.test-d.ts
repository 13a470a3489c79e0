import * as pulumi from "@pulumi/pulumi";
import {
  Organization,
  Team,
  TeamMember,
  TeamRoster,
  type OrganizationArgs,
  type TeamArgs,
  type TeamMemberArgs,
  type TeamRosterArgs,
} from "pulumi-microapps";

const output = pulumi.output("text");
const teamID = output;

export function tryOrganization(): void {
  const args: OrganizationArgs = { name: "Acme", description: null, adminID: output, forceDestroy: true, adopt: false };
  const acme = new Organization("acme", args, { protect: true, retainOnDelete: true });
  const name: pulumi.Output<string> = acme.name;
  void [name, acme.id, acme.urn];
  const value: unknown = acme;
  if (Organization.isInstance(value)) void value.name;
  // @ts-expect-error: 'nmae' does not exist in type 'OrganizationArgs'
  new Organization("acme", { nmae: "Acme" });
  // @ts-expect-error: Property 'name' is missing in type '{}' but required in type 'OrganizationArgs'
  new Organization("acme", {});
  // @ts-expect-error: Type 'number' is not assignable to type 'Input<string>'
  new Organization("acme", { name: 7 });
  // @ts-expect-error: 'dependsOnn' does not exist in type 'CustomResourceOptions'
  new Organization("acme", args, { dependsOnn: [] });
  // @ts-expect-error: Cannot assign to 'name' because it is a read-only property
  acme.name = output;
  // @ts-expect-error: Type 'Output<string>' is not assignable to type 'string'
  const plain: string = acme.name;
  void plain;
}

export function tryTeam(): void {
  const args: TeamArgs = { organizationID: output, name: "Crew", description: output, adminID: "u1" };
  const crew = new Team("crew", args);
  const organizationID: pulumi.Output<string> = crew.organizationID;
  void [organizationID, crew.id];
  new Team("crew", { organizationID: output, name: "Crew" });
  // @ts-expect-error: Property 'organizationID' is missing in type '{ name: string; }' but required in type 'TeamArgs'
  new Team("crew", { name: "Crew" });
  // @ts-expect-error: 'organisationID' does not exist in type 'TeamArgs'
  new Team("crew", { name: "Crew", organisationID: output });
  // @ts-expect-error: Property 'nmae' does not exist on type 'Team'
  void crew.nmae;
}

export function tryTeamMember(): void {
  const args: TeamMemberArgs = { teamID, email: "ada@example.com", role: "admin", until: "2030-12-31" };
  const ada = new TeamMember("ada", args);
  const memberUserID: pulumi.Output<string> = ada.memberUserID;
  void [memberUserID, ada.id];
  new TeamMember("ada", { teamID, userID: output, targetRoute: "app" });
  new TeamMember("ada", { teamID, email: output, role: "member" });
  // @ts-expect-error: '"owner"' is not assignable
  new TeamMember("ada", { teamID, email: output, role: "owner" });
  // @ts-expect-error: is not assignable to parameter of type 'TeamMemberArgs'
  new TeamMember("ada", { teamID });
  // @ts-expect-error: exactly one of email and userID is set
  new TeamMember("ada", { teamID, email: "ada@example.com", userID: "u1" });
  // @ts-expect-error: Property 'teamID' is missing in type '{ email: string; }'
  new TeamMember("ada", { email: "ada@example.com" });
}

export function tryTeamRoster(): void {
  const args: TeamRosterArgs = {
    teamID,
    members: { "ada@example.com": "admin", u2: pulumi.output("member" as const) },
  };
  const all = new TeamRoster("all", args);
  const members: pulumi.Output<Record<string, "admin" | "member">> = all.members;
  const userIDs: pulumi.Output<string[]> = all.userIDs;
  void [members, userIDs, all.id];
  new TeamRoster("all", { teamID, source: "crew.csv", team: "crew", mode: "additive", ignore: [output], minAdmins: 2 });
  // @ts-expect-error: Type '"amdin"' is not assignable
  new TeamRoster("all", { teamID, members: { "ada@example.com": "amdin" } });
  // @ts-expect-error: Type '"strict"' is not assignable
  new TeamRoster("all", { teamID, members: {}, mode: "strict" });
  // @ts-expect-error: Property 'teamID' is missing in type '{ members: {}; }' but required in type 'TeamRosterArgs'
  new TeamRoster("all", { members: {} });
  // @ts-expect-error: 'sensitive' does not exist in type 'TeamRosterArgs'
  new TeamRoster("all", { teamID, sensitive: true });
}

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
  //               ^? new Organization(name: string, args: OrganizationArgs, options?: pulumi.CustomResourceOptions):
  // Organization An organization. `id` is its ID on the platform; a new name updates it in place.
  const name: pulumi.Output<string> = acme.name;
  //                                       ^? (property) OrganizationOutputs.name: pulumi.Output<string> Name, unique
  // on the platform.
  void [name, acme.id, acme.urn];
  //               ^| adminID adopt description forceDestroy getProvider id name urn
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
  //               ^? new Team(name: string, args: TeamArgs, options?: pulumi.CustomResourceOptions): Team A team of
  // an organization. `id` is its ID on the platform; another `organizationID` replaces it.
  const organizationID: pulumi.Output<string> = crew.organizationID;
  //                                                 ^? (property) TeamOutputs.organizationID: pulumi.Output<string>
  // Organization that the team belongs to.
  void [organizationID, crew.id];
  //                         ^| adminID adopt description forceDestroy getProvider id name organizationID urn
  new Team("crew", { organizationID: output, name: "Crew" });
  //                 ^| adminID adopt description forceDestroy organizationID
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
  //              ^? new TeamMember(name: string, args: TeamMemberArgs, options?: pulumi.CustomResourceOptions):
  // TeamMember A user's membership of a team. An unknown e-mail address is invited.
  const memberUserID: pulumi.Output<string> = ada.memberUserID;
  //                                              ^? (property) TeamMemberOutputs.memberUserID: pulumi.Output<string>
  // ID of the user, also of one who was named by address.
  void [memberUserID, ada.id];
  //                      ^| email getProvider id memberUserID role targetInitialApp targetInitialScreen
  // targetRoute teamID until urn userID
  new TeamMember("ada", { teamID, userID: output, targetRoute: "app" });
  //                      ^| email role targetInitialApp targetInitialScreen teamID until
  new TeamMember("ada", { teamID, email: output, role: "member" });
  //                                                    ^| admin member
  // @ts-expect-error: '"owner"' is not assignable
  new TeamMember("ada", { teamID, email: output, role: "owner" });
  // @ts-expect-error: is not assignable to parameter of type 'TeamMemberArgs'
  new TeamMember("ada", { teamID });
  // @ts-expect-error: is not assignable to type 'EitherEmailOrUserID'
  new TeamMember("ada", { teamID, email: "ada@example.com", userID: "u1" });
  // @ts-expect-error: missing the following properties from type 'TeamMemberByUserID': userID, teamID
  new TeamMember("ada", { email: "ada@example.com" });
}

export function tryTeamRoster(): void {
  const args: TeamRosterArgs = {
    teamID,
    members: { "ada@example.com": "admin", u2: pulumi.output("member" as const) },
  };
  const all = new TeamRoster("all", args);
  //              ^? new TeamRoster(name: string, args: TeamRosterArgs, options?: pulumi.CustomResourceOptions):
  // TeamRoster All members of a team by e-mail address: removes who is not declared, unless a guard refuses it.
  const members: pulumi.Output<Record<string, "admin" | "member">> = all.members;
  const userIDs: pulumi.Output<string[]> = all.userIDs;
  //                                           ^? (property) TeamRosterOutputs.userIDs: pulumi.Output<string[]> User
  // IDs of the members, in the order of their sorted names.
  void [members, userIDs, all.id];
  //                          ^| getProvider id ignore keepSelf maxRemovals members minAdmins mode source
  // targetInitialApp targetInitialScreen targetRoute team teamID until urn userIDs
  new TeamRoster("all", { teamID, source: "crew.csv", team: "crew", mode: "additive", ignore: [output], minAdmins: 2 });
  //                                                                       ^| additive authoritative
  // @ts-expect-error: Type '"amdin"' is not assignable
  new TeamRoster("all", { teamID, members: { "ada@example.com": "amdin" } });
  // @ts-expect-error: Type '"strict"' is not assignable
  new TeamRoster("all", { teamID, members: {}, mode: "strict" });
  // @ts-expect-error: Property 'teamID' is missing in type '{ members: {}; }' but required in type 'TeamRosterArgs'
  new TeamRoster("all", { members: {} });
  // @ts-expect-error: 'sensitive' does not exist in type 'TeamRosterArgs'
  new TeamRoster("all", { teamID, sensitive: true });
}

import * as pulumi from "@pulumi/pulumi";
import {
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
  Provider,
  type FunctionOptions,
  type FunctionOutputOptions,
  type GetAppStatusArgs,
  type GetAppStatusOutputArgs,
  type GetAppStatusResult,
  type GetOrganizationArgs,
  type GetOrganizationOutputArgs,
  type GetOrganizationResult,
  type GetRowArgs,
  type GetRowOutputArgs,
  type GetRowResult,
  type GetRowsArgs,
  type GetRowsOutputArgs,
  type GetRowsResult,
  type GetTeamArgs,
  type GetTeamMembersArgs,
  type GetTeamMembersOutputArgs,
  type GetTeamMembersResult,
  type GetTeamOutputArgs,
  type GetTeamResult,
  type GetUserIDArgs,
  type GetUserIDOutputArgs,
  type GetUserIDResult,
} from "pulumi-microapps";

const output = pulumi.output("text");

export async function tryGetUserID(): Promise<void> {
  const args: GetUserIDArgs = { email: "ada@example.com" };
  const ada: GetUserIDResult = await getUserID(args);
  //                                 ^? getUserID(args: GetUserIDArgs, options?: FunctionOptions):
  // Promise<GetUserIDResult> Finds the user ID of an e-mail address, on platforms that reveal it.
  void ada.userID;
  //       ^| userID
  // @ts-expect-error: Type 'Output<string>' is not assignable to type 'string'
  await getUserID({ email: output });
  // @ts-expect-error: Property 'email' is missing in type '{}' but required in type 'GetUserIDArgs'
  await getUserID({});
  // @ts-expect-error: Property 'email' does not exist on type 'GetUserIDResult'
  void ada.email;
}

export function tryGetUserIDOutput(): void {
  const args: GetUserIDOutputArgs = { email: output };
  const ada: pulumi.Output<GetUserIDResult> = getUserIDOutput(args);
  //                                          ^? getUserIDOutput(args: GetUserIDOutputArgs, options?:
  // FunctionOutputOptions): pulumi.Output<GetUserIDResult> `getUserID` with outputs as arguments and as the result.
  void ada.userID.apply((id) => id.toUpperCase());
  //       ^? (property) userID: pulumi.Output<string> ID of the user.
  // @ts-expect-error: Property 'email' is missing in type '{}' but required in type 'GetUserIDOutputArgs'
  getUserIDOutput({});
}

export async function tryGetOrganization(): Promise<void> {
  const args: GetOrganizationArgs = { organizationID: "o1" };
  const acme: GetOrganizationResult = await getOrganization(args);
  //                                        ^? getOrganization(args: GetOrganizationArgs, options?: FunctionOptions):
  // Promise<GetOrganizationResult> Reads an organization by its ID; fails when there is none.
  void acme.name;
  //        ^| description name organizationID
  // @ts-expect-error: 'id' does not exist in type 'GetOrganizationArgs'
  await getOrganization({ id: "o1" });
  // @ts-expect-error: Type 'string | undefined' is not assignable to type 'string'
  const text: string = acme.description;
  void text;
  // @ts-expect-error: Property 'adminID' does not exist on type 'GetOrganizationResult'
  void acme.adminID;
}

export function tryGetOrganizationOutput(): void {
  const args: GetOrganizationOutputArgs = { organizationID: output };
  const acme: pulumi.Output<GetOrganizationResult> = getOrganizationOutput(args);
  //                                                 ^? getOrganizationOutput(args: GetOrganizationOutputArgs,
  // options?: FunctionOutputOptions): pulumi.Output<GetOrganizationResult> `getOrganization` with outputs as
  // arguments and as the result.
  void acme;
  // @ts-expect-error: 'id' does not exist in type 'GetOrganizationOutputArgs'
  getOrganizationOutput({ id: "o1" });
}

export async function tryGetTeam(): Promise<void> {
  const args: GetTeamArgs = { teamID: "t1" };
  const crew: GetTeamResult = await getTeam(args);
  //                                ^? getTeam(args: GetTeamArgs, options?: FunctionOptions): Promise<GetTeamResult>
  // Reads a team by its ID; fails when there is none.
  void crew.organizationID;
  //        ^| description name organizationID teamID
  // @ts-expect-error: Property 'teamID' is missing in type '{}' but required in type 'GetTeamArgs'
  await getTeam({});
  // @ts-expect-error: Property 'members' does not exist on type 'GetTeamResult'
  void crew.members;
}

export function tryGetTeamOutput(): void {
  const args: GetTeamOutputArgs = { teamID: output };
  const crew: pulumi.Output<GetTeamResult> = getTeamOutput(args);
  //                                         ^? getTeamOutput(args: GetTeamOutputArgs, options?:
  // FunctionOutputOptions): pulumi.Output<GetTeamResult> `getTeam` with outputs as arguments and as the result.
  void crew;
  // @ts-expect-error: Property 'teamID' is missing in type '{}' but required in type 'GetTeamOutputArgs'
  getTeamOutput({});
}

export async function tryGetTeamMembers(): Promise<void> {
  const args: GetTeamMembersArgs = { teamID: "t1" };
  const { members }: GetTeamMembersResult = await getTeamMembers(args);
  //                                              ^? getTeamMembers(args: GetTeamMembersArgs, options?:
  // FunctionOptions): Promise<GetTeamMembersResult> Lists the members of a team, sorted by address, then by ID.
  void members[0]?.userID;
  //               ^| email role userID
  // @ts-expect-error: Type 'number' is not assignable to type 'string'
  const wrong: GetTeamMembersArgs = { teamID: 1 };
  // @ts-expect-error: Property 'members' is missing
  const none: GetTeamMembersResult = { teamID: "t1" };
  void [wrong, none];
  // @ts-expect-error: Type 'string | undefined' does not satisfy the expected type 'string'
  for (const { email } of members) email satisfies string;
  // @ts-expect-error: 'organizationID' does not exist in type 'GetTeamMembersArgs'
  await getTeamMembers({ teamID: "t1", organizationID: "o1" });
}

export function tryGetTeamMembersOutput(): void {
  const args: GetTeamMembersOutputArgs = { teamID: output };
  const crew: pulumi.Output<GetTeamMembersResult> = getTeamMembersOutput(args);
  //                                                ^? getTeamMembersOutput(args: GetTeamMembersOutputArgs, options?:
  // FunctionOutputOptions): pulumi.Output<GetTeamMembersResult> `getTeamMembers` with outputs as arguments and as the
  // result.
  void crew.members.apply((members) => members.length);
  // @ts-expect-error: Property 'teamID' is missing in type '{}' but required in type 'GetTeamMembersOutputArgs'
  getTeamMembersOutput({});
}

export async function tryGetRows(): Promise<void> {
  const args: GetRowsArgs = {
    table: "countries",
    where: { Continent: "Europe" },
    sort: [{ label: "Code" }],
    limit: 10,
  };
  const { rows }: GetRowsResult = await getRows(args);
  //                                    ^? getRows(args: GetRowsArgs, options?: FunctionOptions):
  // Promise<GetRowsResult> Finds rows of a data table by the values of their labels.
  void rows[0]?.values["Name"];
  //            ^| parentRowID rowID values
  await getRows({ table: "countries", sort: [{ label: "Code", order: "ascending" }] });
  //              ^| filters limit parentRowID table where
  // @ts-expect-error: Type '"up"' is not assignable
  await getRows({ table: "countries", sort: [{ label: "Code", order: "up" }] });
  // @ts-expect-error: Property 'table' is missing in type '{}' but required in type 'GetRowsArgs'
  await getRows({});
  // @ts-expect-error: Property 'rows' is missing in type '{}' but required in type 'GetRowsResult'
  const none: GetRowsResult = {};
  void none;
}

export function tryGetRowsOutput(): void {
  const args: GetRowsOutputArgs = { table: output, where: { Continent: output }, limit: pulumi.output(10) };
  const europe: pulumi.Output<GetRowsResult> = getRowsOutput(args, { dependsOn: [] });
  //                                           ^? getRowsOutput(args: GetRowsOutputArgs, options?:
  // FunctionOutputOptions): pulumi.Output<GetRowsResult> `getRows` with outputs as arguments and as the result.
  void europe;
  // @ts-expect-error: Property 'table' is missing in type '{}' but required in type 'GetRowsOutputArgs'
  getRowsOutput({});
}

export async function tryGetRow(): Promise<void> {
  const args: GetRowArgs = { table: "countries", key: { Code: "PT" } };
  const { values }: GetRowResult = await getRow(args);
  //                                     ^? getRow(args: GetRowArgs, options?: FunctionOptions): Promise<GetRowResult>
  // Finds one row of a data table by its ID or by its natural key.
  await getRow({ rowID: "r1" });
  //             ^| key rowID table
  // @ts-expect-error: 'rowId' does not exist in type 'GetRowArgs'
  await getRow({ rowId: "r1" });
  // @ts-expect-error: Type 'unknown' is not assignable to type 'string'
  const name: string = values["Name"];
  void name;
  // @ts-expect-error: missing the following properties from type 'GetRowResult': rowID, values
  const none: GetRowResult = {};
  void none;
}

export function tryGetRowOutput(): void {
  const args: GetRowOutputArgs = { table: "countries", key: { Code: output } };
  const row: pulumi.Output<GetRowResult> = getRowOutput(args);
  //                                       ^? getRowOutput(args: GetRowOutputArgs, options?: FunctionOutputOptions):
  // pulumi.Output<GetRowResult> `getRow` with outputs as arguments and as the result.
  void row;
  // @ts-expect-error: 'rowId' does not exist in type 'GetRowOutputArgs'
  getRowOutput({ rowId: "r1" });
}

export async function tryGetAppStatus(): Promise<void> {
  const args: GetAppStatusArgs = { appID: "a1", statusWords: { ok: "ready" } };
  const app: GetAppStatusResult = await getAppStatus(args);
  //                                    ^? getAppStatus(args: GetAppStatusArgs, options?: FunctionOptions):
  // Promise<GetAppStatusResult> Reads the status of an app's generation.
  if (app.meaning === "pending") void app.status;
  //                   ^| failed pending ready
  // @ts-expect-error: Property 'appID' is missing in type '{}' but required in type 'GetAppStatusArgs'
  await getAppStatus({});
  // @ts-expect-error: '"done"' have no overlap
  if (app.meaning === "done") void 0;
  // @ts-expect-error: Property 'link' does not exist on type 'GetAppStatusResult'
  void app.link;
}

export function tryGetAppStatusOutput(): void {
  const args: GetAppStatusOutputArgs = { appID: output, statusWords: { ok: pulumi.output("ready" as const) } };
  const app: pulumi.Output<GetAppStatusResult> = getAppStatusOutput(args);
  //                                             ^? getAppStatusOutput(args: GetAppStatusOutputArgs, options?:
  // FunctionOutputOptions): pulumi.Output<GetAppStatusResult> `getAppStatus` with outputs as arguments and as the
  // result.
  void app.status;
  // @ts-expect-error: Property 'appID' is missing in type '{}' but required in type 'GetAppStatusOutputArgs'
  getAppStatusOutput({});
}

export async function tryOptions(): Promise<void> {
  const provider = new Provider("other", {});
  const options: FunctionOptions = { provider, parent: provider };
  const later: FunctionOutputOptions = { ...options, dependsOn: [provider] };
  await getTeam({ teamID: "t1" }, options);
  void getTeamOutput({ teamID: output }, later);
  // @ts-expect-error: 'dependsOn' does not exist in type 'FunctionOptions'
  await getTeam({ teamID: "t1" }, { dependsOn: [provider] });
  // @ts-expect-error: 'async' does not exist in type 'FunctionOutputOptions'
  getTeamOutput({ teamID: "t1" }, { async: true });
}

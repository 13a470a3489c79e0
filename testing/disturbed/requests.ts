import type { Client } from "../../platform/client/index.ts";
import type { AnswerOf, EndpointName, RequestOf } from "../../platform/contract/endpoints.ts";
import type { SeedInput } from "../../platform/seed/schema.ts";

/** A request for each endpoint that succeeds on a platform which `furnish` has prepared. */
type Requests = { [Name in EndpointName]: RequestOf<Name> };

/** The account that makes the calls. */
export const account = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };

/** Initial content of the platform; `downloads` is the host that files are fetched from. */
export const seedFor = (downloads: string): SeedInput => ({
  administrator: account,
  users: ["ada", "grace"].map((id) => ({ email: `${id}@example.com`, id })),
  tables: {
    items: { fields: { Code: { type: "text", sort: 1 }, Name: "text", Picture: { type: "file", id: "picture" } } },
  },
  settings: { generationSeconds: 0, allowedHosts: [downloads] },
});

/** Makes one thing of each kind, and returns the requests that read, change, remove or add to them. */
export async function furnish(client: Client, downloads: string): Promise<Requests> {
  const microAppID = "items";
  const organizationID = "acme";
  const teamID = "crew";
  await client.insertorganization({ organizationInfo: { _id: organizationID, name: "Acme" } });
  await client.insertorganization({ organizationInfo: { _id: "empty", name: "Empty" } });
  await client.insertteam({ teamInfo: { _id: teamID, organizationID, name: "Crew" } });
  await client.insertteammembers({ teamIDs: [teamID], userIDs: ["ada"] });
  await client.insertteam({ teamInfo: { _id: "empty", organizationID, name: "Empty" } });
  const { rowID } = await client.insertmicroapprow({ microAppID, rowData: { Code: "one", Name: "One" } });
  const child = { microAppResourceID: microAppID, appID: rowID, fieldID: "picture", content: { filename: "a.png" } };
  const { childID } = await client.microappchildCreate(child);
  const upload = { resourceID: microAppID, fieldID: "picture", url: `http://${downloads}/a.png` };
  const { fileKey = "" } = await client.microappchildUploadFileToStore(upload);
  const generation = { userEmail: "ada@example.com", appPrompt: "An atlas." };
  const appID = (await client.createappwithprompt(generation)).link.split("/").at(-1) ?? "";
  const member = { teamID, userID: "ada" };

  return {
    login: { email: account.email, password: account.password },
    logout: {},
    userid: { email: "ada@example.com" },
    microappdata: { microAppID },
    microappdataRow: { rowID },
    insertmicroapprow: { microAppID, rowData: { Code: "two" } },
    insertmicroapprows: { microAppID, rows: [{ Code: "two" }, { Code: "three" }] },
    updatemicroapprow: { rowID, rowData: { Name: "Uno" } },
    removemicroapprow: { rowID },
    microappchildList: { appID: rowID, fieldID: "picture" },
    microappchildCreate: child,
    microappchildRead: { childID },
    microappchildUpdate: { childID, content: { filename: "b.png" } },
    microappchildDelete: { childID },
    microappchildStorecopy: { sourceResourceID: microAppID, destinationResourceID: rowID, fileKey },
    microappchildUploadFileToStore: upload,
    sendnotification: { appID, email: "grace@example.com", message: "Welcome" },
    createappwithprompt: generation,
    createappwithpromptStatus: { appID },
    insertorganization: { organizationInfo: { name: "Globex" } },
    readorganization: { organizationID },
    updateorganization: { organizationID, organizationInfo: { description: "All of it" } },
    deleteorganization: { organizationID: "empty" },
    insertteam: { teamInfo: { organizationID, name: "Reserve" } },
    readteam: { teamID },
    updateteam: { teamID, teamInfo: { description: "Those who work" } },
    deleteteam: { teamID: "empty" },
    insertteammembers: { teamIDs: [teamID], emails: ["grace@example.com", "new@example.com"] },
    teammembers: { teamIDs: [teamID] },
    readteammember: member,
    updateteammember: { ...member, role: "admin" },
    deleteteammember: member,
    enforceteammembership: { email: "grace@example.com", teamIDs: [teamID], organizationID },
  };
}

/** Makes the call of an endpoint. */
export function ask<Name extends EndpointName>(
  client: Client,
  name: Name,
  requests: Requests,
): Promise<AnswerOf<Name>> {
  const method = client[name] as (request: unknown) => Promise<unknown>; // TypeScript pairs no names
  return method(requests[name]) as Promise<AnswerOf<Name>>;
}

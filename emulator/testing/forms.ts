import type { EndpointName } from "../../provider/contract/endpoints.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";

// Written by hand, not derived from the contract, so that contract and emulator can't be wrong together.

/** One documented way to call an endpoint. */
export interface Form {
  /** Method and path. */
  to: string;
  /** The request as this form has it; the body when it is left out. */
  request?: (request: Json) => Json;
  /** Whether the parameters stand in the query. */
  query?: true;
  /** Whether the session is named in the body alone, without headers. */
  sessionInBody?: true;
  /** Where each part of the answer stands, or the part itself. */
  answer: Record<string, string> | ((body: unknown) => unknown);
}

const quoted = (request: Json): Json => {
  const { searchFilter } = request;
  const filters = Array.isArray(searchFilter) ? (searchFilter as Json[]) : undefined;
  const absent = { searchFilter: null, optSearchFilters: null, optViewFilters: null, optLimit: null };
  const skips = filters?.map((filter) => ("skip" in filter ? { ...filter, skip: String(filter["skip"]) } : filter));
  return { ...absent, ...request, ...(skips ? { searchFilter: skips } : {}) };
};
const oneTeam = ({ teamIDs, ...rest }: Json): Json => ({
  ...rest,
  ...(Array.isArray(teamIDs) && teamIDs.length === 1 ? { teamID: teamIDs[0] as unknown } : { teamIDs }),
});
const memberList = ({ emails = [], userIDs = [], ...rest }: Json): Json => ({
  ...oneTeam(rest),
  members: [...(emails as unknown[]).map((email) => ({ email })), ...(userIDs as unknown[])],
});
const known = (name: string) => (body: unknown) => {
  const found = isObject(body) ? body["body"] : undefined;
  return { [name]: isObject(found) && Object.keys(found).length > 0 ? found : undefined };
};
const nothing = {};

/** Each endpoint in the form that is documented first, and in another that is documented or in use. */
export const forms: Record<EndpointName, readonly [Form, Form]> = {
  login: [
    { to: "POST /api/login", answer: { authToken: "authToken", userId: "userId" } },
    { to: "POST /api/login", answer: { authToken: "data.authToken", userId: "data.userId" } },
  ],
  logout: [
    { to: "POST /api/logout", answer: nothing },
    { to: "POST /api/logout", sessionInBody: true, answer: nothing },
  ],
  userid: [
    { to: "GET /api/userid", query: true, answer: { userID: "body.userID" } },
    { to: "POST /api/userid", answer: { userID: "body.userID" } },
  ],
  microappdata: [
    { to: "POST /api/microappdata", answer: { microAppRows: "body.microAppRows" } },
    { to: "POST /api/microappdata", request: quoted, answer: { microAppRows: "body.microAppRows" } },
  ],
  microappdataRow: same("POST /api/microappdata/row", { currentRow: "body.currentRow" }),
  insertmicroapprow: [
    { to: "POST /api/insertmicroapprow", answer: { rowID: "rowID" } },
    { to: "POST /api/insertmicroapprow", answer: { rowID: "body.rowID" } },
  ],
  insertmicroapprows: [
    { to: "POST /api/insertmicroapprows", answer: { inserted: "inserted" } },
    { to: "POST /api/insertmicroapprows", answer: { inserted: "body.inserted" } },
  ],
  updatemicroapprow: same("POST /api/updatemicroapprow", nothing),
  removemicroapprow: same("POST /api/removemicroapprow", nothing),
  microappchildList: [
    { to: "POST /api/microappchild/list", query: true, answer: { childItems: "body.childItems" } },
    { to: "POST /api/microappchild/list", answer: { childItems: "body.childItems" } },
  ],
  microappchildCreate: [
    { to: "POST /api/microappchild/create", answer: { childID: "body.childID" } },
    { to: "POST /api/microappchild/create", answer: { childID: "childID" } },
  ],
  microappchildRead: same("POST /api/microappchild/read", { childItem: "body.childItem" }),
  microappchildUpdate: same("POST /api/microappchild/update", nothing),
  microappchildDelete: same("POST /api/microappchild/delete", nothing),
  microappchildStorecopy: [
    { to: "POST /api/microappchild/storecopy", answer: { signedUrl: "signedUrl" } },
    { to: "POST /api/microappchild/s3copy", answer: { signedUrl: "body.signedUrl" } },
  ],
  microappchildUploadFileToStore: [
    { to: "POST /api/microappchild/uploadFileToStore", answer: { url: "url", fileKey: "fileKey" } },
    { to: "POST /api/microappchild/uploadFileToS3", answer: { url: "body.url", fileKey: "body.fileKey" } },
  ],
  sendnotification: same("POST /api/sendnotification", (body) => body),
  createappwithprompt: same("POST /api/createappwithprompt", (body) => ({ link: body })),
  createappwithpromptStatus: same("POST /api/createappwithprompt/status", { status: "body.status" }),
  insertorganization: [
    { to: "POST /api/insertorganization", answer: { organizationID: "result._id" } },
    { to: "POST /api/insertorganization", answer: { organizationID: "body._id" } },
  ],
  readorganization: same("POST /api/readorganization", known("organization")),
  updateorganization: same("POST /api/updateorganization", nothing),
  deleteorganization: same("POST /api/deleteorganization", nothing),
  insertteam: [
    { to: "POST /api/insertteam", answer: { teamID: "result._id" } },
    { to: "POST /api/insertteam", answer: { teamID: "body._id" } },
  ],
  readteam: same("POST /api/readteam", known("team")),
  updateteam: same("POST /api/updateteam", nothing),
  deleteteam: same("POST /api/deleteteam", nothing),
  insertteammembers: [
    { to: "POST /api/insertteammembers", answer: nothing },
    { to: "POST /api/insertteammembers", request: memberList, answer: nothing },
  ],
  teammembers: [
    { to: "POST /api/teammembers", answer: { teamMembers: "body.teamMembers" } },
    { to: "POST /api/teammembers", request: oneTeam, answer: { teamMembers: "body.teamMembers" } },
  ],
  readteammember: same("POST /api/readteammember", known("teamMember")),
  updateteammember: [
    { to: "POST /api/updateteammember", answer: nothing },
    {
      to: "POST /api/updateteammember",
      request: ({ role, ...rest }) => ({ ...rest, teamMemberInfo: { role } }),
      answer: nothing,
    },
  ],
  deleteteammember: same("POST /api/deleteteammember", nothing),
  enforceteammembership: [
    { to: "POST /api/enforceteammembership", answer: nothing },
    { to: "POST /api/enforceteammembership", request: oneTeam, answer: nothing },
  ],
};

function same(to: string, answer: Form["answer"]): readonly [Form, Form] {
  return [
    { to, answer },
    { to, answer },
  ];
}

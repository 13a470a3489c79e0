import type { EndpointName, WireNames } from "../contract/endpoints.ts";
import { isObject, type Json } from "../contract/wire.ts";
import {
  usualSwitches as usualHabits,
  type SwitchName as HabitName,
  type Switches as Habits,
} from "../habits/deviations.ts";

// Written by hand, not derived from the contract, so that contract and platform can't be wrong together.

/** One way to call an endpoint that is documented or in use. */
export interface Form {
  /** Method and path. */
  to: string;
  /** Values of habits that it needs (default: none). */
  presumes?: Readonly<Partial<Record<HabitName, readonly string[]>>>;
  /** The request as this form has it; the body when it is left out. */
  request?: (request: Json) => Json;
  /** True when the parameters stand in the query. */
  query?: true;
  /** Where the session is named (default: headers). */
  session?: "body" | "both";
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
const roleInside = ({ role, ...rest }: Json): Json => ({ ...rest, teamMemberInfo: { role } });

const only = (to: string): Record<string, Form> => ({ documented: { to } });
const byTeams = (to: string, request = oneTeam): Record<string, Form> => ({
  teamIDs: { to, presumes: { teamParameter: ["either", "teamIDs"] } },
  teamID: { to, request, presumes: { teamParameter: ["either", "teamID"] } },
});

/** The forms of each endpoint by name: first the one that is documented first. */
export const forms: Readonly<Record<EndpointName, Readonly<Record<string, Form>>>> = {
  login: only("POST /api/login"),
  logout: {
    headers: { to: "POST /api/logout", presumes: { logoutBy: ["either", "headers"] } },
    body: { to: "POST /api/logout", session: "body", presumes: { logoutBy: ["either", "body"] } },
  },
  userid: {
    query: { to: "GET /api/userid", query: true, presumes: { userLookupBy: ["any", "query"] } },
    post: { to: "POST /api/userid", presumes: { userLookupBy: ["any", "post"] } },
    getBody: { to: "GET /api/userid", presumes: { userLookupBy: ["any"] } },
  },
  microappdata: {
    numbers: { to: "POST /api/microappdata" },
    quoted: { to: "POST /api/microappdata", request: quoted, presumes: { skipForm: ["either"] } },
  },
  microappdataRow: only("POST /api/microappdata/row"),
  insertmicroapprow: only("POST /api/insertmicroapprow"),
  insertmicroapprows: only("POST /api/insertmicroapprows"),
  updatemicroapprow: only("POST /api/updatemicroapprow"),
  removemicroapprow: only("POST /api/removemicroapprow"),
  microappchildList: {
    query: { to: "POST /api/microappchild/list", query: true, presumes: { childListBy: ["either", "query"] } },
    body: { to: "POST /api/microappchild/list", presumes: { childListBy: ["either", "body"] } },
  },
  microappchildCreate: only("POST /api/microappchild/create"),
  microappchildRead: only("POST /api/microappchild/read"),
  microappchildUpdate: only("POST /api/microappchild/update"),
  microappchildDelete: only("POST /api/microappchild/delete"),
  microappchildStorecopy: {
    storecopy: { to: "POST /api/microappchild/storecopy", presumes: { storecopyPath: ["either", "storecopy"] } },
    s3copy: { to: "POST /api/microappchild/s3copy", presumes: { storecopyPath: ["either", "s3copy"] } },
  },
  microappchildUploadFileToStore: {
    uploadFileToStore: {
      to: "POST /api/microappchild/uploadFileToStore",
      presumes: { uploadPath: ["either", "uploadFileToStore"] },
    },
    uploadFileToS3: {
      to: "POST /api/microappchild/uploadFileToS3",
      presumes: { uploadPath: ["either", "uploadFileToS3"] },
    },
  },
  sendnotification: only("POST /api/sendnotification"),
  createappwithprompt: only("POST /api/createappwithprompt"),
  createappwithpromptStatus: only("POST /api/createappwithprompt/status"),
  insertorganization: only("POST /api/insertorganization"),
  readorganization: only("POST /api/readorganization"),
  updateorganization: only("POST /api/updateorganization"),
  deleteorganization: only("POST /api/deleteorganization"),
  insertteam: only("POST /api/insertteam"),
  readteam: only("POST /api/readteam"),
  updateteam: only("POST /api/updateteam"),
  deleteteam: only("POST /api/deleteteam"),
  insertteammembers: byTeams("POST /api/insertteammembers", memberList),
  teammembers: byTeams("POST /api/teammembers"),
  readteammember: only("POST /api/readteammember"),
  updateteammember: {
    role: { to: "POST /api/updateteammember" },
    inside: { to: "POST /api/updateteammember", request: roleInside },
  },
  deleteteammember: only("POST /api/deleteteammember"),
  enforceteammembership: byTeams("POST /api/enforceteammembership"),
};

/** Which of the forms that a platform takes is sent: the first, or the last one. */
export type FormChoice = "first" | "other";

/** The form of a call on a platform with these habits; undefined where it takes none of them. */
export function formOf(
  name: EndpointName,
  known: Partial<Habits>,
  spelling: FormChoice = "first",
  wanted?: string,
): Form | undefined {
  if (wanted !== undefined) return forms[name][wanted];
  const taken = Object.values(forms[name]).filter(({ presumes = {} }) => findWrongHabit(presumes, known) === undefined);
  return taken.at(spelling === "first" ? 0 : -1);
}

/** The habit that is presumed to be another one than it is; undefined when all are as presumed. */
export const findWrongHabit = (
  presumes: Readonly<Partial<Record<HabitName, string | readonly string[]>>>,
  known: Partial<Habits>,
): HabitName | undefined =>
  (Object.keys(presumes) as HabitName[]).find(
    (name) => ![presumes[name]].flat().includes(known[name] ?? usualHabits[name]),
  );

/** Path and body with the names that a deployment uses. */
export function onWire(path: string, body: Json, wireNames: WireNames): { path: string; body: Json } {
  const names: Readonly<Record<string, string | undefined>> = { ...wireNames };
  const last = path.split("/").at(-1) ?? "";
  const renamed = Object.entries(body).map(([name, value]) => [names[name] ?? name, value]);
  return {
    path: path.slice(0, path.length - last.length) + (names[last] ?? last),
    body: Object.fromEntries(renamed) as Json,
  };
}

/** The text of a parameter in a query. */
export const inQuery = (value: unknown): string =>
  isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);

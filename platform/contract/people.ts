import { z } from "zod";
import { endpoint, parameters, type Received } from "./endpoint.ts";
import {
  done,
  declareMadeID,
  namedThing,
  namedThingChange,
  newNamedThing,
  oneOf,
  found,
  holderIn,
} from "./envelopes.ts";
import { id, idSchema, isID, email, needsOne } from "./values.ts";
import { isObject, listOf, type Json } from "./wire.ts";

export const organization = z.looseObject(namedThing);

export const insertorganization = endpoint({
  summary: "Creates an organization. The caller may choose its ID.",
  path: "/api/insertorganization",
  effect: "create",
  request: z.object({
    organizationInfo: z.object({
      ...newNamedThing,
      name: newNamedThing.name.describe("Unique on the platform."),
    }),
    adminID: id.optional().describe("User who becomes its administrator."),
  }),
  ...declareMadeID("organizationID", "insertorganization"),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const readorganization = endpoint({
  summary: "Reads an organization.",
  path: "/api/readorganization",
  effect: "read",
  request: z.object({ organizationID: id }),
  ...oneOf("organization", organization),
  errors: ["notFound", "forbidden"],
});

export const updateorganization = endpoint({
  summary: "Changes an organization.",
  path: "/api/updateorganization",
  effect: "idempotent",
  request: z.object({
    organizationID: id,
    organizationInfo: namedThingChange,
  }),
  ...done,
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const deleteorganization = endpoint({
  summary: "Deletes an organization that nothing depends on any more.",
  path: "/api/deleteorganization",
  effect: "idempotent",
  request: z.object({ organizationID: id }),
  ...done,
  errors: ["notFound", "conflict", "forbidden"],
});

/** Name of the team that comes with every organization. */
export const allMembers = "All Members";

export const team = z.looseObject({
  ...namedThing,
  organizationID: id.optional(),
});

export const insertteam = endpoint({
  summary: "Creates a team in an organization. The caller may choose its ID.",
  path: "/api/insertteam",
  effect: "create",
  request: z.object({
    teamInfo: z.object({
      organizationID: id,
      ...newNamedThing,
    }),
    adminID: id.optional().describe("User who becomes its administrator."),
  }),
  ...declareMadeID("teamID", "insertteam"),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const readteam = endpoint({
  summary: "Reads a team.",
  path: "/api/readteam",
  effect: "read",
  request: z.object({ teamID: id }),
  ...oneOf("team", team),
  errors: ["notFound", "forbidden"],
});

export const updateteam = endpoint({
  summary: "Changes a team.",
  path: "/api/updateteam",
  effect: "idempotent",
  request: z.object({
    teamID: id,
    teamInfo: namedThingChange,
  }),
  ...done,
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const deleteteam = endpoint({
  summary: "Deletes a team.",
  path: "/api/deleteteam",
  effect: "idempotent",
  request: z.object({ teamID: id }),
  ...done,
  errors: ["notFound", "conflict", "forbidden"],
});

export const role = z.enum(["admin", "member"]);

/** A member in an answer, whose shape is not documented: a plain user ID, or an object with any of these keys. */
type Answered = string | { [Key in keyof Member | "_id"]?: string | undefined };

const isAnsweredID = (value: unknown): boolean => value === undefined || isID(value);
const isText = (value: unknown): boolean => value === undefined || typeof value === "string";

function isMember(value: unknown): boolean {
  if (!isObject(value)) return isID(value);
  const { _id, teamMemberID, teamID, userID, email, role } = value;
  return [_id, teamMemberID, teamID, userID].every(isAnsweredID) && isText(email) && isText(role);
}

function memberOf(answered: Answered): Member {
  if (typeof answered === "string") return { userID: answered };
  const { _id, teamMemberID = _id, teamID, userID, email, role } = answered;
  return { teamMemberID, teamID, userID, email, role };
}

const memberKeys = {
  ...{ _id: idSchema, teamMemberID: idSchema, teamID: idSchema, userID: idSchema },
  ...{ email: { type: "string" }, role: { type: "string" } },
};

/**
 * A member as the platform lists it. Lists are long and are read again after each batch of additions: the check takes an
 * eighth of a schema's time.
 */
export const teamMember = z
  .custom<Answered>(isMember)
  .transform(memberOf)
  .meta({ anyOf: [idSchema, { type: "object", properties: memberKeys, additionalProperties: {} }] });

/** A member with whatever is known of it. */
export interface Member {
  teamMemberID?: string | undefined;
  teamID?: string | undefined;
  userID?: string | undefined;
  email?: string | undefined;
  role?: string | undefined;
}

/** `teamIDs` from either spelling. */
const withTeamIDs = ({ teamID, teamIDs, ...rest }: Json): Json => ({ ...rest, teamIDs: listOf(teamIDs ?? teamID) });

/** Brings the list form (`members`: addresses, IDs or objects) to the one with `emails` and `userIDs`. */
function invitation(received: Received): Json {
  const { members, teamMembers, ...rest } = withTeamIDs(parameters(received));
  const emails: unknown[] = [listOf(rest["emails"] ?? rest["email"]) ?? []].flat();
  const userIDs: unknown[] = [listOf(rest["userIDs"] ?? rest["userID"]) ?? []].flat();
  const listed = listOf(members ?? teamMembers);
  let role = rest["role"] ?? rest["roles"];
  for (const member of Array.isArray(listed) ? (listed as unknown[]) : []) {
    const one = isObject(member) ? (member["email"] ?? member["userID"]) : member;
    if (isObject(member)) role ??= member["role"] ?? undefined;
    (typeof one === "string" && one.includes("@") ? emails : userIDs).push(one);
  }
  return { ...rest, emails, userIDs, ...(role === undefined ? {} : { role }) };
}

const byID = z.object({ teamMemberID: id });
const byUser = z.object({ teamID: id, userID: id });
const oneMember = { ...byUser.partial().shape, ...byID.partial().shape };
const namedHow = { error: "teamMemberID, or teamID with userID, is required", path: ["teamMemberID"] };

export const insertteammembers = endpoint({
  summary: "Adds users to teams; unknown e-mail addresses become invited users. Roles are set with updateteammember.",
  path: "/api/insertteammembers",
  effect: "idempotent", // adding a member who is there changes nothing (assumed)
  request: needsOne(
    z.object({
      teamIDs: z.array(id).min(1),
      emails: z.array(email).optional(),
      userIDs: z.array(id).optional(),
      targetRoute: z.enum(["app", "go"]).optional().describe("Where the invitation leads."),
      targetInitialApp: id.optional(),
      targetInitialScreen: id.optional(),
      role: z.never({ error: "is not taken here: add the members, then set roles with updateteammember" }).optional(),
    }),
    { error: "emails or userIDs must name someone", path: ["emails"] },
    z.object({ emails: z.array(email).min(1) }),
    z.object({ userIDs: z.array(id).min(1) }),
  ),
  accept: invitation,
  ...done,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const teammembers = endpoint({
  summary: "Lists the members of teams.",
  path: "/api/teammembers",
  effect: "read",
  request: z.object({ teamIDs: z.array(id).min(1) }),
  accept: (received) => withTeamIDs(parameters(received)),
  answer: z.object({ teamMembers: z.array(teamMember) }),
  unwrap: (wire) => ({ teamMembers: found(wire, "teammembers") }),
  errors: ["notFound", "forbidden"],
});

export const readteammember = endpoint({
  summary: "Reads one member of a team.",
  path: "/api/readteammember",
  effect: "read",
  request: needsOne(z.object(oneMember), namedHow, byID, byUser),
  ...oneOf("teamMember", teamMember),
  errors: ["notFound", "forbidden"],
});

export const updateteammember = endpoint({
  summary: "Changes a member's role, the only thing of a member that can change.",
  path: "/api/updateteammember",
  effect: "idempotent",
  request: needsOne(z.object({ ...oneMember, role }), namedHow, byID, byUser),
  accept: (received) => {
    const { teamMemberInfo, ...rest } = parameters(received);
    return { ...(isObject(teamMemberInfo) ? teamMemberInfo : {}), ...rest };
  },
  ...done,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const deleteteammember = endpoint({
  summary: "Removes a member from a team.",
  path: "/api/deleteteammember",
  effect: "idempotent",
  request: needsOne(z.object(oneMember), namedHow, byID, byUser),
  ...done,
  errors: ["notFound", "forbidden"],
});

export const enforceteammembership = endpoint({
  summary: "Makes a user a member of exactly the named teams.",
  path: "/api/enforceteammembership",
  effect: "idempotent",
  request: needsOne(
    z.object({
      teamIDs: z.array(id),
      email: email.optional(),
      userID: id.optional(),
      organizationID: id.optional(),
    }),
    { error: "email or userID is required", path: ["email"] },
    z.object({ email }),
    z.object({ userID: id }),
  ),
  accept: (received) => withTeamIDs(parameters(received)),
  ...done,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

const session = z.object({
  authToken: z
    .string()
    .regex(/^[\x21-\x7e\x80-\xff]+$/)
    .describe("Token for the header X-Auth-Token. Its lifetime is not documented."),
  userId: id.describe("The user's ID, for the header X-User-Id."),
});

export const login = endpoint({
  summary: "Starts a session.",
  path: "/api/login",
  auth: "none",
  effect: "idempotent",
  request: z.object({ email, password: z.string().min(1) }),
  answer: session,
  // An older form has the values under `data`.
  wrap: (answer) => ({ status: "success", ...answer, data: answer }),
  unwrap: (wire) => holderIn(wire, "login"),
  errors: ["unauthorized"],
});

export const logout = endpoint({
  summary: "Ends the session of the token.",
  path: "/api/logout",
  effect: "idempotent",
  // The specification has the IDs in the headers, clients in the field send them in the body: both are sent.
  request: session.partial(),
  ...done,
  errors: ["unauthorized"],
});

export const userid = endpoint({
  summary: "Finds the user ID that belongs to an e-mail address. Works only where it is enabled.",
  method: "GET",
  path: "/api/userid",
  effect: "read",
  request: z.object({ email }),
  accept: parameters, // the query, a GET's JSON body and a POST's are all in use
  answer: z.object({ userID: id }),
  wrap: (answer): Json => ({ body: { status: "success", message: "User found", ...answer } }),
  unwrap: (wire) => ({ userID: found(wire, "userid") }),
  errors: ["notFound", "forbidden"],
});

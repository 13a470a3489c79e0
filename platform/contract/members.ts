import { z } from "zod";
import { endpoint, parameters, type Received } from "./endpoint.ts";
import { done, found, oneOf, read } from "./envelopes.ts";
import { describeLater, email, id, needsOne } from "./values.ts";
import { isObject, listOf, type Json } from "./wire.ts";

export const role = z.enum(["admin", "member"]);

/** The shape is not documented: a plain user ID, or an object with any of these keys. */
const anyMember = z.union([
  id.transform((userID): Member => ({ userID })),
  z
    .looseObject({
      _id: id.optional(),
      teamMemberID: id.optional(),
      teamID: id.optional(),
      userID: id.optional(),
      email: z.string().optional(),
      role: z.string().optional(),
    })
    .transform(memberOf),
]);

/**
 * A member as the platform lists it. Lists are long and are read again after each batch of additions: ordinary members
 * take an eighth of the schema's time, which decides about all others.
 */
export const teamMember = z
  .custom<z.input<typeof anyMember>>()
  .transform((value, context): Member => {
    if (isOrdinary(value)) return memberOf(value);
    const { data, error } = anyMember.safeParse(value);
    if (error) context.issues.push({ code: "custom", input: value, message: error.message });
    return data ?? {};
  })
  .meta(describeLater(["anyOf"], () => z.toJSONSchema(anyMember, { io: "input" })));

type Ordinary = { [Key in "_id" | "teamMemberID" | "teamID" | "userID" | "email" | "role"]?: string | undefined };

function memberOf({ _id, teamMemberID = _id, teamID, userID, email, role }: Ordinary): Member {
  return { teamMemberID, teamID, userID, email, role };
}

/** True for an object whose known values are texts that the schema takes as they are. */
function isOrdinary(value: unknown): value is Ordinary {
  if (!isObject(value)) return false;
  const { _id, teamMemberID, teamID, userID, email, role } = value;
  const isText = (text: unknown): boolean => text === undefined || typeof text === "string";
  return [_id, teamMemberID, teamID, userID].every(isAnsweredID) && isText(email) && isText(role);
}

const isAnsweredID = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && value !== "" && value.length <= 200);

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
  auth: "token",
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
  auth: "token",
  effect: "read",
  request: z.object({ teamIDs: z.array(id).min(1) }),
  accept: (received) => withTeamIDs(parameters(received)),
  answer: z.object({ teamMembers: z.array(teamMember) }),
  wrap: read,
  unwrap: (wire) => ({ teamMembers: found(wire, "teammembers") }),
  errors: ["notFound", "forbidden"],
});

export const readteammember = endpoint({
  summary: "Reads one member of a team.",
  path: "/api/readteammember",
  auth: "token",
  effect: "read",
  request: needsOne(z.object(oneMember), namedHow, byID, byUser),
  ...oneOf("teamMember", teamMember),
  errors: ["notFound", "forbidden"],
});

export const updateteammember = endpoint({
  summary: "Changes a member's role, the only thing of a member that can change.",
  path: "/api/updateteammember",
  auth: "token",
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
  auth: "token",
  effect: "idempotent",
  request: needsOne(z.object(oneMember), namedHow, byID, byUser),
  ...done,
  errors: ["notFound", "forbidden"],
});

export const enforceteammembership = endpoint({
  summary: "Makes a user a member of exactly the named teams.",
  path: "/api/enforceteammembership",
  auth: "token",
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

import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { id, withoutUndefined } from "../../platform/contract/values.ts";
import { ApiError, isRefusal, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { peopleIn } from "../people/members.ts";
import { isSame, nameOf, type ListedMember } from "../people/people.ts";
import { describeNamed } from "../pulumi/names.ts";
import { adoptSame, common, generation, PartialFailure, ResourceError } from "./common.ts";
import {
  called,
  createNamed,
  readNamed,
  sync,
  uncancellable,
  verifyGone,
  whileFewer,
  type Kind,
  resource,
} from "./lifecycle.ts";
import { caller, findRole, membersOf, proveRole } from "./memberships.ts";
import type { Context, State } from "./resource.ts";

const inputs = z.object({
  ...common,
  organizationID: id.meta({ description: "Organization that the team belongs to.", replaces: true, link: true }),
  name: z.string().min(1).meta({ description: "Name of the team." }),
  description: z
    .string()
    .nullish()
    .meta({ description: "Purpose. Not changed if unset, cleared by null or an empty text." }),
  adminID: id.optional().meta({
    description: "User ID of an administrator. A new one is added; the former one keeps the role.",
  }),
  forceDestroy: z.boolean().optional().meta({
    description: "On a destroy, also remove members whom nobody declares.",
  }),
  adopt: adoptSame,
  generation,
});

const outputs = z.object({});

type Kept = State<typeof inputs, typeof outputs>;

/** A team of an organization. A rename is an update in place, another organization a replacement. */
export const team = resource({
  name: "Team",
  summary: "A team of an organization.",
  example: { name: "crew", inputs: { organizationID: "${acme.id}", name: "Crew", description: "Runs the place." } },
  importedBy: { id: "<teamID>" },
  inputs,
  outputs,
  identity: {
    stays: ({ name }, owner) =>
      `team ${quote(name)} stays: ${owner.itself ? "this resource goes on with it" : `${describeNamed(owner)} has it`}`,
  },

  check: ({ identities, claims }, { inputs }, old) => {
    claims.administer(inputs.resourceUrn, inputs.adminID, old.adminID);
    const generation = identities.generation(inputs.resourceUrn);
    return Promise.resolve({ inputs: { ...inputs, ...withoutUndefined({ generation }) }, problems: [] });
  },

  create: async (context, inputs) => {
    const { organizationID, adminID, resourceUrn: urn, generation } = inputs;
    // A forced replacement is another team: it must not find the one that it replaces.
    const parts = [organizationID, ...(generation === undefined ? [] : [`generation ${generation}`])];
    const { id, isNew } = await createNamed<Found, Kept>({
      ...{ kind, context, inputs },
      choose: () => context.identities.chosen(urn, ...parts),
      beside: { organizationID },
      insert: async (info) => {
        const request = { teamInfo: { organizationID, ...info }, ...withoutUndefined({ adminID }) };
        return (await context.client.insertteam(request, context)).teamID;
      },
    });
    if (isNew) context.members.made(id);
    if (isNew && adminID !== undefined) await verifyAdmin(uncancellable(context), id, { userID: adminID }, inputs);
    return { id, outputs: inputs };
  },

  read: async (context, id, state) => {
    context.members.expect(id);
    context.claims.administer(id, state.adminID); // for a roster that is read meanwhile
    const read = await readNamed(kind, context, id, state);
    if (!read) return undefined;
    const { found, ...own } = read;
    const organizationID = found.organizationID ?? state.organizationID;
    if (organizationID === undefined) {
      throw new ResourceError(`team ${id} can't be read: the platform does not say which organization it belongs to`);
    }
    const isKept = state.adminID === undefined || (await isAdministrator(context, id, state.adminID));
    return { id, outputs: { ...state, organizationID, ...own, ...(isKept ? {} : { adminID: undefined }) } };
  },

  update: async (context, id, old, inputs) => {
    await sync(kind, context, id, inputs);
    if (inputs.adminID !== undefined && inputs.adminID !== old.adminID) {
      const { member, isUnlisted, reason } = await context.members.add(id, { userID: inputs.adminID });
      if (isUnlisted) {
        const why = reason === undefined ? "it was added, and is not in the list yet" : messageOf(reason);
        const message = `${inputs.adminID} was not made an administrator of ${called(kind, inputs)}: ${why}. The next up looks again`;
        throw new PartialFailure(message, id, { ...inputs, adminID: undefined });
      }
      if (member.role !== "admin") await context.members.setRole(id, member, "admin");
      await verifyAdmin(context, id, member, inputs);
    }
    return inputs;
  },

  delete: async (context, id, state) => {
    const { report, members } = context;
    const self = await caller(context);
    // Who came with the team goes with it: the account that made it, and the administrator whom it names.
    const isOther = (member: ListedMember) => !isSame(self, member) && member.userID !== state.adminID;
    // A platform may take a team with everybody in it, so this is asked before anything is sent.
    let isFirst = true;
    const look = () =>
      membersOf(context, id, (one) => (isFirst ? members.proved(one) : members.list(one, { fresh: true })));
    const lookAgain = () => look().finally(() => (isFirst = false));
    const left = await whileFewer(context, lookAgain, (list) => list?.filter(isOther).length ?? 0);
    if (left === undefined) return;
    const others = left.filter(isOther);
    if (others.length > 0 && !state.forceDestroy) throw notEmptied(context, id, state, others);
    if (others.length > 0)
      report.warning(`forceDestroy: removing ${formatCount(others.length, "member")} of ${quote(state.name)}`);
    context.assertAlone();
    for (const member of others) await members.remove(id, member);
    await removeEmptied(
      context,
      id,
      state,
      left.filter((member) => !others.includes(member)),
    );
    await verifyGone(context, { what: called(kind, state), id, find: (one) => find(context, one) });
  },
});

/** Deletes a team that nobody is in but who came with it, and may stand in the way of that. */
async function removeEmptied(context: Context, id: string, state: Kept, own: readonly ListedMember[]): Promise<void> {
  const remove = () => orUndefinedIfNotFound(context.client.deleteteam({ teamID: id }, context));
  try {
    await remove();
  } catch (error) {
    const isMet = error instanceof ApiError && (error.code === "conflict" || isRefusal(error));
    if (!isMet || own.length === 0) throw error;
    const names = own.flatMap(({ userID, teamMemberID, email }) => [userID, teamMemberID, email?.toLowerCase()]);
    const others = error.dependants.filter((one) => !names.includes(one.id) && !names.includes(one.name.toLowerCase()));
    if (others.length > 0) {
      const who = some(
        others.map(({ name }) => name),
        maxNamed,
      );
      throw new ResourceError(
        `${called(kind, state)} was not deleted, since the platform says that others are in it, whom its list lacks: ${who}.`,
      );
    }
    for (const member of own) await context.members.remove(id, member);
    await remove();
  }
}

/** Most people whom a refusal names. */
const maxNamed = 20;

function notEmptied(context: Context, id: string, state: Kept, others: readonly ListedMember[]): Error {
  const { resourceUrn: urn } = state;
  const isReplaced = urn !== undefined && context.identities.isDeclared(urn);
  const follow = isReplaced && others.every((member) => context.claims.declaring(id, member) !== undefined);
  return new ResourceError(
    `${called(kind, state)} was not deleted because it still has members: ${some(others.map(nameOf), maxNamed)}. ` +
      (follow
        ? `It was replaced. Run up again, without --target-replace: its members follow, and then it goes.`
        : `Remove them first, or set forceDestroy: true and run up before destroy.`),
  );
}

type Found = NonNullable<AnswerOf<"readteam">["team"]>;

const find = async (context: Context, teamID: string): Promise<Found | undefined> =>
  (await orUndefinedIfNotFound(context.client.readteam({ teamID }, context)))?.team;

const kind: Kind<Found> = {
  name: "Team",
  settings: ["description"],
  find,
  update: (context, teamID, teamInfo) => context.client.updateteam({ teamID, teamInfo }, context),
  isListed: ({ members }, id) => {
    members.made(id);
    // Who made it is in it; where a platform does not say so, the team itself is read.
    const isThere = (list: readonly ListedMember[] | undefined): boolean => list !== undefined && list.length > 0;
    return members.proved(id).then(isThere, () => false);
  },
};

/** False where the platform shows that a user is no administrator of a team: true where it shows no role, or nobody may look. */
async function isAdministrator(context: Context, teamID: string, userID: string): Promise<boolean> {
  try {
    const member = peopleIn((await context.members.list(teamID)) ?? []).find({ userID });
    return member !== undefined && ((await findRole(context, teamID, member)) ?? "admin") === "admin";
  } catch (error) {
    if (error instanceof ApiError && (error.code === "forbidden" || error.code === "notFound")) return true;
    throw error;
  }
}

/** Throws unless a user is seen to be an administrator of the team; the next run then tries again. */
async function verifyAdmin(context: Context, id: string, member: ListedMember, outputs: Kept): Promise<void> {
  const { lack } = await proveRole(context, id, { member, role: "admin" });
  if (!lack) return;
  const message = `${nameOf(member)} was not made an administrator of ${called(kind, outputs)}: ${lack.reason}`;
  throw new PartialFailure(message, id, { ...outputs, adminID: undefined });
}

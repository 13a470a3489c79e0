import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { id, withoutUndefined } from "../../platform/contract/values.ts";
import { ApiError, isRefusal, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { type ListedMember, peopleIn } from "../people/members.ts";
import { isSame, nameOf } from "../people/people.ts";
import { caller, findRole, membersOf, proveRole } from "./memberships.ts";
import { describeNamed } from "./model/identities.ts";
import {
  createOnce,
  findChangedValues,
  proveGone,
  proveNew,
  proveSettings,
  toManagedDescription,
  uncancellable,
} from "./model/lifecycle.ts";
import { adoptSame, common, type Context, generation, PartialFailure, ResourceError } from "./model/resource.ts";
import { resource, type ResourceContext, type State } from "./resource.ts";

const inputs = z.object({
  ...common,
  organizationID: id.meta({ description: "Organization that the team belongs to.", replaces: true, link: true }),
  name: z.string().min(1).meta({ description: "Name of the team." }),
  description: z
    .string()
    .nullish()
    .meta({ description: "Purpose. Left alone when unset, cleared by null or an empty text." }),
  adminID: id.optional().meta({
    description: "User ID of an administrator. A new one is added; the former one keeps the role.",
  }),
  forceDestroy: z.boolean().optional().meta({
    description: "Remove the members that still stand in the way of a destroy.",
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

  check: ({ identities, claims }, { inputs }) => {
    claims.administer(inputs.resourceUrn, inputs.adminID);
    const generation = identities.generation(inputs.resourceUrn);
    return Promise.resolve({ inputs: { ...inputs, ...withoutUndefined({ generation }) }, problems: [] });
  },

  create: async (context, inputs) => {
    const { organizationID, adminID, resourceUrn: urn, generation } = inputs;
    // A forced replacement is another team: it must not find the one that it replaces.
    const parts = [organizationID, ...(generation === undefined ? [] : [`generation ${generation}`])];
    const wanted = { name: inputs.name, ...withoutUndefined({ description: inputs.description }) };
    const { id, found } = await createOnce({
      context,
      what: `team ${quote(inputs.name)}`,
      choose: () => context.identities.chosen(urn, ...parts),
      adopt: inputs.adopt ?? false,
      urn,
      thing,
      find: (id, context) => find(context, id),
      matches: (found) => Object.keys(findChangedValues({ ...wanted, organizationID }, found)).length === 0,
      create: async (id) => {
        const teamInfo = { organizationID, ...withoutUndefined({ _id: id }), ...wanted };
        return (await context.client.insertteam({ teamInfo, ...withoutUndefined({ adminID }) }, context)).teamID;
      },
    });
    if (!found) context.members.made(id);
    const after = uncancellable(context);
    if (found) await sync(after, id, inputs, found);
    else {
      const back = { context, what: called(inputs), id, outputs: inputs, find: () => find(after, id) };
      await proveNew("Team", { ...back, wanted: { ...wanted, organizationID } });
      if (adminID !== undefined) await proveAdmin(after, id, { userID: adminID }, inputs);
    }
    return { id, outputs: inputs };
  },

  read: async (context, id, state) => {
    context.journal.settle(state.resourceUrn, thing(id));
    context.members.expect(id);
    const found = await find(context, id);
    if (!found) return undefined;
    const organizationID = found.organizationID ?? state.organizationID;
    if (organizationID === undefined) {
      throw new ResourceError(`team ${id} can't be read: the platform does not say which organization it belongs to`);
    }
    const own = { organizationID, name: found.name, ...toManagedDescription(found, state) };
    const isKept = state.adminID === undefined || (await isAdministrator(context, id, state.adminID));
    return { id, outputs: { ...state, ...own, ...(isKept ? {} : { adminID: undefined }) } };
  },

  update: async (context, id, old, inputs) => {
    await sync(context, id, inputs);
    if (inputs.adminID !== undefined && inputs.adminID !== old.adminID) {
      const { member, isUnseen, reason } = await context.members.add(id, { userID: inputs.adminID });
      if (isUnseen) {
        const why = reason === undefined ? "it was added, and is not in the list yet" : messageOf(reason);
        const message = `${inputs.adminID} was not made an administrator of ${called(inputs)}: ${why}. The next up looks again`;
        throw new PartialFailure(message, id, { ...inputs, adminID: undefined });
      }
      if (member.role !== "admin") await context.members.setRole(id, member, "admin");
      await proveAdmin(context, id, member, inputs);
    }
    return inputs;
  },

  delete: async (context, id, state) => {
    const { report, members } = context;
    const self = await caller(context);
    // Who came with the team goes with it: the account that made it, and the administrator whom it names.
    const isOther = (member: ListedMember) => !isSame(self, member) && member.userID !== state.adminID;
    const left = await leftIn(context, id, isOther);
    if (left === undefined) return;
    const others = left.filter(isOther);
    if (others.length > 0 && !state.forceDestroy) throw notEmptied(context, id, state, others);
    if (others.length > 0)
      report.warning(`forceDestroy: removing ${formatCount(others.length, "member")} of ${quote(state.name)}`);
    for (const member of others) await members.remove(id, member);
    await removeEmptied(
      context,
      id,
      state,
      left.filter((member) => !others.includes(member)),
    );
    await proveGone(context, { kind: "team", what: called(state), id, find: (one) => find(context, one) });
  },
});

/** A team in the journal. */
const thing = (id: string): string => `Team ${id}`;

const called = ({ name }: { name: string }): string => `team ${quote(name)}`;

type Find = () => Promise<Found | undefined>;

/** Milliseconds before a team is read again in which others than the account are, twice as many each time, and how often. */
const pause = { milliseconds: 200, most: 3 };

/**
 * Reads who is in a team that is about to go; undefined where there is none. A platform may take a team with everybody in
 * it, so this is asked before anything is sent. Engines delete side by side what does not depend on each other, such as members
 * that a program makes inside of `apply`: so it waits while they become fewer.
 */
async function leftIn(
  context: ResourceContext,
  id: string,
  isOther: (member: ListedMember) => boolean,
): Promise<readonly ListedMember[] | undefined> {
  let left = await membersOf(context, id, (one) => context.members.proved(one));
  let fewest = Infinity;
  for (let pauses = 0; left !== undefined; pauses++) {
    const count = left.filter(isOther).length;
    if (count === 0) return left;
    if (count < fewest) [fewest, pauses] = [count, 0];
    if (pauses === pause.most) return left;
    await context.sleep(pause.milliseconds * 2 ** pauses);
    left = await membersOf(context, id, (one) => context.members.list(one, { fresh: true }));
  }
  return left;
}

/** Deletes a team that nobody is in but who came with it, and may stand in the way of that. */
async function removeEmptied(
  context: ResourceContext,
  id: string,
  state: Kept,
  own: readonly ListedMember[],
): Promise<void> {
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
        `${called(state)} was not deleted, since the platform says that others are in it, whom its list lacks: ${who}.`,
      );
    }
    for (const member of own) await context.members.remove(id, member);
    await remove();
  }
}

/** Most people whom a refusal names. */
const maxNamed = 20;

function notEmptied(context: ResourceContext, id: string, state: Kept, others: readonly ListedMember[]): Error {
  const { resourceUrn: urn } = state;
  const isReplaced = urn !== undefined && context.identities.isDeclared(urn);
  const follow = isReplaced && others.every((member) => context.claims.declaring(id, member) !== undefined);
  return new ResourceError(
    `${called(state)} was not deleted because it still has members: ${some(others.map(nameOf), maxNamed)}. ` +
      (follow
        ? `It was replaced. Run up again, without --target-replace: its members follow, and then it goes.`
        : `Remove them first, or set forceDestroy: true and run up before destroy.`),
  );
}

type Found = NonNullable<AnswerOf<"readteam">["team"]>;

const find = async (context: Context, teamID: string): Promise<Found | undefined> =>
  (await orUndefinedIfNotFound(context.client.readteam({ teamID }, context)))?.team;

/** Sends only what differs from what is there, and reads it back. */
async function sync(context: Context, teamID: string, outputs: Kept, there?: Found): Promise<void> {
  const look: Find = () => find(context, teamID);
  const found = there ?? (await look());
  if (!found)
    throw new ResourceError(
      `${called(outputs)} is gone from the platform: run the same command with --refresh, which creates it again.`,
    );
  const wanted = { name: outputs.name, ...withoutUndefined({ description: outputs.description }) };
  const change = findChangedValues(wanted, found);
  if (Object.keys(change).length === 0) return;
  await context.client.updateteam({ teamID, teamInfo: change }, context);
  await proveSettings({ context, what: called(outputs), id: teamID, wanted, outputs, find: look });
}

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
async function proveAdmin(context: Context, id: string, member: ListedMember, outputs: Kept): Promise<void> {
  const { lack } = await proveRole(context, id, { member, role: "admin" });
  if (!lack) return;
  const message = `${nameOf(member)} was not made an administrator of ${called(outputs)}: ${lack.reason}`;
  throw new PartialFailure(message, id, { ...outputs, adminID: undefined });
}

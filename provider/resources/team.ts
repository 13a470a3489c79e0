import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import type { ListedMember } from "../client/members/memberLists.ts";
import type { AnswerOf } from "../contract/endpoints.ts";
import { ApiError, isRefusal, orUndefinedIfNotFound } from "../contract/errors.ts";
import { id, withoutUndefined } from "../contract/values.ts";
import { formatCount, quote } from "../messages/text.ts";
import { caller, explainLack } from "./memberships.ts";
import {
  findChangedValues,
  createOnce,
  deleteEmptied,
  dissolve,
  toManagedDescription,
  uncancellable,
} from "./model/creation.ts";
import { describeNamed } from "./model/identities.ts";
import { adopt, common, generation, PartialFailure, ResourceError, type Context } from "./model/resource.ts";
import { proveGone, proveNew, proveSettings } from "./model/settings.ts";
import { isSame, nameOf } from "./people.ts";
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
  adopt,
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

  check: ({ identities }, { inputs }) => {
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
    return { id, outputs: { ...state, organizationID, name: found.name, ...toManagedDescription(found, state) } };
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
    const members = await context.members.list(id);
    if (members === undefined) return;
    const deleted = { kind: "team", what: called(state), id, find: (one: string) => find(context, one) };
    if (state.forceDestroy) {
      if (members.length > 0)
        context.report.warning(
          `forceDestroy: removing ${formatCount(members.length, "member")} of ${quote(state.name)}`,
        );
      await dissolve(context, id);
      return proveGone(context, deleted);
    }
    await removeEmptied(context, id, state);
    await proveGone(context, deleted);
  },
});

/** A team in the journal. */
const thing = (id: string): string => `Team ${id}`;

const called = ({ name }: { name: string }): string => `team ${quote(name)}`;

type Find = () => Promise<Found | undefined>;

/** Deletes a team that nobody is in but the account itself, which came with the team. */
async function removeEmptied(context: ResourceContext, id: string, state: Kept): Promise<void> {
  const remove = () => orUndefinedIfNotFound(context.client.deleteteam({ teamID: id }, context));
  const refusal = await refusalOf(deleteEmptied(context, remove));
  if (!refusal) return;
  const left = (await context.members.list(id, { fresh: true })) ?? [];
  const self = await caller(context);
  const own = left.filter((member) => isSame(self, member));
  // Nobody is taken out while anybody else stands in the way: the team would stay, without them.
  const others = inTheWay(refusal, left, own);
  if (others.length > 0 || own.length === 0) throw notEmptied(context, state, refusal, others);
  for (const member of own) await context.members.remove(id, member);
  await remove();
}

/** The refusal with which a deletion ended; undefined when it did not. */
async function refusalOf(deletion: Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await deletion;
    return undefined;
  } catch (error) {
    const isMet = error instanceof ApiError && (error.code === "conflict" || isRefusal(error));
    if (isMet) return error;
    throw error;
  }
}

/** The names of those who keep a team from being deleted, but for some: as the platform names them, else all who are left. */
function inTheWay({ dependants }: ApiError, left: readonly ListedMember[], but: readonly ListedMember[]): string[] {
  const names = (member: ListedMember) => [member.userID, member.teamMemberID, member.email?.toLowerCase()];
  const known = new Set(but.flatMap(names));
  if (dependants.length === 0) return left.filter((member) => !but.includes(member)).map(nameOf);
  return dependants.flatMap(({ id, name }) => (known.has(id) || known.has(name.toLowerCase()) ? [] : name));
}

function notEmptied(context: Context, state: Kept, refusal: ApiError, others: readonly string[]): Error {
  if (others.length === 0 && refusal.code !== "conflict") return refusal;
  const { resourceUrn: urn } = state;
  const isReplaced = urn !== undefined && context.identities.isDeclared(urn);
  return new ResourceError(
    `${called(state)} was not deleted because it still has members: ${others.join(", ")}. ` +
      (isReplaced
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

/** Throws unless a user is seen to be an administrator of the team; the next run then tries again. */
async function proveAdmin(context: Context, id: string, member: ListedMember, outputs: Kept): Promise<void> {
  const lacked = await explainLack(context, id, member, "admin");
  if (!lacked) return;
  const message = `${nameOf(member)} was not made an administrator of ${called(outputs)}: ${lacked.reason}`;
  throw new PartialFailure(message, id, { ...outputs, adminID: undefined });
}

import { z } from "zod";
import type { AnswerOf } from "../contract/endpoints.ts";
import { ApiError, orUndefinedIfNotFound } from "../contract/errors.ts";
import { id, withoutUndefined } from "../contract/values.ts";
import { numbered, quoted } from "../messages/text.ts";
import {
  changedValues,
  createOnce,
  deleteEmptied,
  dissolve,
  observedDescription,
  uncancellable,
} from "./model/creation.ts";
import { calledBy } from "./model/identities.ts";
import { adopt, common, generation, ResourceError, type Context } from "./model/resource.ts";
import { attemptsOf, settleAttempts } from "./records/attempts.ts";
import { resource } from "./resource.ts";

const inputs = z.object({
  ...common,
  organizationID: id.meta({ description: "Organization that the team belongs to.", replaces: true, link: true }),
  name: z.string().min(1).meta({ description: "Name of the team." }),
  description: z
    .string()
    .nullish()
    .meta({ description: "What it is for. Left alone when unset, cleared by null or an empty text." }),
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

type Inputs = z.output<typeof inputs>;

/** A team of an organization. A rename is an update in place, another organization a replacement. */
export const team = resource({
  name: "Team",
  summary: "A team of an organization.",
  example: { name: "crew", inputs: { organizationID: "${acme.id}", name: "Crew", description: "Runs the place." } },
  importedBy: { id: "<teamID>" },
  inputs,
  outputs,
  identity: {
    stays: ({ name }, keeper) =>
      `team ${quoted(name)} stays: ${keeper.itself ? "this resource goes on with it" : `${calledBy(keeper)} has it`}`,
  },

  check: ({ identities }, { inputs }) => {
    const generation = identities.generation(inputs.resourceUrn);
    return Promise.resolve({ inputs: { ...inputs, ...withoutUndefined({ generation }) }, problems: [] });
  },

  diff: async (context, change, old) => {
    await settleAttempts(context, old.resourceUrn);
    return change;
  },

  create: async (context, inputs) => {
    const { organizationID, adminID, resourceUrn: urn, generation } = inputs;
    // A forced replacement is another team: it must not find the one that it replaces.
    const parts = [organizationID, ...(generation === undefined ? [] : [`generation ${generation}`])];
    const wanted = { name: inputs.name, ...withoutUndefined({ description: inputs.description }) };
    const { id, found } = await createOnce({
      context,
      what: `team ${quoted(inputs.name)}`,
      choose: () => context.identities.chosen(urn, ...parts),
      adopt: inputs.adopt ?? false,
      attempts: attemptsOf(context, urn),
      find: (id, context) => find(context, id),
      matches: (found) => Object.keys(changedValues({ ...wanted, organizationID }, found)).length === 0,
      create: async (id) => {
        const teamInfo = { organizationID, ...withoutUndefined({ _id: id }), ...wanted };
        return (await context.client.insertteam({ teamInfo, ...withoutUndefined({ adminID }) }, context)).teamID;
      },
    });
    if (!found) context.members.made(id);
    return { id, outputs: found ? await sync(uncancellable(context), id, inputs, found) : inputs };
  },

  read: async (context, id, state) => {
    context.members.expect(id);
    await settleAttempts(context, state.resourceUrn);
    const found = await find(context, id);
    if (!found) return undefined;
    const organizationID = found.organizationID ?? state.organizationID;
    if (organizationID === undefined) {
      throw new ResourceError(`team ${id} can't be read: the platform does not say which organization it belongs to`);
    }
    return { id, outputs: { ...state, organizationID, name: found.name, ...observedDescription(found, state) } };
  },

  update: async (context, id, old, inputs) => {
    const outputs = await sync(context, id, inputs);
    if (inputs.adminID !== undefined && inputs.adminID !== old.adminID) {
      const { member } = await context.members.add(id, { userID: inputs.adminID });
      await context.members.setRole(id, member, "admin");
    }
    return outputs;
  },

  delete: async (context, id, state) => {
    await settleAttempts(context, state.resourceUrn);
    const members = await context.members.list(id);
    if (members === undefined) return;
    if (state.forceDestroy) {
      if (members.length > 0)
        context.report.warning(`forceDestroy: removing ${numbered(members.length, "member")} of ${quoted(state.name)}`);
      await dissolve(context, id);
      return;
    }
    try {
      await deleteEmptied(context, () => context.client.deleteteam({ teamID: id }, context));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "conflict")) throw error;
      const inTheWay = error.dependants.length > 0 ? error.dependants.map(({ name }) => name) : members.map(nameOf);
      const { resourceUrn: urn } = state;
      const isReplaced = urn !== undefined && context.identities.isDeclared(urn);
      throw new ResourceError(
        `team ${quoted(state.name)} was not deleted because it still has members: ${inTheWay.join(", ")}. ` +
          (isReplaced
            ? `It was replaced. Run up again, without --target-replace: its members follow, and then it goes.`
            : `Remove them first, or set forceDestroy: true and run up before destroy.`),
      );
    }
  },
});

const nameOf = (member: { email?: string | undefined; userID?: string | undefined }): string =>
  member.email ?? member.userID ?? "a member without a name";

type Found = NonNullable<AnswerOf<"readteam">["team"]>;

const find = async (context: Context, teamID: string): Promise<Found | undefined> =>
  (await orUndefinedIfNotFound(context.client.readteam({ teamID }, context)))?.team;

/** Sends only what differs from what is there. */
async function sync(context: Context, teamID: string, inputs: Inputs, there?: Found): Promise<Inputs> {
  const found = there ?? (await find(context, teamID));
  if (!found)
    throw new ResourceError(
      `team ${quoted(inputs.name)} is gone from the platform: run the same command with --refresh, which creates it again.`,
    );
  const change = changedValues({ name: inputs.name, ...withoutUndefined({ description: inputs.description }) }, found);
  if (Object.keys(change).length > 0) await context.client.updateteam({ teamID, teamInfo: change }, context);
  return inputs;
}

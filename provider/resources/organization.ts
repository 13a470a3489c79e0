import { z } from "zod";
import type { AnswerOf } from "../contract/endpoints.ts";
import { ApiError, orUndefinedIfNotFound } from "../contract/errors.ts";
import { id, withoutUndefined } from "../contract/values.ts";
import { quote } from "../messages/text.ts";
import { chosenID } from "./model/chosenIDs.ts";
import {
  findChangedValues,
  createOnce,
  deleteEmptied,
  dissolve,
  toManagedDescription,
  uncancellable,
} from "./model/creation.ts";
import { found, isFound } from "./model/made.ts";
import { adopt, common, ResourceError, type Context } from "./model/resource.ts";
import { proveGone, proveNew, proveSettings } from "./model/settings.ts";
import { checkName, forgetName, noteName, takenHint } from "./records/organizationRecords.ts";
import { resource, type State } from "./resource.ts";

const inputs = z.object({
  ...common,
  name: z.string().min(1).meta({ description: "Name, unique on the platform." }),
  description: z
    .string()
    .nullish()
    .meta({ description: "Purpose. Left alone when unset, cleared by null or an empty text." }),
  adminID: id.optional().meta({
    description: "User ID of the first administrator; the caller when unset. Acts when the organization is created.",
  }),
  forceDestroy: z.boolean().optional().meta({
    description: "Delete the teams that still stand in the way of a destroy, with their members.",
  }),
  adopt,
});

const outputs = z.object({ found });

type Kept = State<typeof inputs, typeof outputs>;

/** An organization. A rename is an update in place. */
export const organization = resource({
  name: "Organization",
  summary: "An organization on the platform.",
  example: { name: "acme", inputs: { name: "Acme", description: "Makes everything." } },
  importedBy: { id: "<organizationID>" },
  inputs,
  outputs,
  identity: {
    stays: ({ name }) => `organization ${quote(name)} stays: ${irreplaceable}`,
  },

  check: async (context, { inputs, unknown }, old) => {
    if (context.identities.replaced(inputs.resourceUrn)) {
      context.report.info(`is kept with its ID, and so is what it holds, whatever else is announced: ${irreplaceable}`);
    }
    // The interface has no call that changes an organization's administrator, and making a new organization for that
    // would delete the old one with its teams.
    const moved = !unknown.has("adminID") && old.adminID !== undefined && inputs.adminID !== old.adminID;
    const reason =
      "the administrator of an existing organization can't be changed: keep the value, and change it on the platform";
    const { resourceUrn: urn, name } = inputs;
    const taken =
      urn === undefined || name === undefined
        ? []
        : await checkName(context, { urn, name, isNew: old.name === undefined });
    return { inputs, problems: [...(moved ? [{ property: "adminID", reason }] : []), ...taken] };
  },

  diff: async (context, change, old, { inputs }) => {
    if (context.isPlan) return change;
    await noteName(context, { urn: inputs.resourceUrn, name: old.name });
    const owns = inputs.adopt === true && old.found === true;
    return owns ? { ...change, changed: [...change.changed, "adopt"] } : change;
  },

  create: async (context, inputs) => {
    const wanted = { name: inputs.name, ...withoutUndefined({ description: inputs.description }) };
    const replaced = context.identities.replaced(inputs.resourceUrn);
    const {
      id,
      found,
      isFound = replaced?.found === true,
    } = await createOnce({
      context,
      what: called(inputs),
      choose: () =>
        replaced ? (replaced.id ?? chosenID(inputs.resourceUrn)) : context.identities.chosen(inputs.resourceUrn),
      adopt: inputs.adopt ?? false,
      keeps: replaced !== undefined,
      urn: inputs.resourceUrn,
      thing,
      find: (id, context) => find(context, id),
      matches: (found) => Object.keys(findChangedValues(wanted, found)).length === 0,
      create: async (id) => {
        const organizationInfo = { ...withoutUndefined({ _id: id }), ...wanted };
        const request = { organizationInfo, ...withoutUndefined({ adminID: inputs.adminID }) };
        return (await context.client.insertorganization(request, context)).organizationID;
      },
    }).catch(tellTaken(inputs.name));
    await noteName(context, { urn: inputs.resourceUrn, name: inputs.name, id });
    const outputs = { ...inputs, ...(isFound && !inputs.adopt ? { found: true } : {}) };
    const after = uncancellable(context);
    try {
      if (found) await sync(after, id, outputs, found);
      else {
        const back = { context, what: called(inputs), id, outputs, find: () => find(after, id) };
        await proveNew("Organization", { ...back, wanted });
      }
      return { id, outputs };
    } finally {
      context.made.settled(inputs.resourceUrn, [thing(id)], outputs.found !== true);
    }
  },

  read: async (context, id, state) => {
    const found = await find(context, id);
    const before = { urn: state.resourceUrn, name: state.name, id };
    if (found?.name !== state.name) await forgetName(context, before);
    if (!found) return undefined;
    if (!state.found) context.made.saved(state.resourceUrn, [thing(id)]);
    await noteName(context, { ...before, name: found.name }, false);
    return { id, outputs: { ...state, name: found.name, ...toManagedDescription(found, state) } };
  },

  update: async (context, id, old, inputs) => {
    const outputs = { ...inputs, ...(old.found && !inputs.adopt ? { found: true } : {}) };
    await sync(context, id, outputs);
    if (old.name !== inputs.name) await forgetName(context, { urn: inputs.resourceUrn, name: old.name, id });
    await noteName(context, { urn: inputs.resourceUrn, name: inputs.name, id });
    return outputs;
  },

  delete: async (context, id, state) => {
    if (isFound(context, state, [thing(id)])) {
      await forgetName(context, { urn: state.resourceUrn, name: state.name, id });
      context.report.info(
        `${called(state)} was found there: 1 found, stays. To delete it with its declaration, set adopt: true and run up before.`,
      );
      return;
    }
    if (context.dialect.habits.cascade === "deletes") {
      throw new ResourceError(
        `organization ${quote(state.name)} was not deleted: this platform deletes an organization with all of its teams ` +
          `(cascade), also those that nobody declares here, and their members would lose them. Delete it on the platform, ` +
          `then run refresh; or set retainOnDelete.`,
      );
    }
    await forgetName(context, { urn: state.resourceUrn, name: state.name, id });
    const remove = () => orUndefinedIfNotFound(context.client.deleteorganization({ organizationID: id }, context));
    try {
      await (state.forceDestroy ? remove() : deleteEmptied(context, remove));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "conflict")) throw error;
      const names = error.dependants.map((team) => quote(team.name)).join(", ");
      if (!state.forceDestroy || error.dependants.length === 0) {
        throw new ResourceError(
          `organization ${quote(state.name)} was not deleted because ${names === "" ? `the platform says: ${error.platformMessage}` : `it still has teams: ${names}`}. ` +
            `Delete them first, or set forceDestroy: true and run up before destroy.`,
        );
      }
      context.report.warning(`forceDestroy: deleting the teams ${names} and their members`);
      for (const team of error.dependants) {
        await dissolve(context, team.id);
      }
      await remove();
    }
    const deleted = { kind: "organization", what: called(state), id, find: (one: string) => find(context, one) };
    await proveGone(context, deleted);
  },
});

/** An organization in records of what the stack made. */
const thing = (id: string): string => `Organization ${id}`;

const called = ({ name }: { name: string }): string => `organization ${quote(name)}`;

const irreplaceable = "it can't be replaced, since a second one can't have its name";
/** Advice about a taken name: it may belong to the same organization, under its former key. */
const tellTaken =
  (name: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError && error.code === "conflict")) throw error;
    throw new ResourceError(
      `organization ${quote(name)} was not created because the platform says: ${error.platformMessage.replace(/\.$/, "")}. ${takenHint}`,
    );
  };

type Found = NonNullable<AnswerOf<"readorganization">["organization"]>;

const find = async (context: Context, organizationID: string): Promise<Found | undefined> =>
  (await orUndefinedIfNotFound(context.client.readorganization({ organizationID }, context)))?.organization;

/** Sends only what differs from what is there, and reads it back. */
async function sync(context: Context, organizationID: string, outputs: Kept, there?: Found): Promise<void> {
  const look = () => find(context, organizationID);
  const found = there ?? (await look());
  if (!found)
    throw new ResourceError(
      `${called(outputs)} is gone from the platform: run the same command with --refresh, which creates it again.`,
    );
  const wanted = { name: outputs.name, ...withoutUndefined({ description: outputs.description }) };
  const change = findChangedValues(wanted, found);
  if (Object.keys(change).length === 0) return;
  await context.client.updateorganization({ organizationID, organizationInfo: change }, context);
  await proveSettings({ context, what: called(outputs), id: organizationID, wanted, outputs, find: look });
}

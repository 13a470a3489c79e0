import { z } from "zod";
import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { id, withoutUndefined } from "../../platform/contract/values.ts";
import { isConflict, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { chosenID, describeNamed, readName } from "./model/identities.ts";
import {
  createOnce,
  findChangedValues,
  proveGone,
  proveNew,
  proveSettings,
  toManagedDescription,
  uncancellable,
} from "./model/lifecycle.ts";
import {
  adoptSame,
  common,
  type Context,
  type InputProblem,
  type OfflineContext,
  type OrganizationName,
  ResourceError,
} from "./model/resource.ts";
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
  adopt: adoptSame,
});

const outputs = z.object({
  existed: z.boolean().optional().meta({
    description: "True where it was there before this stack: then it may have teams of others.",
    internal: true,
  }),
});

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

  check: (context, { inputs, unknown }, old) => {
    if (context.identities.replaced(inputs.resourceUrn)) {
      context.report.info(`is kept with its ID, and so is what it holds, whatever else is announced: ${irreplaceable}`);
    }
    // The interface has no call that changes an organization's administrator, and making a new organization for that
    // would delete the old one with its teams.
    const moved = !unknown.has("adminID") && old.adminID !== undefined && inputs.adminID !== old.adminID;
    const reason =
      "the administrator of an existing organization can't be changed: keep the value, and change it on the platform";
    const taken = nameTaken(context, inputs, old.name);
    return Promise.resolve({ inputs, problems: [...(moved ? [{ property: "adminID", reason }] : []), ...taken] });
  },

  create: async (context, inputs) => {
    const wanted = { name: inputs.name, ...withoutUndefined({ description: inputs.description }) };
    const replaced = context.identities.replaced(inputs.resourceUrn);
    const create = () =>
      createOnce({
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
      });
    const { id, found, isAdopted } = await takingName(context, inputs, create).catch(tellTaken(inputs.name));
    const after = uncancellable(context);
    const outputs = { ...inputs, ...withoutUndefined({ existed: isAdopted }) };
    if (found) await sync(after, id, outputs, found);
    else {
      const back = { context, what: called(inputs), id, outputs, find: () => find(after, id) };
      await proveNew("Organization", { ...back, wanted });
    }
    return { id, outputs };
  },

  read: async (context, id, state) => {
    context.journal.settle(state.resourceUrn, thing(id));
    const found = await find(context, id);
    const existed = state.name === undefined ? { existed: true } : {};
    return found && { id, outputs: { ...state, name: found.name, ...toManagedDescription(found, state), ...existed } };
  },

  update: async (context, id, { existed }, inputs) => {
    const outputs = { ...inputs, ...withoutUndefined({ existed }) };
    await takingName(context, inputs, () => sync(context, id, outputs));
    return outputs;
  },

  delete: async (context, id, state) => {
    if (!state.forceDestroy) {
      refuseUnseen(context, id, state);
      context.report.info(unseen(state));
    }
    const remove = () => orUndefinedIfNotFound(context.client.deleteorganization({ organizationID: id }, context));
    try {
      await (state.forceDestroy ? remove() : deleteEmptied(context, remove));
    } catch (error) {
      if (!isConflict(error)) throw error;
      const names = error.dependants.map((team) => quote(team.name)).join(", ");
      if (!state.forceDestroy || error.dependants.length === 0) {
        throw new ResourceError(
          `${called(state)} was not deleted because ${names === "" ? `the platform says: ${error.platformMessage}` : `it still has teams: ${names}`}. ` +
            `Delete them first, or set forceDestroy: true and run up before destroy.`,
        );
      }
      context.report.warning(`forceDestroy: deleting the teams ${names} and their members`);
      for (const team of error.dependants) await dissolve(context, team.id);
      await remove();
    }
    const deleted = { kind: "organization", what: called(state), id, find: (one: string) => find(context, one) };
    await proveGone(context, deleted);
  },
});

/** That nobody can list the teams of an organization, which may go with it. */
const unseen = (state: { name: string }): string =>
  `${called(state)}: nobody can list its teams; where the platform deletes them with it, those of others go too`;

/** Throws where teams of others may be in the organization and would go with it. */
function refuseUnseen({ dialect }: Context, id: string, state: Kept): void {
  const force = "set forceDestroy: true and run up before destroy, or set retainOnDelete";
  if (dialect.habits.cascade === "deletes") {
    throw new ResourceError(
      `${called(state)} was not deleted: this platform deletes an organization with all of its teams (cascade), also those ` +
        `that nobody declares here, and their members would lose them. Delete it on the platform, then run refresh; or ${force}.`,
    );
  }
  // A state of version 0.1.0 does not say it.
  const existed = state.existed ?? (state.adopt === true || id !== chosenID(state.resourceUrn));
  if (existed) {
    throw new ResourceError(
      `${called(state)} was not deleted: it was there before this stack, the platform lists no organization's teams, and may ` +
        `delete those of others with it. Look at its teams on the platform; then ${force}.`,
    );
  }
}

/** Deletes a team with all of its members. */
async function dissolve(context: Context, teamID: string): Promise<void> {
  for (const member of (await context.members.list(teamID)) ?? []) await context.members.remove(teamID, member);
  await orUndefinedIfNotFound(context.client.deleteteam({ teamID }, context));
}

/** Milliseconds before a refused deletion is tried again, twice as many each time, and how often nothing may have happened. */
const patience = { milliseconds: 200, most: 3 };

/**
 * Deletes what holds nothing any more. Engines delete side by side what does not depend on each other, such as members
 * that a program makes inside of `apply`: so it is tried again while what stands in the way becomes less.
 */
async function deleteEmptied({ sleep }: Context, remove: () => Promise<unknown>): Promise<void> {
  let fewest = Infinity;
  for (let pauses = 0; ; pauses++) {
    try {
      await orUndefinedIfNotFound(remove());
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const count = error.dependants.length;
      if (count < fewest) [fewest, pauses] = [count, 0];
      if (pauses === patience.most) throw error;
    }
    await sleep(patience.milliseconds * 2 ** pauses);
  }
}

/** An organization in the journal. */
const thing = (id: string): string => `Organization ${id}`;

const called = ({ name }: { name: string }): string => `organization ${quote(name)}`;

/** Why a name is refused that another organization of the run has: names are unique on the platform. */
function nameTaken(
  { organizationNames }: OfflineContext,
  { resourceUrn: urn, name }: { resourceUrn?: string | undefined; name?: string | undefined },
  old: string | undefined,
): InputProblem[] {
  if (urn === undefined || name === undefined) return [];
  organizationNames.set(urn, { name, former: old === name ? undefined : old });
  const other = [...organizationNames].find(([one, its]) => one !== urn && its.name === name);
  if (other) {
    const reason = `is that of ${describeNamed(readName(other[0]))}, too, and names are unique on the platform: choose another`;
    return [{ property: "name", reason }];
  }
  const circle: string[] = [];
  for (let at = giverOf(organizationNames, name, urn); at; at = giverOf(organizationNames, at[1].name, at[0])) {
    circle.push(describeNamed(readName(at[0])));
    if (at[0] !== urn) continue;
    const reason =
      `goes round in a circle (${circle.join(", ")}), and names are unique on the platform: give one of them a third ` +
      `name and run up, then the name that it is to have`;
    return [{ property: "name", reason }];
  }
  return [];
}

type Names = OfflineContext["organizationNames"];

/** The organization of this run that has a name on the platform and gives it up. */
const giverOf = (names: Names, name: string, except: string): [string, OrganizationName] | undefined =>
  [...names].find(([urn, { former }]) => urn !== except && former === name);

/** Milliseconds before a name that another organization gives up is asked for again, twice as many each time, and how often. */
const pause = { milliseconds: 200, most: 5 };

/** Gives an organization its name, once the organization of this run that has it has given it up. */
async function takingName<Answer>(
  { organizationNames: names, report, sleep }: Context,
  { resourceUrn: urn = "", name }: { resourceUrn?: string | undefined; name: string },
  give: () => Promise<Answer>,
): Promise<Answer> {
  let wasFree = false;
  for (let pauses = 0; ; pauses++) {
    try {
      const answer = await give();
      names.set(urn, { name, former: names.get(urn)?.former, isGiven: true });
      return answer;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // An engine may be about to register the other one.
      await sleep(pause.milliseconds * 2 ** pauses);
      const giver = giverOf(names, name, urn);
      if (!giver || wasFree) throw error;
      wasFree = giver[1].isGiven ?? false;
      const who = describeNamed(readName(giver[0]));
      if (pauses === pause.most)
        throw new ResourceError(
          `organization ${quote(name)} has to wait for ${who}, which has this name and gives it up in the same run: run up again.`,
        );
      report.status(`waits for ${who} to give up the name ${quote(name)}`);
    }
  }
}

/** Advice when a name is taken, perhaps by an organization of the stack itself, under its former name. */
const takenHint =
  "If it is an organization of this stack that has another key now, say the former one: formerly: [<key>] beside the " +
  "new key in the environment file, or the option aliases in a program. If it was made by hand, import it. If it leaves the program " +
  "in this run, it goes at the end of it: take it out first, with an up of its own. Otherwise choose another name.";

const irreplaceable = "it can't be replaced, since a second one can't have its name";
/** Advice about a taken name: it may belong to the same organization, under its former key. */
const tellTaken =
  (name: string) =>
  (error: unknown): never => {
    if (!isConflict(error)) throw error;
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

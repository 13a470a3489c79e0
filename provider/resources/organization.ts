import { z } from "zod";
import type { AnswerOf } from "../../platform/contract/endpoints.ts";
import { id, withoutUndefined } from "../../platform/contract/values.ts";
import { isConflict, orUndefinedIfNotFound, type ApiError } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { chosenID, describeNamed, readName } from "../pulumi/names.ts";
import { adoptSame, common, type InputProblem, ResourceError } from "./common.ts";
import { called, createNamed, readNamed, sync, verifyGone, whileFewer, type Kind, resource } from "./lifecycle.ts";
import type { Context, OfflineContext, State } from "./resource.ts";
import type { OrganizationName } from "./run.ts";

const inputs = z.object({
  ...common,
  name: z.string().min(1).meta({ description: "Name, unique on the platform." }),
  description: z
    .string()
    .nullish()
    .meta({ description: "Purpose. Not changed if unset, cleared by null or an empty text." }),
  adminID: id.optional().meta({
    description: "User ID of the first administrator; the caller when unset. Acts when the organization is created.",
  }),
  forceDestroy: z.boolean().optional().meta({
    description: "On a destroy, also delete teams that nobody declares, with their members.",
  }),
  adopt: adoptSame,
});

const outputs = z.object({
  existed: z.boolean().optional().meta({
    description: "True if it existed before this stack, and may have teams of others.",
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

  departs: ({ organizationNames }, { resourceUrn, name }) => {
    const [coming] = [...organizationNames].find(([urn, its]) => urn !== resourceUrn && its.name === name) ?? [];
    if (coming !== undefined) throw new ResourceError(nameLeaves(name, resourceUrn ?? "", coming));
    return Promise.resolve({});
  },

  foresee: async (context, { inputs: { resourceUrn, name } }) => {
    if (name !== undefined) await refuseLeaving(context, { resourceUrn, name });
  },

  create: async (context, inputs) => {
    await refuseLeaving(context, inputs);
    const { resourceUrn: urn, adminID } = inputs;
    const replaced = context.identities.replaced(urn);
    const create = () =>
      createNamed<Found, Kept>({
        ...{ kind, context, inputs },
        choose: () => (replaced ? (replaced.id ?? chosenID(urn)) : context.identities.chosen(urn)),
        keeps: replaced !== undefined,
        outputs: (existed) => ({ ...inputs, ...withoutUndefined({ existed }) }),
        insert: async (organizationInfo) => {
          const request = { organizationInfo, ...withoutUndefined({ adminID }) };
          return (await context.client.insertorganization(request, context)).organizationID;
        },
      });
    const { id, outputs } = await takingName(context, inputs, create).catch(tellTaken(inputs.name));
    return { id, outputs };
  },

  read: async (context, id, state) => {
    const read = await readNamed(kind, context, id, state);
    if (!read) return undefined;
    const { found: _, ...own } = read;
    return { id, outputs: { ...state, ...own, ...(state.name === undefined ? { existed: true } : {}) } };
  },

  update: async (context, id, { existed }, inputs) => {
    const outputs = { ...inputs, ...withoutUndefined({ existed }) };
    await takingName(context, inputs, () => sync(kind, context, id, outputs));
    return outputs;
  },

  delete: async (context, id, state) => {
    const [what, { client, report }] = [called(kind, state), context];
    if (!state.forceDestroy) {
      refuseUnseen(context, id, state);
      report.info(
        `${what}: the platform cannot list its teams; if it deletes them with the organization, those of others go too`,
      );
    }
    context.assertAlone();
    const remove = (): Promise<ApiError | undefined> =>
      orUndefinedIfNotFound(client.deleteorganization({ organizationID: id }, context)).then(
        () => undefined,
        (error: unknown) => {
          if (isConflict(error)) return error;
          throw error;
        },
      );
    const inTheWay = (refusal: ApiError | undefined): number => (refusal ? refusal.dependants.length + 1 : 0);
    const refusal = await (state.forceDestroy ? remove() : whileFewer(context, remove, inTheWay));
    if (refusal) {
      const names = refusal.dependants.map((team) => quote(team.name)).join(", ");
      if (!state.forceDestroy || names === "") {
        throw new ResourceError(
          `${what} was not deleted because ${names === "" ? `the platform says: ${refusal.platformMessage}` : `it still has teams: ${names}`}. ` +
            `Delete them first, or set forceDestroy: true and run up before destroy.`,
        );
      }
      report.warning(`forceDestroy: deleting the teams ${names} and their members`);
      for (const team of refusal.dependants) await dissolve(context, team.id);
      await orUndefinedIfNotFound(client.deleteorganization({ organizationID: id }, context));
    }
    await verifyGone(context, { what, id, find: (one) => find(context, one) });
  },
});

/** Throws where teams of others may be in the organization and would go with it. */
function refuseUnseen({ dialect }: Context, id: string, state: Kept): void {
  const force = "set forceDestroy: true and run up before destroy, or set retainOnDelete";
  if (dialect.habits.cascade === "deletes") {
    throw new ResourceError(
      `${called(kind, state)} was not deleted: this platform deletes an organization with all of its teams (cascade), also those ` +
        `that nobody declares here, and their members would lose them. Delete it on the platform, then run refresh; or ${force}.`,
    );
  }
  // A state of version 0.1.0 does not say it.
  const existed = state.existed ?? (state.adopt === true || id !== chosenID(state.resourceUrn));
  if (existed) {
    throw new ResourceError(
      `${called(kind, state)} was not deleted: it was there before this stack, the platform lists no organization's teams, and may ` +
        `delete those of others with it. Look at its teams on the platform; then ${force}.`,
    );
  }
}

/** Deletes a team with all of its members. */
async function dissolve(context: Context, teamID: string): Promise<void> {
  for (const member of (await context.members.list(teamID)) ?? []) await context.members.remove(teamID, member);
  await orUndefinedIfNotFound(context.client.deleteteam({ teamID }, context));
}

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

/** Throws, before anything is sent, where the name is that of an organization that leaves the program. */
async function refuseLeaving(
  { organizationNames: names, recall, sleep }: Pick<Context, "organizationNames" | "recall" | "sleep">,
  { resourceUrn: urn = "", name }: { resourceUrn?: string | undefined; name: string },
): Promise<void> {
  const leaving = () =>
    (giverOf(names, name, urn) ? undefined : recall?.("Organization"))?.find(
      (one) => one.outputs["name"] === name && one.urn !== urn && !names.has(one.urn),
    );
  if (!leaving()) return;
  await sleep(pause.milliseconds); // an engine may be about to register it
  const found = leaving();
  if (found) throw new ResourceError(nameLeaves(name, found.urn, urn));
}

/** Why an organization can't have the name of one that the program does not declare any more. */
function nameLeaves(name: string, leaving: string, coming: string): string {
  const [was, is] = [readName(leaving), readName(coming)].map(({ inFile, name }) =>
    quote(inFile === undefined ? name : name.slice(name.indexOf("/") + 1)),
  );
  const isSingle = readName(leaving).inFile === undefined && readName(coming).inFile !== undefined;
  const line = isSingle
    ? `If it became organization ${is} of the environment file, say so there: formerly: ${leaving}`
    : `If its key ${was} became ${is}, say so under ${is}: formerly: [${was}] in the environment file, aliases: [{ name: ${was} }] in a program`;
  return (
    `the name ${quote(name)} is that of ${describeNamed(readName(leaving))}, which leaves the program and goes at the end of a run, ` +
    `and names are unique on the platform: nothing was sent. ${line}. Otherwise take it out first, with an up of its own.`
  );
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

const kind: Kind<Found> = {
  name: "Organization",
  settings: ["description"],
  find,
  update: (context, organizationID, organizationInfo) =>
    context.client.updateorganization({ organizationID, organizationInfo }, context),
};

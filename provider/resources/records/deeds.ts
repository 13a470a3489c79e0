import { describeNamed, readName } from "../model/identities.ts";
import type { OfflineContext, InputProblem } from "../model/resource.ts";
import { leniently, ownersIn, remedy, type RecordPlace } from "./owners.ts";

/** An act that can neither be undone nor read back: a message that was sent, an app that was paid for. */
export interface Deed<Inputs> {
  kind: string;
  /** The input that a refusal names. */
  property: string;
  /** All that makes one another than the next; undefined while a part of it is not known. */
  contentOf: (inputs: Partial<Inputs>) => string | undefined;
  words: {
    /** As in "was sent". */
    done: string;
    /** Why it is not done a second time by itself. */
    why: string;
    /** Effect of `again: true`. */
    again: string;
    /** The changes that ask for it as well. */
    otherwise: string;
  };
}

interface Declared {
  resourceUrn?: string | undefined;
  again?: boolean | undefined;
}

const owners = ownersIn("deeds", { name: "deed", content: "deed of" });

/**
 * The reason for refusing a creation that would repeat a deed: by an order to replace it, or under another name.
 * `again` allows it. The deed is known from a file beside the state, or from a state that was read in this run.
 * @param isUnfinished true when an earlier run did it and may not have saved that: this one goes on with it
 */
export async function explainDeed<Inputs extends Declared>(
  context: OfflineContext,
  deed: Deed<Inputs>,
  inputs: Partial<Inputs>,
  isUnfinished: boolean,
): Promise<InputProblem[]> {
  const { resourceUrn: urn, again = false } = inputs;
  const content = deed.contentOf(inputs);
  if (urn === undefined || content === undefined) return [];
  const { property, words } = deed;
  const reason = await reasonAgainst(context, deed, { urn, content, isUnfinished });
  if (reason === undefined) return [];
  if (!again) return [{ property, reason }];
  context.report.forecast(`again: true: ${words.again}`);
  return [];
}

async function reasonAgainst<Inputs extends Declared>(
  context: OfflineContext,
  { kind, contentOf, words }: Deed<Inputs>,
  { urn, content, isUnfinished }: { urn: string; content: string; isUnfinished: boolean },
): Promise<string | undefined> {
  const { identities } = context;
  const isSame = (inputs: object): boolean => contentOf(inputs) === content; // of the same kind
  const replaced = identities.replaced(urn);
  const path = await owners.pathOf(context, urn, `${kind} ${content}`);
  const noted = path === undefined ? undefined : (await owners.at(path))?.urn;
  // Some engines do not tell that they replace what a state calls tainted.
  const isBefore = replaced ? isSame(replaced.inputs) : noted === urn && !isUnfinished;
  if (isBefore) {
    return (
      `is the same as before, and this run is to replace it (--replace, a tainted state), or the state or the platform lost it: ` +
      `${words.why}. To ask for that, set again: true, or ${words.otherwise}. To keep it, run without the replacement, ` +
      `or untaint it.`
    );
  }
  if (replaced) return undefined;
  const isFormer = (other: string | undefined): other is string =>
    other !== undefined && other !== urn && !identities.isDeclared(other);
  const left = identities.left(kind).find((one) => isFormer(one.urn) && isSame(one.inputs));
  const former = isFormer(noted) ? noted : left?.urn;
  if (former === undefined) return undefined;
  return (
    `was ${words.done} as ${describeNamed(readName(former))}, which the program does not declare so far: ${words.why}. ` +
    `${remedy(former, urn)} To ask for it once more, set again: true.`
  );
}

/** The inputs with the number of the replacements that led to them. */
export const countReplacements = <Inputs extends Declared>(
  { identities }: Pick<OfflineContext, "identities">,
  inputs: Partial<Inputs>,
): Partial<Inputs> => {
  const generation = identities.generation(inputs.resourceUrn);
  return generation === undefined ? inputs : { ...inputs, generation };
};

/** Notes whose a deed is: it was done, or a state has it. */
export const noteDeed = <Inputs extends Declared>(
  context: RecordPlace,
  { kind, contentOf }: Deed<Inputs>,
  urn: string | undefined,
  inputs: Partial<Inputs>,
): Promise<void> =>
  leniently(async () => {
    const content = contentOf(inputs);
    if (urn === undefined || content === undefined) return;
    const path = await owners.pathOf(context, urn, `${kind} ${content}`, true);
    if (path !== undefined && (await owners.at(path))?.urn !== urn) await owners.write(path, { urn });
  });

/** Notes what a resource has done, in place of what it had done before. */
export async function noteNext<Inputs extends Declared>(
  context: RecordPlace & Pick<OfflineContext, "identities">,
  deed: Deed<Inputs>,
  inputs: Inputs,
  old: Partial<Inputs> | undefined,
): Promise<void> {
  await noteDeed(context, deed, inputs.resourceUrn, inputs);
  if (old && deed.contentOf(old) !== deed.contentOf(inputs)) await forget(context, deed, inputs.resourceUrn, old);
}

/** Forgets the deed of what leaves the state; what another resource has done alike stays known. */
export async function forgetDeed<Inputs extends Declared>(
  context: RecordPlace & Pick<OfflineContext, "identities">,
  deed: Deed<Inputs>,
  state: Partial<Inputs>,
): Promise<void> {
  const { resourceUrn: urn } = state;
  if (urn !== undefined && !context.identities.isDeclared(urn)) await forget(context, deed, urn, state);
}

const forget = <Inputs extends Declared>(
  context: RecordPlace,
  { kind, contentOf }: Deed<Inputs>,
  urn: string | undefined,
  inputs: Partial<Inputs>,
): Promise<void> =>
  leniently(async () => {
    const content = contentOf(inputs);
    if (urn === undefined || content === undefined) return;
    const path = await owners.pathOf(context, urn, `${kind} ${content}`);
    if (path !== undefined && (await owners.at(path))?.urn === urn) await owners.remove(path);
  });

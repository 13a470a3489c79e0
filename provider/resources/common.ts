import { z } from "zod";

// What resources share: facts about inputs, inputs that several have, errors, limits on removals.

/** Inputs of every resource: its URN, since engines do not pass it to a dynamic provider. */
export const common = {
  resourceUrn: z.string().optional().meta({
    description: "The resource's own URN. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
    internal: true,
  }),
};

declare module "zod" {
  interface GlobalMeta {
    /** A change of this input makes a new thing. */
    replaces?: boolean;
    /** Never shown, logged or stored in clear. */
    secret?: boolean;
    /** A change of this input alone is no change. */
    ignoredInDiff?: boolean;
    /** An input that the outputs do not hold, since the state would carry it for nothing. */
    writeOnly?: boolean;
    /** An input that check, the plugin or the dynamic provider sets, never a program. */
    computed?: boolean;
    /** A computed input that only check needs: no state has it. */
    passing?: boolean;
    /** An input that marks whether other inputs hold a secret; the provider kind that sees them sets it. */
    marksSecret?: string | readonly string[];
    /** An input that names labels whose values are secrets in the items of these other inputs. */
    hidesIn?: readonly string[];
    /** A secret where this input is true. */
    secretIf?: string;
    /** For a resource's own use: neither a schema nor an SDK has it. */
    internal?: boolean;
    /** An output that no update in place changes. */
    stable?: boolean;
    /** A list whose items another input names, one by one: engines get it as a map, so that a diff shows each by name. */
    keyedBy?: string;
    /** Changes of this one are shown as changes of that input's parts. */
    diffedAs?: string;
    /** An output of no use to a reader, such as a digest. */
    opaque?: boolean;
    /** An input that is the ID of another resource, or a list of them, where an Environment declares it. */
    link?: boolean;
    /** An output that check may know: an engine gets it among the inputs, and a preview shows it. */
    foreseen?: boolean;
  }
}

/** Names of the facts: for engines alone, of no use to an editor or a reader. */
export const facts = [
  "replaces",
  "secret",
  "ignoredInDiff",
  "writeOnly",
  "computed",
  "passing",
  "marksSecret",
  "hidesIn",
  "secretIf",
  "internal",
  "stable",
  "keyedBy",
  "diffedAs",
  "opaque",
  "link",
  "foreseen",
] as const;

const meta = once((schema: z.ZodType) => schema.meta() ?? {});

/**
 * The facts about an input or output. They are needed many times for each resource, and zod computes them at each call.
 */
export const factsOf = (schema: unknown): z.core.GlobalMeta => (schema === undefined ? {} : meta(schema as z.ZodType)); // the values of a zod shape are schemas

/** How many forced replacements a thing is the result of: each of them makes a thing under another ID. Unset for none. */
export const generation = z.int().min(1).optional().meta({
  description: "How many forced replacements it is the result of.",
  ignoredInDiff: true,
  computed: true,
  internal: true,
});

/** The input by which a thing with the ID of its resource is taken over. */
export const adoptSame = z.boolean().optional().meta({
  description:
    "Take over what already has the ID of this resource, such as after a lost state. Import one that was created by hand.",
  ignoredInDiff: true,
});

/** The input by which something that already exists is taken over. */
export const adopt = z.boolean().optional().meta({
  description: "Take over what already exists on the platform, instead of refusing.",
  ignoredInDiff: true,
});

/** Finds something about an object once: what depends on a resource's definition alone is asked for with each call. */
export function once<About extends object, Found>(find: (about: About) => Found): (about: About) => Found {
  const known = new WeakMap<About, Found>();
  return (about) => {
    const found = known.get(about) ?? find(about);
    known.set(about, found);
    return found;
  };
}

/** A problem with one input, found before anything is sent. */
export interface InputProblem {
  property: string;
  reason: string;
}

/**
 * Thrown when a thing exists but is not as wanted yet. It is saved with what is known of it, and the next run goes on
 * from there.
 */
export class PartialFailure extends Error {
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  constructor(message: string, id: string, outputs: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = "PartialFailure";
    this.id = id;
    this.outputs = outputs;
  }
}

/** A failure of the resource's own, in one sentence with its remedy. */
export class ResourceError extends Error {
  override readonly name = "ResourceError";
}

/** A failure that is due to one input. */
export class InputError extends ResourceError {
  readonly property: string;
  constructor(property: string, reason: string) {
    super(reason);
    this.property = property;
  }
}

/** Fraction of things that one run may remove by default. */
export const defaultMaxRemovals = 0.25;

/** Up to this count the fraction limit does not apply. */
const fewest = 10;

/**
 * Explains why this number of removals is refused; undefined when it is allowed.
 * @param what what they are, in the plural
 * @param owned how many there were before
 * @param from the number from which on the limit applies
 */
export const tooManyRemovals = (what: string, removals: number, owned: number, maxRemovals?: number, from?: number) =>
  tooMany(`${removals} of ${owned} ${what} would be removed`, removals, owned, maxRemovals, from);

/** Explains why a label must not be cleared in this number of our rows; undefined when it may. */
export const tooManyCleared = (label: string, rows: number, owned: number, maxRemovals?: number) =>
  tooMany(`${label} would be cleared in ${rows} of ${owned} rows`, rows, owned, maxRemovals);

function tooMany(what: string, count: number, owned: number, maxRemovals = defaultMaxRemovals, from = fewest) {
  if (owned < from || count <= owned * maxRemovals) return undefined;
  const remedy = `If that is meant, set maxRemovals to ${enough(count, owned)} for this run.`;
  return `${what}, more than maxRemovals allows (${percent(maxRemovals)}). ${remedy}`;
}

/** How many things one run may remove. */
export const removable = (owned: number, maxRemovals = defaultMaxRemovals): number =>
  owned < fewest ? owned : Math.floor(owned * maxRemovals);

/**
 * Explains why this number of our things can't be missing on the platform; undefined when it can. More likely the platform
 * answers wrongly, or it is another one.
 */
export function massDisappearance(
  what: string,
  missing: number,
  owned: number,
  maxRemovals = defaultMaxRemovals,
): string | undefined {
  if (owned < fewest || missing <= owned * maxRemovals) return undefined;
  return (
    `${missing} of ${owned} ${what} that were applied are not on the platform any more, more than maxRemovals allows ` +
    `(${percent(maxRemovals)}). Check that this is the right platform and that it is well; ` +
    `if they are really gone, set maxRemovals to ${enough(missing, owned)} for one up, without a refresh before it, ` +
    `which would use the value in the state. If the platform lost its data, run up --refresh once with ` +
    `MICROAPPS_LOST_DATA=true, which makes again all that is gone (see docs/guides/platform.md).`
  );
}

const percent = (fraction: number): string => `${Number((fraction * 100).toFixed(2))} %`;

/** The smallest fraction of two places that allows it. */
const enough = (part: number, whole: number): number => Math.min(1, Math.ceil((part / whole) * 100) / 100);

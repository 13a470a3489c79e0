import { z } from "zod";
import type { Client } from "../../../platform/client/index.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import type { Dialect } from "../../../platform/profile/profile.ts";
import type { MemberLists } from "../../people/members.ts";
import type { TableReads } from "../../pulumi/tableReads.ts";
import type { RowsAhead } from "../../seedRows/plan.ts";
import type { Identities } from "./identities.ts";
import type { Journal } from "./journal.ts";

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

/** Tools of a resource: the platform through `client`, and a way to report progress. */
/** Gets what a look finds of a seed's rows; secret values included. */
export interface RowWatch {
  changed: (key: string, values: RowData) => void;
  foreign: (values: RowData) => void;
  /** Keys of all rows that are gone. */
  missing: (keys: readonly string[]) => void;
}

/** The name of an organization in a run. */
export interface OrganizationName {
  /** As it is declared now. */
  name: string;
  /** The one that it has on the platform and gives up in this run. */
  former?: string | undefined;
  /** True once it has given that up. */
  isGiven?: boolean;
}

/** Tells what the state has of a kind of resource, whatever the program has declared so far. Its secrets are in clear. */
export type Recall = (
  kind: string,
) => readonly { urn: string; id?: string; outputs: Readonly<Record<string, unknown>> }[];

export interface Context {
  client: Client;
  members: MemberLists;
  tables: TableReads;
  report: Report;
  /** The program's folder: sources and intent files are found from here. */
  directory: string;
  /** The day of the run in UTC, `2026-12-31`: whose last day is before it counts as absent. */
  day: string;
  /** The account of the configuration: an address or a user ID. */
  account: { email?: string | undefined; userID?: string | undefined };
  /** The platform as states name it. */
  platform: string;
  /** The platform's behaviour according to the configuration. */
  dialect: Dialect;
  /** True when the configuration declares the platform's data lost: then no number of missing rows is too large. */
  lostData?: boolean | undefined;
  /** Server that links to apps have to lead to; undefined allows any. */
  appServer?: string | undefined;
  /** Which resource of the run has which ID. */
  identities: Identities;
  /** What runs began that can't be read back. */
  journal: Journal;
  /** Names of the organizations of this run, by URN. */
  organizationNames: Map<string, OrganizationName>;
  /** Undefined where the engine does not hand over its state. */
  recall?: Recall;
  /** Throws when this run has another provider of the platform, which may declare what is to be removed. */
  assertAlone: () => void;
  /** True when the engine reads before each diff: then the diff refuses forbidden changes, and the read does not. */
  readsFirst: boolean;
  /** Keeps all texts in a value out of the messages that follow: the platform may repeat what it was sent. */
  hide: (value: unknown) => void;
  /** The ID by which engines show a thing, since they hide none: this one, or a random one where it would tell a secret. */
  publicID: (id: string) => string;
  /** Gets each row of a seed that was changed by hand, whole and in the terms of the source. */
  watch?: RowWatch;
  /** Aborts when the run is cancelled or its engine has ended. */
  signal: AbortSignal;
  /** Milliseconds of waiting that end early with `signal`. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Reports progress on the resource's own line. */
export interface Report {
  /** A live line that the next one replaces. Of many at a time some are left out, but for one that lasts. */
  status: (text: string, lasts?: boolean) => void;
  info: (text: string) => void;
  /** Reports in a preview what an update will do. An update drops it, since it reports what it did. */
  forecast: (text: string) => void;
  warning: (text: string) => void;
  /** Takes what is known of a seed's rows before a run; only a plan asks for it. */
  rows?: (ahead: RowsAhead) => void;
}

/** Context of check and diff. It has no platform: both must work offline. */
export interface OfflineContext extends Pick<
  Context,
  | "report"
  | "directory"
  | "day"
  | "platform"
  | "account"
  | "identities"
  | "journal"
  | "organizationNames"
  | "recall"
  | "dialect"
  | "lostData"
> {
  /** Random bytes for this resource: where an engine gives them, a plan that was saved is carried out with the same ones. */
  seed: () => Uint8Array;
  /** True if nothing may be written either: no run follows. */
  isPlan?: boolean;
  /** False where the configuration has no key for app generation; undefined where nobody knows. */
  hasAPIKey?: boolean;
}

/** A problem with one input, found before anything is sent. */
export interface InputProblem {
  property: string;
  reason: string;
}

/** Inputs as a program gave them; what is `unknown` is known only once other resources exist. */
export interface Given<Inputs> {
  inputs: Partial<Inputs>;
  unknown: ReadonlySet<string>;
}

/** Inputs as they are checked and completed. */
export interface CheckedInputs<Inputs, Outputs> {
  inputs: Partial<Inputs>;
  /** Outputs that are known already. */
  outputs?: Partial<Outputs>;
  problems: InputProblem[];
  /** Names of computed inputs that only an up knows. */
  later?: readonly string[];
}

/** How one property, or a part of one, changes. */
export type ChangeKind = "add" | "delete" | "update";

/** The result of a diff. */
export interface Diff {
  /** Inputs, and outputs that come from edits by hand, that an update would change; nothing is to be done without any. */
  changed: string[];
  /** Those of them that make a new thing. */
  replaces: string[];
  /** The parts that change of what no state holds: property → its first parts, by name, and how many there are in all. */
  parts?: Readonly<Record<string, Parts>>;
}

/** The first parts of a property that change, and how many there are in all. */
interface Parts {
  first: readonly (readonly [name: string, kind: ChangeKind])[];
  total: number;
}

/** A thing on the platform. */
export interface Observed<Outputs> {
  id: string;
  outputs: Outputs;
  /** Inputs that the outputs do not hold, as they are found. */
  inputs?: Readonly<Record<string, unknown>>;
}

export { PartialFailure, ResourceError } from "./errors.ts";

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

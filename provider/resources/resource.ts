import type { z } from "zod";
import type { CallOptions } from "../../platform/client/http/call.ts";
import type { Client } from "../../platform/client/index.ts";
import type { RowData } from "../../platform/contract/values.ts";
import type { Dialect } from "../../platform/profile/profile.ts";
import type { MemberLists } from "../people/members.ts";
import type { TableReads } from "../pulumi/platform.ts";
import type { RowClaims } from "../seedRows/claims.ts";
import type { RowsAhead } from "../seedRows/plan.ts";
import type { InputProblem } from "./common.ts";
import type { Journal } from "./journal.ts";
import type { Findings, Identities, OrganizationName, TeamClaims } from "./run.ts";

/** Gets what a look finds of a seed's rows; secret values included. */
export interface RowWatch {
  changed: (key: string, values: RowData) => void;
  foreign: (values: RowData) => void;
  /** Keys of all rows that are gone. */
  missing: (keys: readonly string[]) => void;
}

/** Tells what the state has of a kind of resource, whatever the program has declared so far. Its secrets are in clear. */
export type Recall = (
  kind: string,
) => readonly { urn: string; id?: string; outputs: Readonly<Record<string, unknown>> }[];

/** What check and diff work with: the run, and no platform, since both must work offline. */
export interface OfflineContext {
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
  /** False where the configuration has no key for app generation; undefined where nobody knows. */
  hasAPIKey?: boolean;
  /** Which resource of the run has which ID. */
  identities: Identities;
  /** Memberships declared by the resources of this run. */
  claims: TeamClaims;
  /** Which seed of this run declares which rows. */
  rowClaims: RowClaims;
  /** What runs began that can't be read back. */
  journal: Journal;
  /** Names of the organizations of this run, by URN. */
  organizationNames: Map<string, OrganizationName>;
  /** Undefined where the engine does not hand over its state. */
  recall?: Recall;
  /** Random bytes for this resource: where an engine gives them, a plan that was saved is carried out with the same ones. */
  seed: () => Uint8Array;
  /** True if nothing may be written either: no run follows. */
  isPlan?: boolean;
}

/** What a resource works with on the platform. */
export interface Context extends Omit<OfflineContext, "seed">, Pick<CallOptions, "onCall" | "onWait"> {
  client: Client;
  members: MemberLists;
  tables: TableReads;
  /** True when recently read rows suffice: no plan depends on them. */
  fromCache?: boolean;
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

/**
 * One resource: its inputs and outputs as zod objects that carry the facts (`replaces`, `secret`, description) as
 * metadata, and its behaviour. Outputs always hold the inputs as they are applied beside what the platform adds.
 */
export interface Resource<Inputs extends z.ZodObject = z.ZodObject, Outputs extends z.ZodObject = z.ZodObject> {
  /** Name of the type, e.g. `Team`. */
  name: string;
  summary: string;
  /** For the documentation: inputs under a name. `${crew.id}` is of the example called crew. */
  example: { name: string; inputs: z.input<Inputs> };
  /** For the documentation: the form of the ID that an import takes, such as `<teamID>`; or what to do where none is enough. */
  importedBy: { id: string; otherwise?: string } | { otherwise: string };
  inputs: Inputs;
  /** Values that the platform adds to the inputs. */
  outputs: Outputs;
  /** True when the old one goes before the new one comes, because both would be the same thing on the platform. */
  deleteBeforeReplace?: boolean;
  /** For what the platform knows by ID, such that two resources may get to have one ID. */
  identity?: Identity<Inputs, Outputs>;
  /**
   * Checks and completes inputs beyond their schema; `outputs` are those that are known already. `old` holds
   * the inputs of the last run. Offline.
   */
  check?: (
    context: OfflineContext,
    news: Given<z.output<Inputs>>,
    old: Partial<z.output<Inputs>>,
  ) => Promise<CheckedInputs<z.output<Inputs>, z.output<Outputs>>>;
  /** Finds changes beyond a comparison of single inputs. Offline, and without side effects: it may be called again. */
  diff?: (
    context: OfflineContext,
    change: Diff,
    old: State<Inputs, Outputs>,
    news: Given<z.output<Inputs>>,
  ) => Promise<Comparison>;
  /** Plans its deletion, with the same refusals. Offline, and without side effects. */
  departs?: (context: OfflineContext, state: State<Inputs, Outputs>) => Promise<Findings>;
  /**
   * Throws, in a preview of an engine that asks for creates, what would refuse this one; answers the counts of a seed whose
   * rows it has seen. `look` leads to the platform, for reads alone; its answer is undefined where a preview looks at none.
   */
  foresee?: (
    context: OfflineContext & Pick<Context, "sleep">,
    news: Given<z.output<Inputs>>,
    look: () => Promise<Context | undefined>,
  ) => Promise<string | undefined>;
  create: (context: Context, inputs: z.output<Inputs>) => Promise<Observed<State<Inputs, Outputs>>>;
  /** Reads the resource; undefined when it does not exist. `state` is empty during an import. */
  read: (
    context: Context,
    id: string,
    state: Partial<State<Inputs, Outputs>>,
  ) => Promise<Observed<State<Inputs, Outputs>> | undefined>;
  update: (
    context: Context,
    id: string,
    old: State<Inputs, Outputs>,
    inputs: z.output<Inputs>,
  ) => Promise<State<Inputs, Outputs>>;
  delete: (context: Context, id: string, state: State<Inputs, Outputs>) => Promise<void>;
}

/** Behaviour of a thing whose deletion is due while another resource, or its own replacement, has its ID. */
interface Identity<Inputs extends z.ZodObject, Outputs extends z.ZodObject> {
  /** A sentence that it stays. */
  stays: (state: State<Inputs, Outputs>, owner: IdOwner) => string;
  /** Cleans up outside of the platform. */
  letGo?: (context: Context, state: State<Inputs, Outputs>) => Promise<void>;
}

/** The owner of an ID that is to be deleted; `itself` is what has come in its place. */
interface IdOwner {
  kind: string;
  name: string;
  itself: boolean;
}

export type State<Inputs extends z.ZodObject, Outputs extends z.ZodObject> = z.output<
  z.ZodObject<Omit<Inputs["shape"], keyof Outputs["shape"]> & Outputs["shape"]>
>;

/** The result of a diff, which changes nothing itself: whoever asks for it notes the findings. */
export interface Comparison extends Diff {
  findings?: Findings;
}

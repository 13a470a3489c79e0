import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { Client } from "../../client/client.ts";
import type { MemberLists } from "../../client/lists/memberLists.ts";
import type { TableReads } from "../../client/lists/tableReads.ts";
import type { TeamClaims } from "../members/teamClaims.ts";
import type { RowClaims } from "../rows/claims.ts";
import type { Identities } from "./identities.ts";
import type { Removals } from "./removals.ts";

declare module "zod" {
  interface GlobalMeta {
    /** A change of this input makes a new thing. */
    replaces?: boolean;
    /** Never shown, logged or stored in clear. */
    secret?: boolean;
    /** A change of this input alone changes nothing on the platform. */
    settles?: "silently";
    /** An input that the outputs do not hold, since the state would carry it for nothing. */
    inputOnly?: boolean;
    /** An input that check or a door sets, and never a program. */
    computed?: boolean;
    /** A computed input that only check needs: no state has it. */
    passing?: boolean;
    /** An input that says whether one of others is a secret: a door that sees it sets it. */
    secrecyOf?: string | readonly string[];
    /** A secret where this input is true. */
    secretIf?: string;
    /** Of use to a resource alone: neither a schema nor an SDK has it. */
    internal?: boolean;
    /** An output that no update in place changes. */
    stable?: boolean;
    /** A list whose items another input names, one by one: engines get it as a map, so that a diff shows each by name. */
    namedBy?: string;
    /** What a change of this one is shown as: changes of that input's parts. */
    shownAs?: string;
    /** An output that says nothing to a reader. */
    opaque?: boolean;
    /** An output that check may know: an engine gets it among the inputs, and a preview shows it. */
    foreseen?: boolean;
  }
}

/** Names of the facts: they are for doors and engines, and say nothing to an editor or a reader. */
export const facts = [
  "replaces",
  "secret",
  "settles",
  "inputOnly",
  "computed",
  "passing",
  "secrecyOf",
  "secretIf",
  "internal",
  "stable",
  "namedBy",
  "shownAs",
  "opaque",
  "foreseen",
] as const;

/** What a resource works with: the platform through `client`, and ways to tell people how it goes. */
export interface Context {
  client: Client;
  members: MemberLists;
  tables: TableReads;
  report: Report;
  /** The program's folder: sources and intent files are found from here. */
  directory: string;
  /** As whom the calls are made, as the configuration says it: an address or a user ID. */
  account: { email?: string | undefined; userID?: string | undefined };
  /** The platform as states name it. */
  platform: string;
  /** Where links to apps have to lead; anywhere when the configuration does not say. */
  appServer?: string | undefined;
  /** What other resources of the run say about teams. */
  claims: TeamClaims;
  /** What other resources of the run say about rows. */
  rowClaims: RowClaims;
  /** Which resource of the run has which ID. */
  identities: Identities;
  /** Whether the run is known to be no preview: what that says is about to be done is not said once more. */
  isUpdate: boolean;
  /** Reads come before each diff, which judges what they find by the inputs of this run: they must not refuse it. */
  readsFirst: boolean;
  /** Keeps all texts in a value out of the messages that follow: the platform may repeat what it was sent. */
  hide: (value: unknown) => void;
  /** The ID by which engines show a thing, since they hide none: this one, or a random one where it would tell a secret. */
  publicID: (id: string) => string;
  /** What an Environment file in this folder says about what leaves the platform. */
  removals: (file: string, directory: string) => Promise<Removals>;
  /** Aborted when the run is cancelled or its engine is gone. */
  signal: AbortSignal;
  /** Milliseconds of waiting that end early with `signal`. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Tells people how it goes, on the resource's own line. */
export interface Report {
  /** A live line that the next one replaces. */
  status: (text: string) => void;
  info: (text: string) => void;
  warning: (text: string) => void;
}

/** What check and diff have: no platform, since neither may need one. */
export interface OfflineContext extends Pick<
  Context,
  "report" | "directory" | "platform" | "account" | "claims" | "identities" | "rowClaims" | "removals" | "isUpdate"
> {
  /** Random bytes for this resource: where an engine gives them, a plan that was saved is carried out with the same ones. */
  seed: Uint8Array;
}

/** A problem with one input, found before anything is sent. */
export interface Problem {
  property: string;
  reason: string;
}

/** Inputs as a program gave them; what is `unknown` is known only once other resources exist. */
export interface Given<Inputs> {
  inputs: Partial<Inputs>;
  unknown: ReadonlySet<string>;
}

/** Inputs as they are checked and completed. */
export interface Checked<Inputs, Outputs> {
  inputs: Partial<Inputs>;
  /** Outputs that are known already. */
  outputs?: Partial<Outputs>;
  problems: Problem[];
  /** Names of computed inputs that only an up knows. */
  later?: readonly string[];
}

/** How one property, or a part of one, changes. */
export type Kind = "add" | "delete" | "update";

/** What a diff tells the engine. */
export interface Change {
  /** Inputs, and outputs that come from edits by hand, that an update would change; nothing is to be done without any. */
  changed: string[];
  /** Those of them that make a new thing. */
  replaces: string[];
  /** The parts that change of what no state holds: property → its first parts, by name, and how many there are in all. */
  parts?: Readonly<Record<string, Parts>>;
}

/** The first parts of a property that change, and how many there are in all. */
export interface Parts {
  first: readonly (readonly [name: string, kind: Kind])[];
  total: number;
}

/** What is on the platform. */
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
  inputs: Inputs;
  /** What the platform adds to the inputs. */
  outputs: Outputs;
  /** Whether the old one goes before the new one comes: where both would be the same thing on the platform. */
  deleteBeforeReplace?: boolean;
  /** For what the platform knows by ID, such that two resources may get to have one ID. */
  identity?: Identity<Inputs, Outputs>;
  /**
   * Checks and completes inputs beyond what their schema says; `outputs` are those that are known already. `old` holds
   * the inputs of the last run. Offline.
   */
  check?: (
    context: OfflineContext,
    given: Given<z.output<Inputs>>,
    old: Partial<z.output<Inputs>>,
  ) => Promise<Checked<z.output<Inputs>, z.output<Outputs>>>;
  /** What has changed, beyond comparing inputs one by one. Offline. */
  diff?: (
    context: OfflineContext,
    change: Change,
    old: State<Inputs, Outputs>,
    given: Given<z.output<Inputs>>,
  ) => Promise<Change>;
  create: (context: Context, inputs: z.output<Inputs>) => Promise<Observed<State<Inputs, Outputs>>>;
  /** What is there now; undefined when it is gone. `state` is empty when the thing is being imported. */
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

/** What becomes of a thing whose deletion is due while another resource, or its own replacement, has its ID. */
interface Identity<Inputs extends z.ZodObject, Outputs extends z.ZodObject> {
  /** That it stays, in a sentence for people. */
  stays: (state: State<Inputs, Outputs>, keeper: Keeper) => string;
  /** What there is to do apart from the platform. */
  letGo?: (context: Context, state: State<Inputs, Outputs>) => Promise<void>;
}

/** Who has the ID of what is to be deleted; `itself` is what has come in its place. */
export interface Keeper {
  kind: string;
  name: string;
  itself: boolean;
}

export type State<Inputs extends z.ZodObject, Outputs extends z.ZodObject> = z.output<
  z.ZodObject<Inputs["shape"] & Outputs["shape"]>
>;

/** Declares a resource. */
export const resource = <Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  declaration: Resource<Inputs, Outputs>,
): Resource<Inputs, Outputs> => declaration;

export { common } from "./common.ts";

/** How many forced replacements a thing is the result of: each of them makes a thing under another ID. Unset for none. */
export const generation = z.int().min(1).optional().meta({
  description: "How many forced replacements it is the result of.",
  settles: "silently",
  computed: true,
  internal: true,
});

/** The input by which something that already exists is taken over. */
export const adopt = z.boolean().optional().meta({
  description: "Take over what already exists on the platform, instead of refusing.",
  settles: "silently",
});

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

/** A failure of the resource's own, in one sentence that says what to do. */
export class ResourceError extends Error {
  override readonly name = "ResourceError";
}

const letters = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * The ID under which a resource creates its thing: derived from its URN and the inputs that force replacement, so that
 * a later run that remembers nothing still finds what an interrupted one made. Without a URN (an import by hand) the
 * platform chooses.
 */
export function chosenID(urn: string | undefined, ...parts: string[]): string | undefined {
  if (urn === undefined) return undefined;
  const digest = createHash("sha256")
    .update(JSON.stringify([urn, ...parts]))
    .digest();
  return lettersOf(digest);
}

/** An ID that tells nothing. */
export const randomID = (): string => lettersOf(randomBytes(24));

/** 24 letters of 55: 138 bits. */
const lettersOf = (bytes: Buffer): string =>
  Array.from(bytes.subarray(0, 24), (byte) => letters[byte % letters.length] ?? "").join("");

import type { z } from "zod";
import type { RowClaims } from "../seedRows/claims.ts";
import type { CheckedInputs, Context, Diff, Given, Observed, OfflineContext } from "./model/resource.ts";
import type { Comparison, Findings, TeamClaims } from "./run.ts";

/** Context of a resource that talks to the platform. */
export interface ResourceContext extends Context {
  /** Memberships declared by the resources of this run. */
  claims: TeamClaims;
  /** Which seed of this run declares which rows. */
  rowClaims: RowClaims;
}

/** Context of check and diff. */
export interface OfflineResourceContext extends OfflineContext, Pick<ResourceContext, "claims" | "rowClaims"> {}

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
    context: OfflineResourceContext,
    news: Given<z.output<Inputs>>,
    old: Partial<z.output<Inputs>>,
  ) => Promise<CheckedInputs<z.output<Inputs>, z.output<Outputs>>>;
  /** Finds changes beyond a comparison of single inputs. Offline, and without side effects: it may be called again. */
  diff?: (
    context: OfflineResourceContext,
    change: Diff,
    old: State<Inputs, Outputs>,
    news: Given<z.output<Inputs>>,
  ) => Promise<Comparison>;
  /** Plans its deletion, with the same refusals. Offline, and without side effects. */
  departs?: (context: OfflineResourceContext, state: State<Inputs, Outputs>) => Promise<Findings>;
  create: (context: ResourceContext, inputs: z.output<Inputs>) => Promise<Observed<State<Inputs, Outputs>>>;
  /** Reads the resource; undefined when it does not exist. `state` is empty during an import. */
  read: (
    context: ResourceContext,
    id: string,
    state: Partial<State<Inputs, Outputs>>,
  ) => Promise<Observed<State<Inputs, Outputs>> | undefined>;
  update: (
    context: ResourceContext,
    id: string,
    old: State<Inputs, Outputs>,
    inputs: z.output<Inputs>,
  ) => Promise<State<Inputs, Outputs>>;
  delete: (context: ResourceContext, id: string, state: State<Inputs, Outputs>) => Promise<void>;
}

/** Behaviour of a thing whose deletion is due while another resource, or its own replacement, has its ID. */
interface Identity<Inputs extends z.ZodObject, Outputs extends z.ZodObject> {
  /** A sentence that it stays. */
  stays: (state: State<Inputs, Outputs>, owner: IdOwner) => string;
  /** Cleans up outside of the platform. */
  letGo?: (context: ResourceContext, state: State<Inputs, Outputs>) => Promise<void>;
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

/** Declares a resource. */
export const resource = <Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  declaration: Resource<Inputs, Outputs>,
): Resource<Inputs, Outputs> => declaration;

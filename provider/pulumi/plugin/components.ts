import type { ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb.js";

/** The plugin that a component is constructed in. */
export interface Constructor {
  /** The engine's address. */
  engine: string;
  /** The reference by which the engine knows this provider; undefined where it does not tell. */
  provider: string | undefined;
}

/** Constructs a component: registers it, and what it consists of, with the monitor that the request names. */
export type Constructing = (request: ConstructRequest, own: Constructor) => Promise<ConstructResponse>;

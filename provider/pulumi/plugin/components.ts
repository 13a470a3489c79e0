import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type { ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import { once } from "node:events";

/** The plugin that a component is constructed in. */
export interface Constructor {
  /** The engine's address. */
  engine: string;
  /** The reference by which the engine knows this provider; undefined where it does not tell. */
  provider: string | undefined;
}

/** Constructs a component: registers it, and what it consists of, with the monitor that the request names. */
export type Constructing = (request: ConstructRequest, own: Constructor) => Promise<ConstructResponse>;

/** Loads what constructs components, for which a provider has no need otherwise. */
export type LoadComponents = () => Promise<Constructing>;

/**
 * Answers a construct once the engine cancels. It has reported why, and would report a construct that its monitor lets
 * wait as another failure.
 */
export async function answerCancelled(signal: AbortSignal): Promise<ConstructResponse> {
  if (!signal.aborted) await once(signal, "abort");
  return new providerProto.ConstructResponse();
}

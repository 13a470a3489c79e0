import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import type { Resource } from "../../resources/resource.ts";
import { resourceNamed } from "../../resources/resources.ts";
import { hideProperties, hiddenNames, unhidden } from "../hiddenNames.ts";
import { keepMemorySmallFor } from "../lifetime/memory.ts";
import type { Call } from "../operations.ts";
import { explainRefusedIgnores } from "../options.ts";
import { secretsOf, type Properties } from "../properties.ts";
import { secretCells } from "../secrets.ts";
import { decode, encode, type Decoded } from "./wire.ts";

/** Properties of a resource that an engine sent, under the names by which the resource knows them. */
interface Sent extends Decoded {
  /** True for options of an earlier version, which hid no properties. */
  isFormer: boolean;
}

/** A call about one resource, and what was sent with it. */
interface About {
  resource: Resource;
  /** Takes properties apart that an engine sends. */
  sent: (properties: Struct | undefined) => Sent;
  /** Puts the URN among the properties, where a resource finds it. */
  known: (sent: Decoded) => Properties;
  call: (...sent: readonly Decoded[]) => Call;
}

/** The resource that a request is about. */
export function about(request: { getUrn: () => string }): About {
  const urn = request.getUrn();
  const type = urn.split("::")[2]?.split("$").at(-1) ?? "";
  const resource = resourceNamed(type.split(":").at(-1) ?? "");
  if (!resource) throw new Error(`this version of pulumi-microapps has no resource type ${type}`);
  keepMemorySmallFor(resource);
  return {
    resource,
    sent: (properties) => seen(resource, decode(properties, resource)),
    known: ({ values }) => ({ ...values, resourceUrn: urn }),
    call: (...sent) => ({ resource, urn, secrets: sent.flatMap(({ texts }) => texts) }),
  };
}

/**
 * Properties of a resource as an engine gets them: secret is what was secret, and what always is. What an earlier version
 * left keeps its names, under which an engine compares it with what is read.
 */
export function toStruct(
  resource: Resource,
  properties: Properties,
  sent: Pick<Decoded, "secrets"> & { isFormer?: boolean },
): Struct {
  const { resourceUrn, ...rest } = properties;
  const secrets = [...sent.secrets, ...secretsOf(resource, properties)];
  const cells = secretCells(resource, rest);
  if (sent.isFormer) return encode(rest, new Set(secrets), cells);
  return encode(hideProperties(resource, rest), new Set(Object.keys(hideProperties(resource, named(secrets)))), cells);
}

const seen = (resource: Resource, { values, secrets, texts }: Decoded): Sent => ({
  isFormer: hiddenNames(resource).some((name) => name in values),
  values: unhidden(resource, values),
  secrets: new Set(Object.keys(unhidden(resource, named(secrets)))),
  texts,
});

const named = (names: Iterable<string>): Properties => Object.fromEntries([...names].map((name) => [name, true]));

/** Throws when an option can't be honoured. The engine hands over no others, nor these with a check or a create. */
export function assertAllowed(
  resource: Resource,
  request: pb.DiffRequest | pb.UpdateRequest,
  { values }: Decoded,
): void {
  const refusal = explainRefusedIgnores(resource, request.getIgnorechangesList(), values);
  if (refusal !== undefined) throw new Error(refusal);
}

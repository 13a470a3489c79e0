import aliasProto from "@pulumi/pulumi/proto/alias_pb.js";
import type * as pb from "@pulumi/pulumi/proto/alias_pb.js";
import type { Alias } from "../values/aliases.ts";

/** Reads an alias; an empty text where it has neither a URN nor parts. */
export function fromProtoAlias(alias: pb.Alias): Alias {
  const parts = alias.getSpec()?.toObject();
  if (!parts) return alias.getUrn();
  const { name, type, stack, project, parenturn: parent, noparent: noParent } = parts;
  return { name, type, stack, project, parent, noParent };
}

/** Writes an alias. */
export function toProtoAlias(alias: Alias): pb.Alias {
  const proto = new aliasProto.Alias();
  if (typeof alias === "string") return proto.setUrn(alias);
  const { name, type, stack, project } = alias;
  const spec = new aliasProto.Alias.Spec().setName(name).setType(type).setStack(stack).setProject(project);
  if (alias.noParent) spec.setNoparent(true);
  else if (alias.parent !== "") spec.setParenturn(alias.parent);
  return proto.setSpec(spec);
}

import type { ServiceError } from "@grpc/grpc-js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import { parsePath, type Path } from "../values/paths.ts";
import type { Checked, DetailedChange, Difference } from "./provider.ts";

/** Reads the failures of a check or a function. */
export const failuresOf = (response: pb.CheckResponse | pb.InvokeResponse): Checked["failures"] =>
  response.getFailuresList().map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() }));

/** Reads the detail of an error about a resource that exists, but is not ready. */
export function partialFailure(error: ServiceError): pb.ErrorResourceInitFailed | undefined {
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(encoded)) return undefined;
  const detail = statusProto.Status.deserializeBinary(encoded)
    .getDetailsList()
    .find((any) => any.getTypeName() === "pulumirpc.ErrorResourceInitFailed");
  return detail && providerProto.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
}

/** Reads the answer to a diff. */
export function differenceOf(response: pb.DiffResponse): Difference {
  const { DiffChanges } = providerProto.DiffResponse;
  const changes = response.getChanges();
  const detail = [...response.getDetaileddiffMap().entries()].map(([path, diff]) => ({
    path: pathOf(path),
    change: { ...kindOf(diff.getKind()), input: diff.getInputdiff() },
  }));
  return {
    changes: changes === DiffChanges.DIFF_SOME ? "some" : changes === DiffChanges.DIFF_NONE ? "none" : "unknown",
    replaces: response.getReplacesList(),
    changed: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    ...(detail.length > 0 ? { detail } : {}),
  };
}

/** Reads a path; one that cannot be parsed is the name of a property. */
function pathOf(path: string): Path {
  try {
    const parsed = parsePath(path);
    return parsed.length > 0 ? parsed : [path];
  } catch {
    return [path];
  }
}

function kindOf(kind: pb.PropertyDiff.Kind): Pick<DetailedChange, "kind" | "replaces"> {
  const { Kind } = providerProto.PropertyDiff;
  switch (kind) {
    case Kind.ADD:
      return { kind: "add", replaces: false };
    case Kind.ADD_REPLACE:
      return { kind: "add", replaces: true };
    case Kind.DELETE:
      return { kind: "delete", replaces: false };
    case Kind.DELETE_REPLACE:
      return { kind: "delete", replaces: true };
    case Kind.UPDATE_REPLACE:
      return { kind: "update", replaces: true };
    default:
      return { kind: "update", replaces: false };
  }
}

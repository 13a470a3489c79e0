import * as pulumi from "@pulumi/pulumi";
import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb.js";
import { maxLevels, readStruct } from "../../machine/structs.ts";
import { isObject } from "../../provider/contract/wire.ts";
import type { EnvironmentArgs } from "../environment.ts";

const { specialSigKey: signature, specialSecretSig, specialOutputValueSig, unknownValue } = pulumi.runtime;

// The SDK takes a map with the other names for an object of its own,
// or makes text of it.
const taken = { levels: maxLevels, isTaken: (name: string) => name !== "toString" && !name.startsWith("__pulumi") };

/** Reads the arguments of an Environment as an engine sends them; its class checks them. Throws a RunError for a secret. */
export function environmentArgs(request: ConstructRequest): EnvironmentArgs {
  const sent: Record<string, unknown> = readStruct(request.getInputs(), taken);
  return { ...sent, file: plain(sent["file"] ?? undefined) } as EnvironmentArgs;
}

/** The path in a value that may be an output. Its errors name the file, so it can't be a secret. */
function plain(value: unknown): unknown {
  if (value === unknownValue) throw new pulumi.RunError("file is not known yet: give a path that no resource decides");
  if (!isObject(value)) return value;
  const kind = value[signature];
  if (kind === specialSecretSig || value["secret"] === true)
    throw new pulumi.RunError("file is a secret, and every error names it: give a plain path");
  return kind === specialOutputValueSig ? plain("value" in value ? value["value"] : unknownValue) : value;
}

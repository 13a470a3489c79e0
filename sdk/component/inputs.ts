import * as pulumi from "@pulumi/pulumi";
import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb.js";
import { DependencyResource } from "@pulumi/pulumi/resource.js";
import { maxLevels, readStruct } from "../../machine/structs.ts";
import { Supplied } from "../../provider/environment/inline/supplied.ts";
import type { EnvironmentArgs } from "../environment.ts";

const {
  unknownValue,
  specialSigKey: signature,
  specialSecretSig,
  specialOutputValueSig,
  specialResourceSig,
} = pulumi.runtime;

// The SDK takes a map with the other names for an object of its own,
// or makes text of it.
const taken = { levels: maxLevels, isTaken: (name: string) => name !== "toString" && !name.startsWith("__pulumi") };

const names = ["file", "declaration"];

/** Reads the arguments of an Environment as an engine sends them. Throws a RunError when they are none. */
export function environmentArgs(request: ConstructRequest): EnvironmentArgs {
  const sent: Record<string, unknown> = readStruct(request.getInputs(), taken);
  const dependencies = request.getInputdependenciesMap();
  const [wrong] = Object.keys(sent).filter((name) => !names.includes(name));
  if (wrong !== undefined) throw refusal(`${wrong} is no input of an Environment: it has file or declaration`);
  const [file, declaration] = names.map((name) => {
    const urns = dependencies.get(name)?.getUrnsList() ?? [];
    // An engine that names an origin for each value means no more than that.
    return supplied(sent[name] ?? undefined, { isSecret: false, urns: holdsOutput(sent[name]) ? [] : urns });
  });
  if (file instanceof Supplied && file.isSecret)
    throw refusal("file is a secret, and every error names it: give a plain path");
  const path = file instanceof Supplied ? file.known?.value : file;
  // A file whose name is not known yet has no known declarations either.
  const declared = file instanceof Supplied && !file.known ? { rules: file } : declaration;
  return { file: path, declaration: declared } as EnvironmentArgs; // which is checked there
}

const refusal = (message: string): Error => new pulumi.RunError(message);

/** Facts that apply to everything inside of a value. */
interface Around {
  isSecret: boolean;
  /** Resources that it comes from. */
  urns: readonly string[];
}

/** A value of a request; each part of it that is a secret, or comes from a resource, as an output. */
function supplied(value: unknown, { isSecret, urns }: Around): unknown {
  if (value === unknownValue) return new Supplied(output({ isSecret, urns }), undefined, isSecret);
  if (typeof value === "object" && value !== null) {
    const object = value as Readonly<Record<string, unknown>>;
    switch (object[signature]) {
      case undefined:
        return Array.isArray(value)
          ? value.map((item) => supplied(item, { isSecret, urns }))
          : Object.fromEntries(
              Object.entries(object).map(([name, item]) => [name, supplied(item, { isSecret, urns })]),
            );
      case specialSecretSig:
        return supplied(object["value"], { isSecret: true, urns });
      case specialOutputValueSig: {
        const own = { isSecret: isSecret || object["secret"] === true, urns: [...urns, ...urnsIn(object)] };
        return supplied("value" in object ? object["value"] : unknownValue, own);
      }
      case specialResourceSig:
        return supplied(object["id"] === "" ? unknownValue : (object["id"] ?? object["urn"]), { isSecret, urns });
      default:
        throw refusal("files and archives are no values here: give the text itself, or the path of a source");
    }
  }
  if (value === undefined || (!isSecret && urns.length === 0)) return value;
  return new Supplied(output({ isSecret, urns }, { value }), { value }, isSecret);
}

const urnsIn = ({ dependencies }: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(dependencies) ? dependencies.map(String) : [];

const holdsOutput = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  ((value as Readonly<Record<string, unknown>>)[signature] === specialOutputValueSig ||
    Object.values(value).some(holdsOutput));

/** The SDK's constructor, of which its types show nothing. */
const Output = pulumi.Output as unknown as new (
  resources: readonly pulumi.Resource[],
  value: Promise<unknown>,
  isKnown: Promise<boolean>,
  isSecret: Promise<boolean>,
  allResources: Promise<readonly pulumi.Resource[]>,
) => pulumi.Output<unknown>;

function output({ isSecret, urns }: Around, known?: { value: unknown }): pulumi.Output<unknown> {
  const resources = urns.map((urn) => new DependencyResource(urn));
  const [isKnown, secrecy] = [Promise.resolve(known !== undefined), Promise.resolve(isSecret)];
  return new Output(resources, Promise.resolve(known?.value), isKnown, secrecy, Promise.resolve(resources));
}

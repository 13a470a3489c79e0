import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { readStruct } from "../../../machine/structs.ts";
import type { Resource } from "../../resources/resource.ts";
import { leavesOf } from "../../seedRows/source/source.ts";
import { type Properties, unknownValue } from "../properties.ts";
import { noCells, secretCells, secretSignature, signature, textsIn, withCells, without } from "../secrets.ts";

/** Signatures of objects that stand for something else. */
const kinds = {
  secret: secretSignature,
  reference: "5cf8f73096256a8f31e491e813e4eb8e",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

/** Levels of properties, those of marks for secrets and outputs included. */
const maxLevels = 300;

/** Properties as a resource works with them, and what was secret in them. */
export interface Decoded {
  /** Plain values, secrets in clear; what is not known yet is the word for it. */
  values: Properties;
  /** Names of the properties that hold a secret elsewhere than in cells whose labels are secret. */
  secrets: ReadonlySet<string>;
  /** The secret texts themselves, which no message may show. */
  texts: string[];
}

/** Takes a message's properties apart; with a resource, of which labels are secret in the items of some. */
export function decode(struct: Struct | undefined, resource?: Pick<Resource, "inputs">): Decoded {
  const sent: Properties = readStruct(struct, { levels: maxLevels });
  const [values, open]: [Properties, Properties] = [{}, {}];
  const secrets = new Set<string>();
  const texts: string[] = [];
  const withoutCell = (cell: unknown): void => void texts.push(...leavesOf(plain(cell, () => undefined)));
  const shown = resource ? withCells(secretCells(resource, sent), sent, withoutCell) : sent;
  for (const [name, value] of Object.entries(sent)) {
    open[name] = plain(shown[name], (secret) => {
      secrets.add(name);
      for (const text of textsIn(secret)) texts.push(text);
    });
    values[name] = shown[name] === value ? open[name] : plain(value, () => undefined);
  }
  const clear =
    texts.length === 0
      ? []
      : Object.entries(open).flatMap(([name, value]) => (secrets.has(name) ? [] : textsIn(value)));
  return { values, secrets, texts: without(texts, clear) };
}

/** Returns the value in clear; calls `secret` with each secret in it. */
function plain(value: unknown, secret: (value: unknown) => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => plain(item, secret));
  const object: Readonly<Record<string, unknown>> = { ...value };
  switch (object[signature]) {
    case undefined:
      return Object.fromEntries(Object.entries(object).map(([name, item]) => [name, plain(item, secret)]));
    case kinds.secret:
      return toStructValue(plain(object["value"], secret), secret);
    case kinds.output: {
      const known = "value" in object ? plain(object["value"], secret) : unknownValue;
      return object["secret"] === true ? toStructValue(known, secret) : known;
    }
    case kinds.reference:
      return object["id"] === "" ? unknownValue : (object["id"] ?? object["urn"]);
    default:
      throw new Error("files and archives are no values here: give the text itself, or the path of a source");
  }
}

function toStructValue(value: unknown, secret: (value: unknown) => void): unknown {
  secret(value);
  return value;
}

const secret = (value: unknown): object => ({ [signature]: kinds.secret, value });

/** Makes a message's properties; those with these names are secrets, and those in cells. */
export function encode(values: Properties, secrets: ReadonlySet<string>, cells = noCells): Struct {
  const marked = Object.entries(values).map(([name, value]) => {
    if (secrets.has(name) && value !== undefined) return [name, secret(value)] as const;
    return [name, value] as const;
  });
  // JSON as the wire has it: without undefined.
  const properties = withCells(cells, Object.fromEntries(marked), secret);
  return structProto.Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, never>);
}

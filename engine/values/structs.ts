import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { readStruct } from "../../machine/structs.ts";
import { type Accepted, fromPlain, plainProperties } from "./plain.ts";
import type { PropertyMap } from "./values.ts";

export function toStruct(properties: PropertyMap, accepted: Accepted): Struct {
  // The stubs type the argument as an object of plain JSON values, which `plain` returns by construction.
  return structProto.Struct.fromJavaScript(
    plainProperties(properties, accepted) as Parameters<typeof Struct.fromJavaScript>[0],
  );
}

export function fromStruct(struct: Struct | undefined): PropertyMap {
  if (struct === undefined) return {};
  return Object.fromEntries(Object.entries(readStruct(struct)).map(([name, value]) => [name, fromPlain(value, name)]));
}

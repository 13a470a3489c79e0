import grpc from "@grpc/grpc-js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";

const { Struct } = structProto;

/** Inputs or outputs of a resource. */
export type Properties = Record<string, unknown>;

/** Lets an engine listen at another port as well; returns the address. */
export const bound = (engine: grpc.Server): Promise<string> =>
  new Promise((resolve, reject) => {
    engine.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(`127.0.0.1:${port}`);
    });
  });

/** Ignores secret marks: for the other kind of provider its engine sets them. */
export const inClear = (value: unknown): unknown =>
  typeof value === "object" && value !== null && secretMark in value && "value" in value ? value.value : value;
const secretMark = "4dabf18193072939515e22adb298388d";

// JSON as the wire has it: without undefined.
export const struct = (properties: Properties) =>
  Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, never>);

export const javaScript = (found: InstanceType<typeof Struct> | undefined): Properties => found?.toJavaScript() ?? {};

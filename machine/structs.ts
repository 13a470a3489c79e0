import type { ServiceDefinition } from "@grpc/grpc-js";
import type { Struct, Value } from "google-protobuf/google/protobuf/struct_pb.js";

// The maps of the library lose this name, and whoever sends it declares something that nobody sees. In the bytes of a
// message it stands behind the tag and the length of a text.
const tag = "\n\t";
const lost = "__proto__";
/** As many bytes, which no map loses. */
const kept = "\u0001proto\u0001__";

/** Returns a service whose requests keep each name of their structs for `readStruct`. */
export function keepingNames<Service extends ServiceDefinition>(service: Service): Service {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): unknown => {
      try {
        return method.requestDeserialize(marked(bytes));
      } catch (error) {
        // The library reads a level with each call of itself.
        if ((error as Error).name !== "RangeError") throw error;
        return unreadable(new Error("a property has too many levels to be read; make it flatter"));
      }
    };
    return [name, { ...method, requestDeserialize }] as const;
  });
  return Object.fromEntries(methods) as unknown as Service;
}

function marked(bytes: Buffer): Buffer {
  let at = bytes.indexOf(tag + lost);
  if (at < 0) return bytes;
  const copy = Buffer.from(bytes);
  for (; at >= 0; at = copy.indexOf(tag + lost, at)) copy.write(kept, at + tag.length);
  return copy;
}

/** A request that fails with a reason when its handler looks into it: gRPC leaves out why one can't be made of its bytes. */
const unreadable = (reason: Error): unknown =>
  new Proxy(
    {},
    {
      get: () => {
        throw reason;
      },
    },
  );

/** Levels of a struct that a program declares: as deep as a file may be, where each level is marked. */
export const maxLevels = 200;

const describeDeep = (step: Step | undefined, levels: number): string =>
  `${pathOf(step)}: has more than ${levels} levels; make it flatter`;

/** A map or list of a struct, in another one. */
interface Step {
  name: string | number;
  above: Step | undefined;
  level: number;
}

/** Limits of a reader. */
interface Taken {
  levels: number;
  isTaken: (name: string) => boolean;
}

/** Reads a struct as plain values. Throws, with the path, for a name that no map can have, and for what is not taken. */
export function readStruct(struct: Struct | undefined, taken: Partial<Taken> = {}): Record<string, unknown> {
  const most = { levels: Infinity, isTaken: () => true, ...taken };
  return struct === undefined ? {} : fieldsOf(struct, undefined, most);
}

function fieldsOf(struct: Struct, above: Step | undefined, most: Taken): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  struct.getFieldsMap().forEach((value, name) => {
    if (name === kept || !most.isTaken(name)) {
      throw new Error(`${pathOf(above, name === kept ? lost : name)}: no property can have this name; choose another`);
    }
    fields.push([name, plainOf(value, name, above, most)]);
  });
  return Object.fromEntries(fields);
}

function plainOf(value: Value, name: string | number, above: Step | undefined, most: Taken): unknown {
  const isMap = value.hasStructValue();
  if (!isMap && !value.hasListValue()) {
    const plain = value.toJavaScript() as unknown;
    if (typeof plain === "number" && !Number.isFinite(plain)) {
      throw new Error(`${pathOf({ name, above, level: 0 })}: ${plain} is not a number that platforms take; correct it`);
    }
    return typeof plain === "string" && plain.includes(kept) ? plain.replaceAll(tag + kept, tag + lost) : plain;
  }
  const level = (above?.level ?? 0) + 1;
  if (level > most.levels) throw new Error(describeDeep(above, most.levels));
  const step = { name, above, level };
  if (isMap) return fieldsOf(value.getStructValue() as Struct, step, most); // it has one
  return (value.getListValue()?.getValuesList() ?? []).map((item, at) => plainOf(item, at, step, most));
}

/** Names down to a place, as people write them; of a deep one the first. */
function pathOf(step: Step | undefined, name?: string): string {
  const names: (string | number)[] = name === undefined ? [] : [name];
  for (let at = step; at; at = at.above) names.unshift(at.name);
  const parts = names
    .slice(0, 12)
    .map((one, at) => (typeof one === "number" ? `[${one}]` : at > 0 ? `.${one.slice(0, 100)}` : one.slice(0, 100)));
  return parts.join("") + (names.length > 12 ? "…" : "");
}

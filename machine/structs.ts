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
        const deep = (error as Error).name === "RangeError" ? findDeep(bytes) : undefined;
        if (!deep) throw error;
        return unreadable(new Error(describeDeep(deep, maxLevels)));
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

/** A part of a message that was not looked at yet. */
interface Part {
  kind: "message" | "map" | "entry" | "list" | "value";
  bytes: Buffer;
  step: Step | undefined;
}

/** Finds the first map or list of a message's structs below too many others, without a call for each level. */
function findDeep(message: Buffer): Step | undefined {
  const parts: Part[] = [{ kind: "message", bytes: message, step: undefined }];
  for (let part = parts.pop(); part; part = parts.pop()) {
    if (part.step && part.step.level > maxLevels) return part.step.above;
    parts.push(...partsIn(part));
  }
  return undefined;
}

/** Parts by google.protobuf.Struct: a map's entries (1) have a name (1) and a value (2), which is a map (5) or a list (6) of values (1). */
function partsIn({ kind, bytes, step }: Part): Part[] {
  const fields = [...fieldsIn(bytes)];
  const level = (step?.level ?? 0) + 1;
  if (kind === "message") return fields.map((field) => ({ kind: "map", bytes: field.bytes, step }));
  if (kind === "map") return fields.map((field) => ({ kind: "entry", bytes: field.bytes, step }));
  if (kind === "list")
    return fields.map((field, at) => ({ kind: "value", bytes: field.bytes, step: { name: at, above: step, level } }));
  if (kind === "entry") {
    const name = fields.find((field) => field.number === 1)?.bytes.toString() ?? "";
    const value = fields.find((field) => field.number === 2);
    return value ? [{ kind: "value", bytes: value.bytes, step: { name, above: step, level } }] : [];
  }
  return fields.flatMap((field): Part[] =>
    field.number === 5 || field.number === 6
      ? [{ kind: field.number === 5 ? "map" : "list", bytes: field.bytes, step }]
      : [],
  );
}

/** Fields of a message that have a length, up to the first bytes that are none. */
function* fieldsIn(bytes: Buffer): Generator<{ number: number; bytes: Buffer }> {
  let at = 0;
  const readNumber = (): number => {
    let value = 0;
    for (let shift = 1; at < bytes.length; shift *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
    return NaN;
  };
  while (at < bytes.length) {
    const tag = readNumber();
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (type === 0) readNumber();
    else if (type === 1) at += 8;
    else if (type === 5) at += 4;
    else if (type === 2) {
      const length = readNumber();
      if (!(at + length <= bytes.length)) return;
      yield { number, bytes: bytes.subarray(at, at + length) };
      at += length;
    } else return;
  }
}

/** Throws, with the path, for a name in values that a struct would lose. */
export function refuseLostNames(values: unknown, above?: Step): void {
  if (typeof values !== "object" || values === null) return;
  const level = (above?.level ?? 0) + 1;
  for (const [name, value] of Object.entries(values)) {
    if (name === lost) throw new Error(`${pathOf(above, name)}: no property can have this name; choose another`);
    refuseLostNames(value, { name: Array.isArray(values) ? Number(name) : name, above, level });
  }
}

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

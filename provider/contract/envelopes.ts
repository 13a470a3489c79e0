import { z } from "zod";
import { answeredID, id } from "./values.ts";
import { at, envelopes, findMadeID, firstOf, isObject, placesOf, readIn, toTextID, type Json } from "./wire.ts";

/** The envelope of reads. */
export const read = (answer: unknown): Json => ({ status: "success", body: answer });

/**
 * The envelope of writes. It has the values twice: beside `status`, as documented, and under `body`, where known readers
 * look for them.
 */
export const wrapWritten = (answer: Json): Json => ({ status: "success", ...answer, body: { ...answer } });

/** Answer of a change that returns no values. */
export const done = {
  answer: z.object({}),
  wrap: (): Json => ({ status: "success" }),
  unwrap: (): Json => ({}),
};

/**
 * Answer of a creation: the new ID under this name. `wrap` writes all forms that readers look for; `unwrap` takes a
 * `result` that is the ID, or an object that holds it.
 */
export const declareMadeID = <Name extends string>(name: Name) => ({
  answer: z.object({ [name]: answeredID } as Record<Name, typeof id>), // a computed name widens to any string
  wrap: ({ [name]: made }: Record<Name, string>): Json => ({
    status: "success",
    result: { _id: made },
    [name]: made,
    body: { _id: made, [name]: made },
  }),
  unwrap: (wire: unknown): Json => ({ [name]: findMadeID(wire, name) }),
});

/** Answer of reading one record, which is the body itself; an empty body means that there is none. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the answer has its type
export const oneOf = <Name extends string, Thing extends z.ZodType>(name: Name, thing: Thing) => ({
  answer: z.object({ [name]: thing.optional() } as Record<Name, z.ZodOptional<Thing>>), // a computed name widens to any string
  wrap: (answer: Partial<Record<Name, unknown>>): Json => read(answer[name] ?? {}),
  unwrap: (wire: unknown): Json => ({ [name]: recordIn(wire, name) }),
});

/** The record of an answer, which may stand under its own name; undefined for an empty one. */
function recordIn(wire: unknown, name: string): unknown {
  const named = firstOf(wire, ...placesOf(name));
  if (isObject(named) && Object.keys(named).length > 0) return withInfo(named, name);
  const isRecord =
    isObject(wire) && ["_id", "teamMemberID", "userID"].some((key) => typeof toTextID(wire[key]) === "string");
  if (isRecord && envelopes.every((path) => wire[path] === undefined)) return withInfo(wire, name);
  const found = readIn(wire, ...envelopes);
  return withInfo(Array.isArray(found) && found !== wire ? (found as unknown[])[0] : found, name);
}

/** A record whose fields stand beside its ID, also where they come under `organizationInfo` or `teamInfo`. */
function withInfo(record: unknown, name: string): unknown {
  const info = at(record, `${name}Info`);
  return isObject(record) && isObject(info) ? { ...record, ...info } : record;
}

/** Fields of an organization or a team in answers. */
export const namedThing = {
  _id: answeredID,
  name: z.string(),
  description: z.string().nullish(),
  createdAt: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
};

/** Fields that create an organization or a team; the caller may choose the ID. */
export const newNamedThing = {
  _id: id.optional(),
  name: z.string().min(1),
  description: z.string().nullish(),
};

/** Fields of an organization or a team that can change; those that are left out stay. */
export const namedThingChange = z.object({
  name: z.string().min(1).optional(),
  description: z.string().nullish(),
});

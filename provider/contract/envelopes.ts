import { z } from "zod";
import { id } from "./values.ts";
import { firstOf, readIn, type Json } from "./wire.ts";

/** The envelope of reads. */
export const read = (answer: unknown): Json => ({ status: "success", body: answer });

/**
 * The envelope of writes: the documented form has the values beside `status`, readers in the field look under `body`,
 * so both are sent.
 */
export const written = (answer: Json): Json => ({ status: "success", ...answer, body: { ...answer } });

/** Answer of a change: nothing but that it is done. */
export const done = {
  answer: z.object({}),
  wrap: (): Json => ({ status: "success" }),
  unwrap: (): Json => ({}),
};

/**
 * Answer of a creation: the ID under a name. It is sent in all forms that readers look for; on arrival, `result` is the
 * ID or an object that holds it.
 */
export const madeID = <Name extends string>(name: Name) => ({
  answer: z.object({ [name]: id } as Record<Name, typeof id>), // a computed name widens to any string
  wrap: ({ [name]: made }: Record<Name, string>): Json => ({
    status: "success",
    result: { _id: made },
    [name]: made,
    body: { _id: made, [name]: made },
  }),
  unwrap: (wire: unknown): Json => ({
    [name]: firstOf(wire, "result._id", `result.${name}`, "result", `body.${name}`, "body._id", name, "body"),
  }),
});

/** Answer of reading one thing, which stands in the body itself; an empty body means that there is none. */
export const oneOf = <Name extends string, Thing extends z.ZodType>(name: Name, thing: Thing) => ({
  answer: z.object({ [name]: thing.optional() } as Record<Name, z.ZodOptional<Thing>>), // a computed name widens to any string
  wrap: (answer: Partial<Record<Name, unknown>>): Json => read(answer[name] ?? {}),
  unwrap: (wire: unknown): Json => ({ [name]: recordIn(wire) }),
});

/** The object that was read, or undefined for an empty one. */
function recordIn(wire: unknown): unknown {
  const found = readIn(wire, "body", "result");
  return Array.isArray(found) && found !== wire ? (found as unknown[])[0] : found;
}

/** Fields that organizations and teams have in common. */
export const namedThing = {
  _id: id,
  name: z.string(),
  description: z.string().nullish(),
  createdAt: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
};

/** What an organization or a team is created with; the caller may choose the ID. */
export const newNamedThing = {
  _id: id.optional(),
  name: z.string().min(1),
  description: z.string().nullish(),
};

/** Changes of an organization or a team. */
export const namedThingChange = z.object({
  name: z.string().min(1).optional(),
  description: z.string().nullish(),
});

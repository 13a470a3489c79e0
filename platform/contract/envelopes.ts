import { z } from "zod";
import { id } from "./values.ts";
import { at, firstOf, isObject, type Json } from "./wire.ts";

/**
 * Where answers have their values, the documented place first. These are all the forms that the specification or public
 * client code names, and no other is understood: the client refuses it with the places that it has looked at. An answer
 * that is not here has no values.
 */
export const places = {
  login: ["authToken", "data.authToken"],
  userid: ["body.userID", "userID"],
  microappdata: ["body.microAppRows", "microAppRows"],
  microappdataRow: ["body.currentRow", "currentRow"],
  insertmicroapprow: ["rowID", "body.rowID"],
  insertmicroapprows: ["inserted", "body.inserted"],
  microappchildList: ["body.childItems", "childItems"],
  microappchildCreate: ["body.childID", "childID"],
  microappchildRead: ["body.childItem", "childItem"],
  microappchildStorecopy: ["signedUrl", "body.signedUrl"],
  microappchildUploadFileToStore: ["url", "body.url"],
  sendnotification: ["ok"],
  createappwithprompt: ["", "link", "url", "body"],
  createappwithpromptStatus: ["body.status"],
  insertorganization: ["result._id", "result"],
  readorganization: ["body"],
  insertteam: ["result._id", "result"],
  readteam: ["body"],
  teammembers: ["body.teamMembers", "teamMembers", "body", "result"],
  readteammember: ["body"],
} as const satisfies Record<string, readonly string[]>;

/** The value of an answer, from the first of its places that has one. */
export const found = (wire: unknown, name: keyof typeof places): unknown => firstOf(wire, ...places[name]);

/** The object that holds the values of an answer with several: the one around the first place that has a value. */
export function holderIn(wire: unknown, name: keyof typeof places): unknown {
  const place: string | undefined = places[name].find((path) => at(wire, path) !== undefined);
  return place === undefined ? undefined : at(wire, place.slice(0, Math.max(0, place.lastIndexOf("."))));
}

/** The envelope of reads. */
export const wrapRead = (answer: unknown): Json => ({ status: "success", body: answer });

/**
 * The envelope of writes. It has the values, if any, twice: beside `status`, as documented, and under `body`, where known
 * readers look for them.
 */
export const wrapWritten = (answer: unknown): Json =>
  isObject(answer) && Object.keys(answer).length > 0
    ? { status: "success", ...answer, body: { ...answer } }
    : { status: "success" };

/** Answer of a change that returns no values. */
export const done = {
  answer: z.object({}),
  unwrap: (wire: unknown): unknown => (isObject(wire) ? {} : wire),
};

/** Answer of a creation: the new ID under this name. `wrap` writes it where readers of any documented form look for it. */
export const declareMadeID = <Name extends string>(name: Name, endpoint: "insertorganization" | "insertteam") => ({
  answer: z.object({ [name]: id } as Record<Name, typeof id>), // a computed name widens to any string
  wrap: ({ [name]: made }: Record<Name, string>): Json => ({
    status: "success",
    result: { _id: made },
    [name]: made,
    body: { _id: made, [name]: made },
  }),
  unwrap: (wire: unknown): Json => ({ [name]: found(wire, endpoint) }),
});

/** Answer of reading one record, which is the body itself; an empty body means that there is none (assumed). */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the answer has its type
export const oneOf = <Name extends string, Thing extends z.ZodType>(name: Name, thing: Thing) => ({
  answer: z.object({ [name]: thing.optional() } as Record<Name, z.ZodOptional<Thing>>), // a computed name widens to any string
  wrap: (answer: Partial<Record<Name, unknown>>): Json => wrapRead(answer[name] ?? {}),
  unwrap: (wire: unknown): Json => (isEmptyBody(wire) ? {} : { [name]: at(wire, "body") ?? null }),
});

/** True for an answer whose body is there and empty: there is no such record (assumed). */
export function isEmptyBody(wire: unknown): boolean {
  const body = at(wire, "body");
  return isObject(body) && Object.keys(body).length === 0;
}

/** Fields of an organization or a team in answers. */
export const namedThing = {
  _id: id,
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

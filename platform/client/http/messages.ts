import { z } from "zod";
import {
  type Endpoint,
  endpoints,
  type AnswerOf,
  type EndpointName,
  knownPathSpellings,
  type RequestOf,
  type WireNames,
} from "../../contract/endpoints.ts";
import { places } from "../../contract/envelopes.ts";
import {
  codeOf,
  dependantsIn,
  type Dependant,
  answerIn,
  isObject,
  isStrange,
  refusalIn,
  ApiError,
} from "../../contract/wire.ts";
import { printableLine, quote, sentences } from "../../messages/text.ts";
import { usualHabits, type Habits } from "../../profile/profile.ts";
import type { Failed } from "./retries.ts";
import type { Reply, OutgoingCall } from "./transport.ts";

/** The answer in a reply, or why there is none. */
export type ParsedReply<Name extends EndpointName> = { answer: AnswerOf<Name> } | { failed: Failed };

// Statuses that need no message of the platform; any other without one may come from a server on the way.
const plain = new Set([401, 403, 413, 429]);

/** Reads a reply: first the refusal in its body, then its status, then whether the answer fits the endpoint. */
export function parseReply<Name extends EndpointName>(name: Name, reply: Reply): ParsedReply<Name> {
  const endpoint: Endpoint = endpoints[name];
  const { status } = reply;
  const failure = (
    code: Failed["code"],
    message: string,
    dependants: readonly Dependant[] = [],
  ): ParsedReply<Name> => ({
    failed: { code, message, status, dependants },
  });
  if (status >= 300 && status < 400) {
    return failure("badAnswer", `The address redirects to ${placeOf(reply.location)} (HTTP ${status})`);
  }
  const wire = parsed(reply.text, endpoint);
  const refusal = refusalIn(wire, endpoint.wordsAt);
  if (refusal !== undefined) {
    const code = codeOf(status, refusal);
    if (endpoint.unknown === undefined || code !== "notFound") return failure(code, refusal, dependantsIn(wire));
    return { answer: endpoint.unknown as AnswerOf<Name> }; // the contract's type is the one of this name
  }
  const page = wire === undefined ? describeText(reply.text) : undefined;
  if (status >= 400) {
    // A 404 of a server on the way must not count as the platform's "not found", nor the 403 of a proxy's page as its refusal.
    const isForeign =
      wire === undefined && status < 500 && (!plain.has(status) || (page !== undefined && status === 403));
    const what = page ? ` with ${page}` : isForeign ? " without an answer of the platform's" : "";
    return failure(isForeign ? "badAnswer" : codeOf(status, ""), `HTTP ${status}${what}`);
  }
  // A server on the way that shows a page, such as one to sign in, has not passed the call on.
  if (page !== undefined)
    return { failed: { code: "badAnswer", message: `The answer is ${page}`, status, sent: false } };
  if (wire === undefined) return failure("badAnswer", "The answer is not JSON");
  const { data, error } = endpoint.answer.safeParse(endpoint.unwrap(wire));
  if (error || isStrange(wire)) {
    const message = describeUndocumented(name, wire, error?.issues[0]?.path.join(".") ?? "");
    return { failed: { code: "badAnswer", message, status, lasting: true, hint: undocumentedHint } };
  }
  return { answer: data as AnswerOf<Name> }; // the schema is the one of this name
}

/**
 * The refusal of an answer in a form that neither the specification nor client code has: what came, and what was expected.
 * @param path the value that is not as it should be
 */
function describeUndocumented(name: EndpointName, wire: unknown, path: string): string {
  const all: Readonly<Partial<Record<EndpointName, readonly string[]>>> = places;
  const expected = all[name]?.map((place) => (place === "" ? "a text" : place)).join(" or ") ?? 'status: "success"';
  const wrong = path.includes(".") ? ` (${path} is none)` : "";
  return `The answer is not as documented: it has ${describeKeys(wire)}, and ${expected} was expected${wrong}`;
}

/**
 * Names the first keys of an answer, of what stands under each, and of the first item there, for a message: no values,
 * since those may be secrets.
 */
function describeKeys(wire: unknown): string {
  const keysOf = (value: unknown, path: string, levels: number): string[] => {
    if (Array.isArray(value))
      return isObject(value[0]) && levels > 0 ? keysOf(value[0], `${path}[]`, levels) : [`${path}[]`];
    if (!isObject(value) || levels === 0) return path === "" ? [] : [path];
    const inner = Object.entries(value).slice(0, 8);
    if (inner.length === 0) return path === "" ? [] : [`${path} without keys`];
    return inner.flatMap(([key, each]) =>
      keysOf(each, `${path === "" ? "" : `${path}.`}${printableLine(key).slice(0, 40)}`, levels - 1),
    );
  };
  const keys = keysOf(wire, "", 2);
  return keys.length === 0 ? `no keys (${Array.isArray(wire) ? "a list" : typeof wire})` : keys.join(", ");
}

const undocumentedHint =
  "Forms that neither the specification nor public client code has are not read, and nothing more is sent for it: tell the platform's operator, or report these keys. 'microapps verify' shows what else differs.";

/** The JSON of a text, undefined when it is none. A bare link is the one answer in use that is not JSON. */
function parsed(text: string, endpoint: Endpoint): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return endpoint.effect === "read" ? undefined : {};
  const wire = answerIn(trimmed);
  return wire === undefined && /^https?:\/\/\S+$/.test(trimmed) ? trimmed : wire;
}

/** Origin and path of a redirect, without its query, which may hold what nobody should see. */
function placeOf(location: string | undefined): string {
  if (location === undefined) return "another place";
  const [place = ""] = location.split(/[?#]/);
  const whole = URL.canParse(place) ? `${new URL(place).origin}${new URL(place).pathname}` : place;
  return printableLine(whole).slice(0, maxQuoted);
}

/** Most characters of another server's text in a message. */
const maxQuoted = 100;

/** Describes an answer that is no JSON: a page of HTML by its title. */
function describeText(text: string): string | undefined {
  if (!/^\s*<(!doctype html|html)\b/i.test(text)) return undefined;
  const [, title = ""] = /<title[^>]{0,200}>([^<]{1,1000})/i.exec(text) ?? [];
  const shown = printableLine(title.trim()).slice(0, maxQuoted);
  return `a page of HTML${shown === "" ? "" : `, ${quote(shown)}`}`;
}

/** A request that is ready to go, without the headers of an account. */
export type Prepared = Omit<OutgoingCall, "headers">;

/** How a deployment spells requests. */
export interface Spelling {
  wireNames: WireNames;
  habits: Habits;
}

/** Lists of a request, each item as a JSON text, by name. */
export type Written = Readonly<Record<string, readonly string[]>>;

/**
 * Validates a request and returns its path and body; throws an ApiError `invalidRequest` that names the property.
 * `written` goes into the body unchanged, beside the rest of the request.
 */
export function prepare<Name extends EndpointName>(
  name: Name,
  request: Partial<RequestOf<Name>>,
  { wireNames = {}, habits = usualHabits }: Partial<Spelling> = {},
  written: Written = {},
): Prepared {
  const endpoint: Endpoint = endpoints[name];
  const unknown = unknownKey(endpoint.request, request, "");
  if (unknown !== undefined) throw invalid(name, `${unknown} is not a property of the request`);
  const names = Object.keys(written);
  const schema = names.length === 0 ? endpoint.request : without(endpoint.request, names);
  const result = schema.safeParse(request, sentences);
  if (!result.success) {
    const issues = result.error.issues.map(({ path, message }) => `${path.join(".") || "the request"}: ${message}`);
    throw invalid(name, issues.join("; "));
  }
  const values = isObject(result.data) ? formed(name, renamed(result.data, wireNames), habits) : {};
  const path = spelled(endpoint.path, wireNames);
  const method = habits.userLookupBy === "post" ? "POST" : endpoint.method;
  const body = method === "GET" ? undefined : joined(values, written);
  if (method !== "GET" && name !== "microappchildList") return { endpoint: name, method, path, body };
  // The list of child records takes its parameters from the query, where they are documented, or from the body.
  const query = new URLSearchParams(
    Object.entries(values).map(([key, value]): [string, string] => [key, String(value)]),
  );
  return { endpoint: name, method, path: `${path}?${query.toString()}`, body };
}

function without(schema: z.ZodType, names: readonly string[]): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return schema;
  return z.object(Object.fromEntries(Object.entries(schema.shape).filter(([name]) => !names.includes(name))));
}

function joined(values: Record<string, unknown>, written: Written): string {
  const parts = Object.entries(written).map(([name, texts]) => `${JSON.stringify(name)}:[${texts.join(",")}]`);
  if (parts.length === 0) return JSON.stringify(values);
  const members = JSON.stringify(values).slice(1, -1);
  return `{${[...(members === "" ? [] : [members]), ...parts].join(",")}}`;
}

const invalid = (endpoint: string, message: string): ApiError =>
  new ApiError({ code: "invalidRequest", endpoint, message });

/** Path of the first key that the schema does not know: zod would drop it silently. */
function unknownKey(schema: unknown, value: unknown, path: string): string | undefined {
  if (schema instanceof z.ZodOptional) return unknownKey(schema.unwrap(), value, path);
  if (schema instanceof z.ZodArray && schema.element instanceof z.ZodObject && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = unknownKey(schema.element, item, `${path}${index}.`);
      if (found !== undefined) return found;
    }
  }
  if (!(schema instanceof z.ZodObject) || schema.def.catchall !== undefined || !isObject(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!Object.hasOwn(schema.shape, key)) return path + key;
    const found = unknownKey(schema.shape[key], inner, `${path}${key}.`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function renamed(values: Record<string, unknown>, { platformFormat }: WireNames): Record<string, unknown> {
  if (platformFormat === undefined || values["platformFormat"] === undefined) return values;
  const { platformFormat: value, ...rest } = values;
  return { ...rest, [platformFormat]: value };
}

/** The parameters in the form that a platform of these habits takes. */
function formed(name: EndpointName, values: Record<string, unknown>, habits: Habits): Record<string, unknown> {
  if (name === "createappwithprompt") return { attachments: [], ...values }; // left out by the documented form alone
  const ofTeams = name === "teammembers" || name === "insertteammembers";
  if (!ofTeams || habits.teamParameter !== "teamID") return values;
  const { teamIDs, ...rest } = values;
  const [teamID, ...others] = teamIDs as string[]; // the schema has checked it
  if (others.length > 0) throw invalid(name, "teamIDs: this platform takes one team in a request");
  return { teamID, ...rest };
}

/** Advice about a failed call that only the endpoint can give. */
export function hintOf(name: EndpointName, { status, code }: Failed): string | undefined {
  if (name === "userid" && (code === "forbidden" || code === "notImplemented")) {
    return "Finding a user by an address works only where the platform has it enabled: declare userID in its place.";
  }
  if (code === "conflict" && name.includes("row"))
    return "Somebody changes the same row: run again, which reads it first; if it persists, see what holds it.";
  const [last = ""] = endpoints[name].path.split("/").slice(-1);
  const isNoPath = status === 404 || status === 405 || status === 501;
  if (!isNoPath || !isRenamedPath(last)) return undefined;
  const others = code === "notFound" ? "Check the ID. " : "";
  return `${others}Where this platform has another name for ${last} in the path, such as ${knownPathSpellings[last]}, set wireNames: {"${last}": "<its name>"}.`;
}

const isRenamedPath = (last: string): last is keyof typeof knownPathSpellings =>
  Object.hasOwn(knownPathSpellings, last);

function spelled(path: string, { storecopy, uploadFileToStore }: WireNames): string {
  const names: Record<string, string | undefined> = { storecopy, uploadFileToStore };
  const [last = ""] = path.split("/").slice(-1);
  const other = names[last];
  return other === undefined ? path : path.slice(0, -last.length) + other;
}

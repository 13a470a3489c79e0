import { type Endpoint, endpoints, type AnswerOf, type EndpointName } from "../../contract/endpoints.ts";
import { places } from "../../contract/envelopes.ts";
import { codeOf, dependantsIn, type Dependant, answerIn, isObject, isStrange, refusalIn } from "../../contract/wire.ts";
import { printableLine, quote } from "../../messages/text.ts";
import type { Failed } from "./retries.ts";
import type { Reply } from "./transport.ts";

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

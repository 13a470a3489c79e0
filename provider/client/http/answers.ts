import type { Endpoint } from "../../contract/endpoint.ts";
import { endpoints, type AnswerOf, type EndpointName } from "../../contract/endpoints.ts";
import { codeOf, dependantsIn, type Dependant } from "../../contract/errors.ts";
import { answerIn, envelopes, isObject, refusalIn, refusalStatusIn } from "../../contract/wire.ts";
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
  const refusal = wire === undefined ? undefined : (endpoint.refusal ?? refusalIn)(wire);
  if (refusal !== undefined) {
    const code = codeOf(status >= 400 ? status : (refusalStatusIn(wire) ?? status), refusal);
    if (endpoint.unknown === undefined || code !== "notFound") return failure(code, refusal, dependantsIn(wire));
    return { answer: endpoint.unknown as AnswerOf<Name> }; // the contract's type is the one of this name
  }
  if (status >= 400) {
    // A 404 of a server on the way must not count as the platform's "not found".
    const foreign = wire === undefined && status < 500 && !plain.has(status);
    const page = describeText(reply.text);
    if (foreign)
      return failure("badAnswer", `HTTP ${status} ${page ? `with ${page}` : "without an answer of the platform's"}`);
    return failure(codeOf(status, ""), `HTTP ${status}`);
  }
  if (wire === undefined) return failure("badAnswer", `The answer is ${describeText(reply.text) ?? "not JSON"}`);
  const answer = endpoint.answer.safeParse(endpoint.unwrap(wire));
  if (!answer.success) {
    const [issue] = answer.error.issues;
    const place = issue?.path.join(".") ?? "";
    const lacks = place === "" ? "" : `: ${place}`;
    return failure("badAnswer", `${undocumented}${lacks}${describeKeys(wire)}`);
  }
  return { answer: answer.data as AnswerOf<Name> }; // the schema is the one of this name
}

/** The beginning of what is reported of an answer in a form that nothing here reads. */
export const undocumented = "The answer is not as documented";

/**
 * Names the first keys of an answer, of what stands in its envelope, and of the first item there, for a message: no
 * values, since those may be secrets.
 */
function describeKeys(wire: unknown): string {
  const keysOf = (value: unknown, path: string): string[] => {
    if (Array.isArray(value)) return isObject(value[0]) ? keysOf(value[0], `${path}[].`) : [`${path}[]`];
    return isObject(value)
      ? Object.keys(value)
          .slice(0, 8)
          .map((key) => `${path}${key}`)
      : [];
  };
  const inside = envelopes.flatMap((name) => {
    const value = isObject(wire) ? wire[name] : undefined;
    return keysOf(value, Array.isArray(value) ? name : `${name}.`);
  });
  const isOpen = (key: string): boolean =>
    inside.some((each) => each.startsWith(`${key}.`) || each.startsWith(`${key}[`));
  const keys = [...keysOf(wire, "").filter((key) => !isOpen(key)), ...inside];
  return keys.length === 0 ? "" : `; it has ${keys.map((key) => printableLine(key).slice(0, 40)).join(", ")}`;
}

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

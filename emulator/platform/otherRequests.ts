import type { Received } from "../../provider/contract/endpoint.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { invalid, PlatformError } from "../data/platformError.ts";

/** How a platform takes requests that takes them in no documented form. */
export interface OtherRequests {
  /** Names of its parameters, by the documented ones, which it does not know. */
  names: Readonly<Record<string, string>>;
  /** How it takes the text of a numeric ID: it refuses one, or finds nothing by it. Undefined where it takes it. */
  textIDs: "refused" | "unknown" | undefined;
}

const numericID = /^\d{13,16}$/;
const isIDName = (key: string): boolean => /(?:ID|IDs|^_id)$/.test(key);

/** A request as such a platform understands it. */
export function receiveOtherwise(received: Received, other: OtherRequests): Received {
  const { query, body } = received;
  return { ...received, query: understand(query, "", other) as Received["query"], body: understand(body, "", other) };
}

function understand(value: unknown, name: string, other: OtherRequests): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map((item) => understand(item, name, other));
  if (isObject(value)) {
    const ours = new Map(Object.entries(other.names).map(([documented, theirs]) => [theirs, documented]));
    const known = Object.entries(value).filter(([key]) => !Object.hasOwn(other.names, key));
    return Object.fromEntries(known.map(([key, inner]) => [ours.get(key) ?? key, understand(inner, key, other)]));
  }
  if (!isIDName(name)) return value;
  if (other.textIDs !== undefined && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== "string" || !numericID.test(value)) return value;
  if (other.textIDs === "refused") throw invalid(`${name} must be a number`);
  return other.textIDs === "unknown" ? "unknown" : value;
}

/** A refusal in such a platform's words, which name its own parameters. */
export function refuseOtherwise(error: unknown, { names }: OtherRequests): unknown {
  if (!(error instanceof PlatformError)) return error;
  const { message, code, dependants, retryAfter } = error;
  const words = message.replaceAll(/\w+/g, (word) => (Object.hasOwn(names, word) ? (names[word] ?? word) : word));
  return new PlatformError(code, words, { dependants, ...(retryAfter === undefined ? {} : { retryAfter }) });
}

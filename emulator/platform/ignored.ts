import { parameters, type Endpoint } from "../../provider/contract/endpoint.ts";
import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { hint } from "../rows/remarks.ts";

/** Most parameters that a remark names. */
const maxNamed = 5;

/**
 * Returns a sentence about the parameters that an endpoint does not know, undefined without any. An endpoint that takes
 * several forms of a request gets more than one of them at once, so its parameters are left alone.
 */
export function findIgnored(name: EndpointName, sent: unknown, parsed: unknown): string | undefined {
  const endpoint: Endpoint = endpoints[name];
  if (name === "logout" || endpoint.accept !== parameters) return undefined;
  const ignored = lost(sent, parsed, "");
  if (ignored.length === 0) return undefined;
  const known = Object.keys((endpoint.request as { shape?: object }).shape ?? {});
  const words = ignored.slice(0, maxNamed).map((path) => `${path}${hint(path, known)}`);
  return `${name} ignores ${words.join(", ")}`;
}

/** Paths of what the parsed request no longer has. */
function lost(sent: unknown, parsed: unknown, path: string): string[] {
  if (Array.isArray(sent) && Array.isArray(parsed)) {
    return sent.slice(0, maxNamed).flatMap((item, at) => lost(item, parsed[at], `${path}${at}.`));
  }
  if (!isObject(sent) || !isObject(parsed)) return [];
  return Object.keys(sent).flatMap((key) =>
    Object.hasOwn(parsed, key) ? lost(sent[key], parsed[key], `${path}${key}.`) : [`${path}${key}`],
  );
}

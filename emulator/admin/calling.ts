import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import { notFound, PlatformError } from "../data/platformError.ts";
import { findAdministrator } from "../data/users.ts";
import type { Arrived } from "../http/server.ts";
import { instancePath } from "../platform/hosted.ts";
import type { Administrated } from "./administrated.ts";

/** Answer of a call that the console made; status 0 and no body where a fault keeps the answer back. */
export interface ConsoleAnswer {
  status: number;
  body: unknown;
}

/** Carries a call out as the platform's first administrator: like any other, with its log entry and its faults. */
export async function callAsAdministrator(
  { platform, instance, name: own, url }: Administrated,
  { body, headers }: Arrived,
  name: string,
): Promise<ConsoleAnswer> {
  if (!Object.hasOwn(endpoints, name)) throw notFound("Endpoint", name);
  const as = findAdministrator(platform.database);
  if (!as) throw new PlatformError("forbidden", "The platform has no administrator who could call it");
  const { outgoing, ending } = await instance.answer({
    name: name as EndpointName, // a key of the contract's table
    headers: { "content-type": "application/json", "user-agent": headers["user-agent"] },
    query: {},
    body,
    url: `${url}${instancePath(own)}`,
    as,
  });
  return ending === "answer" ? { status: outgoing.status, body: outgoing.body } : { status: 0, body: null };
}

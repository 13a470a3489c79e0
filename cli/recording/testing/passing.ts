import type { EndpointName } from "../../../provider/contract/endpoints.ts";
import { endpoints } from "../../../provider/contract/endpoints.ts";
import type { Passed } from "../exchange.ts";

/** A call of the interface as a proxy sees it. */
export function passing(
  name: EndpointName,
  sent: unknown,
  answer: unknown,
  { headers = {}, status = 200 }: { headers?: Record<string, string>; status?: number } = {},
): Passed {
  const { path } = endpoints[name];
  return {
    method: "POST",
    target: path,
    headers: { "x-auth-token": "the-token-of-the-admin", "x-user-id": "the-id-of-the-admin", ...headers },
    body: Buffer.from(JSON.stringify(sent)),
    time: Date.UTC(2026, 0, 2),
    status,
    answerHeaders: { "content-type": "application/json" },
    answer: Buffer.from(JSON.stringify(answer)),
  };
}

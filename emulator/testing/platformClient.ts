import { createClient, type Client } from "../../provider/client/index.ts";
import type { Fact, FactRead } from "../../provider/conformance/fact.ts";
import { people, type FixtureIDs, type Person } from "../../provider/conformance/fixtures.ts";
import type { PlatformClient, CallResult } from "../../provider/conformance/platformClient.ts";
import { ApiError } from "../../provider/contract/errors.ts";

/** Calls a platform through the typed client. */
export function createPlatformClient(endpoint: string, sandbox: FixtureIDs): PlatformClient {
  const clients = new Map<Person, Client>();
  const clientOf = (person: Person): Client => {
    const known = clients.get(person);
    if (known) return known;
    const [email = "", password = ""] = [sandbox[`${person}.email`], sandbox[`${person}.password`]];
    const made = createClient({
      endpoint,
      email,
      password,
      apiKey: sandbox["admin.apiKey"] ?? "",
      retries: { attempts: 1 },
    });
    clients.set(person, made);
    return made;
  };
  return {
    call: async ({ name, request, as }): Promise<CallResult> => {
      const person = people.find((one) => one === as);
      if (!person) throw new Error("the client has sessions of its own");
      try {
        const method = clientOf(person)[name] as (request: object) => Promise<unknown>; // TypeScript pairs no names
        const answer = await method(request);
        return { kind: "answer", status: 200, body: undefined, answer };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { code, platformMessage: message, status = 400 } = error;
        return { kind: "refused", status, body: undefined, code, message };
      }
    },
    fetch: async (url) => {
      const response = await fetch(url);
      const { status } = response;
      return { status, headers: Object.fromEntries(response.headers), text: await response.text() };
    },
    leave: async () => {
      for (const client of clients.values()) await client.close();
    },
  };
}

/** Requests that the client refuses in its own words, or before sending. */
const refusedEarlier: ReadonlySet<string> = new Set([
  "microappdata: nulls",
  "updateteammember: nothing else",
  "sendnotification appID",
  "sendnotification email",
]);

/** True if the client can carry out a fact: it has sessions, forms and envelopes of its own. */
export const isForClients = ({ id, steps }: Fact): boolean => !refusedEarlier.has(id) && steps.every(isForClient);

const isForClient = ({ as, body, form, method, headers, refused }: FactRead): boolean =>
  people.some((person) => person === as) &&
  [body, form, method, headers, refused?.body, refused?.status].every((part) => part === undefined);

import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { at } from "../../platform/contract/wire.ts";
import type { SeedInput } from "../../platform/seed/schema.ts";
import { afterEveryTest } from "../../testing/runner/endings.ts";
import { createEmulator, type Emulator, type EmulatorOptions } from "../emulator.ts";
import type { SeedFiles } from "../seed/checking.ts";

/** Answer to a call. */
export interface Reply {
  status: number;
  body: unknown;
  headers: Headers;
  /** The value at a dotted path of the body. */
  at: (path: string) => unknown;
}

/** Someone who calls endpoints over HTTP. */
export interface Caller {
  userID: string;
  token: string;
  call: (name: EndpointName, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
  /** The call must succeed; gives the value at a path of the answer. */
  get: (path: string, name: EndpointName, body: unknown) => Promise<unknown>;
}

export const seed = {
  administrator: { email: "admin@example.com", password: "admin", apiKey: "dev-key" },
  users: [
    { email: "ada@example.com", password: "ada" },
    { email: "bob@example.com", password: "bob" },
  ],
  tables: {
    currencies: { name: "Currencies", fields: { Code: { type: "text", sort: 1 }, Digits: "number" } },
    countries: {
      name: "Countries",
      fields: {
        Code: { type: "text", sort: 1, id: "code" },
        Name: { type: "text", id: "name" },
        Currency: { type: "linked", table: "currencies", field: "Code" },
        Population: { type: "number", sort: 2, id: "population" },
        Founded: { type: "date", sort: 3 },
        Tags: { type: "checkbox", sort: 4, id: "tags" },
        Capital: "location",
        Readers: "viewers",
        ReadingTeams: "teamViewers",
        Flag: { type: "file", id: "flag" },
      },
    },
    cities: { name: "Cities", parent: "countries", fields: { Name: { type: "text", sort: 1 } } },
  },
} satisfies SeedInput;

const emulators = new Set<Emulator>();

afterEveryTest(async () => {
  for (const emulator of emulators) await emulator.close();
  emulators.clear();
});

/** An emulator that is closed with the test. */
export async function start(options: EmulatorOptions = {}, files?: SeedFiles): Promise<Emulator> {
  const emulator = await createEmulator({ seed, ...options }, files);
  emulators.add(emulator);
  return emulator;
}

/** Asks an emulator about itself, at a path below `/_emulator/`. */
export const administrate = (
  { url, token }: Pick<Emulator, "url" | "token">,
  path: string,
  { method = "GET", body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> =>
  fetch(`${url}/_emulator/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Posts anything to any path. */
export async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Reply> {
  return replyOf(
    await fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } }),
  );
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const body = (text === "" ? undefined : JSON.parse(text)) as unknown;
  return { status: response.status, body, headers: response.headers, at: (path) => at(body, path) };
}

/** Signs somebody in. */
export async function signIn(url: string, email = "admin@example.com", password = "admin"): Promise<Caller> {
  const { body } = await post(`${url}${endpoints.login.path}`, JSON.stringify({ email, password }));
  const token = at(body, "authToken");
  const userID = at(body, "userId");
  if (typeof token !== "string" || typeof userID !== "string") throw new Error(`${email} can't sign in`);
  const call: Caller["call"] = (name, body = {}, headers = {}) =>
    post(`${url}${endpoints[name].path}`, JSON.stringify(body), {
      "x-auth-token": token,
      "x-user-id": userID,
      "x-api-key": "dev-key",
      ...headers,
    });
  const get: Caller["get"] = async (path, name, body) => {
    const reply = await call(name, body);
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.at(path);
  };
  return { userID, token, call, get };
}

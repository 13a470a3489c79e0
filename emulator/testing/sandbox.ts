import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../../platform/client/index.ts";
import { type Endpoint, endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { appIDIn } from "../../platform/contract/values.ts";
import { codeOf, answerIn, refusalIn, type Json } from "../../platform/contract/wire.ts";
import { chosenIDs } from "../conformance/facts.ts";
import type { Call, Reply } from "../conformance/run.ts";
import { createEmulator, type Emulator, type EmulatorOptions } from "../emulator.ts";

/** An emulator with everything that facts may need. */
export interface ConformanceSandbox {
  emulator: Emulator;
  sandbox: ReadonlyMap<string, string>;
  /** Puts the emulator back to the moment when the sandbox was ready. */
  reset: () => void;
  close: () => Promise<void>;
}

const password = "a-password";
const email = (name: string) => `${name}@example.com`;
const text = "text" as const;
const code = { type: text, sort: 1 };
// IDs differ from labels and names, so that what takes one for the other shows.
export const seed = {
  administrator: { email: email("caller"), password, id: "u-caller", apiKey: "k-123456" },
  users: [{ email: email("person"), password, id: "u-person" }],
  tables: {
    currencies: {
      id: "t-currencies",
      name: "Currencies",
      fields: { Code: code, Digits: "number" as const, Run: text },
    },
    countries: {
      id: "t-countries",
      name: "Countries",
      fields: {
        Code: code,
        Name: { type: text, id: "f-Name" },
        Population: { type: "number" as const, sort: 2, id: "f-Population" },
        Tags: "checkbox" as const,
        Currency: { type: "linked" as const, table: "currencies", field: "Code" },
        Capital: "location" as const,
        Readers: "viewers" as const,
        ReadingTeams: "teamViewers" as const,
        Flag: { type: "file" as const, id: "f-Flag" },
        Run: text,
      },
    },
    cities: { id: "t-cities", name: "Cities", parent: "countries", fields: { Name: code, Run: text } },
  },
};

/** Starts an emulator and makes a sandbox on it, beside a server with a file to download. */
export async function startSandbox(options: EmulatorOptions = {}): Promise<ConformanceSandbox> {
  const files = createServer((_request, response) => response.end("a flag"));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
  const settings = { allowedHosts: [host], appServer: "https://apps.test" };
  const emulator = await createEmulator({ seed, settings, ...options });
  const caller = createClient({ endpoint: emulator.url, email: email("caller"), password, apiKey: "k-123456" });
  const { organizationID } = await caller.insertorganization({ organizationInfo: { name: "Test bed" } });
  const { link } = await caller.createappwithprompt({ userEmail: email("caller"), appPrompt: "Count sheep" });
  await caller.close();
  emulator.saveSnapshot("bed");
  const sandbox = new Map([
    ...["countries", "currencies", "cities"].map((name) => [name, `t-${name}`] as const),
    ...["Name", "Population", "Flag"].map((label) => [`countries.${label}`, `f-${label}`] as const),
    ...["caller", "person"].flatMap((name) =>
      Object.entries({ email: email(name), userID: `u-${name}`, password }).map(
        ([key, value]) => [`${name}.${key}`, value] as const,
      ),
    ),
    ...chosenIDs.map((name) => [name, name.replace(".", "-")] as const),
    ...Object.entries({ organization: organizationID, person: email("person"), invitee: email("invitee") }),
    ...Object.entries({ app: appIDIn(link) ?? "", file: `http://${host}/flag.txt`, "caller.apiKey": "k-123456" }),
    ...Object.entries({ generate: "yes", notify: "yes" }),
  ]);
  return {
    ...{ emulator, sandbox },
    reset: () => emulator.loadSnapshot("bed"),
    close: async () => {
      files.close();
      await emulator.close();
    },
  };
}

type Account = { authToken?: string; userId?: string } | undefined;

/** Which of the forms that are documented or in use is sent: the documented one, or another. */
type Form = "documented" | "other";

/** Calls a platform over plain HTTP. Paths and forms are written by hand, so that contract and emulator can't be wrong together. */
export function callByHTTP({ emulator: { url }, sandbox }: ConformanceSandbox, form: Form): Call {
  const sessions = new Map<string, Account>();
  const send = async (name: EndpointName, asked: Json, session: Account): Promise<Reply> => {
    const isOther = form === "other";
    const request = isOther ? otherwise(name, asked) : asked;
    const headers: Record<string, string> = { "content-type": "application/json", "x-api-key": "k-123456" };
    const inBody = name === "logout" && isOther;
    if (session?.authToken !== undefined && !inBody) headers["x-auth-token"] = session.authToken;
    if (session?.userId !== undefined && !inBody) headers["x-user-id"] = session.userId;
    const inQuery = !isOther && ["userid", "microappchildList"].includes(name);
    const query = inQuery ? `?${new URLSearchParams(request as Record<string, string>).toString()}` : "";
    const method = name === "userid" && inQuery ? "GET" : "POST";
    const body = inQuery ? undefined : JSON.stringify(inBody ? { ...request, ...session } : request);
    const response = await fetch(`${url}/api/${pathOf(name, isOther)}${query}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    return read(name, response.status, await response.text());
  };
  return async (name, request, as) => {
    if (name === "login" || typeof as === "object") return send(name, request, typeof as === "object" ? as : undefined);
    if (!sessions.has(as)) {
      const begun = await send(
        "login",
        { email: sandbox.get(`${as}.email`), password: sandbox.get(`${as}.password`) },
        undefined,
      );
      sessions.set(as, "answer" in begun ? (begun.answer as Account) : undefined); // as the contract's schema has it
    }
    return send(name, request, sessions.get(as));
  };
}

function pathOf(name: EndpointName, isOther: boolean): string {
  if (name === "microappdataRow") return "microappdata/row";
  if (name === "createappwithpromptStatus") return "createappwithprompt/status";
  const child = /^microappchild(.)(.+)$/.exec(name);
  const last = child ? `${child[1]?.toLowerCase() ?? ""}${child[2] ?? ""}` : name;
  const spelled = isOther ? ({ storecopy: "s3copy", uploadFileToStore: "uploadFileToS3" }[last] ?? last) : last;
  return child ? `microappchild/${spelled}` : spelled;
}

/** A request in a form that clients in use send. */
function otherwise(name: EndpointName, request: Json): Json {
  const {
    teamIDs,
    emails = [],
    userIDs = [],
    role,
    searchFilter,
    ...rest
  } = request as Record<string, unknown[] | undefined>;
  const teams = teamIDs?.length === 1 ? { teamID: teamIDs[0] } : { teamIDs };
  const members = [...(emails as string[]).map((address) => ({ email: address })), ...(userIDs as string[])];
  if (name === "insertteammembers") return { ...rest, ...teams, members };
  if (name === "teammembers" || name === "enforceteammembership") return { ...rest, ...teams };
  if (name === "updateteammember") return { ...rest, teamMemberInfo: { role } };
  if (name !== "microappdata") return request;
  const filters = (searchFilter as Json[] | undefined)?.map((filter) => ({
    ...filter,
    skip: JSON.stringify(filter["skip"] ?? 0),
  }));
  return { optSearchFilters: null, optViewFilters: null, optLimit: null, ...rest, searchFilter: filters ?? null };
}

function read(name: EndpointName, status: number, text: string): Reply {
  const body = answerIn(text) ?? text.trim();
  const { wordsAt, unwrap, answer: schema }: Endpoint = endpoints[name];
  const reason = refusalIn(body, wordsAt);
  if (reason !== undefined || status >= 400) {
    return { refused: { code: codeOf(status, reason ?? ""), message: reason ?? `HTTP ${status}` } };
  }
  return { answer: schema.parse(unwrap(body)) };
}

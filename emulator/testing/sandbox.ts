import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { FixtureIDs } from "../../provider/conformance/fixtures.ts";
import { valueAt } from "../../provider/conformance/matching.ts";
import {
  createRawClient,
  type PlatformClient,
  type IncomingAnswer,
  type Send,
} from "../../provider/conformance/platformClient.ts";
import type { Emulated } from "../../provider/conformance/trial.ts";
import { appIDIn } from "../../provider/contract/apps.ts";
import type { EndpointName } from "../../provider/contract/endpoints.ts";
import type { Json } from "../../provider/contract/wire.ts";
import type { Settings } from "../data/settings.ts";
import { createEmulator, type Emulator, type EmulatorOptions } from "../emulator.ts";
import type { SeedInput } from "../seed/schema.ts";

/** An emulator with everything that facts may need. */
export interface ConformanceSandbox {
  emulator: Emulator;
  sandbox: FixtureIDs;
  send: Send;
  emulated: Emulated;
  /** Puts the emulator back to the moment when the sandbox was ready. */
  reset: () => void;
  close: () => Promise<void>;
}

const people = ["admin", "member", "other"] as const;
const email = (name: string) => `${name}@example.com`;
// IDs differ from labels and names, so that what takes one for the other shows.
const seed = {
  administrator: { email: email("admin"), password: "admin-password", id: "u-admin", apiKey: "k-1" },
  users: ["member", "other"].map((name) => ({ email: email(name), password: `${name}-password`, id: `u-${name}` })),
  tables: {
    currencies: {
      id: "t-currencies",
      name: "Currencies",
      fields: { Code: { type: "text", sort: 1 }, Digits: "number" },
    },
    countries: {
      id: "t-countries",
      name: "Countries",
      fields: {
        Code: { type: "text", sort: 1, id: "f-Code" },
        Name: { type: "text", id: "f-Name" },
        Currency: { type: "linked", table: "currencies", field: "Code", id: "f-Currency" },
        Population: { type: "number", sort: 2, id: "f-Population" },
        Founded: { type: "date", sort: 3, id: "f-Founded" },
        Tags: { type: "checkbox", sort: 4, id: "f-Tags" },
        Capital: { type: "location", id: "f-Capital" },
        Readers: { type: "viewers", id: "f-Readers" },
        ReadingTeams: { type: "teamViewers", id: "f-ReadingTeams" },
        Flag: { type: "file", id: "f-Flag" },
      },
    },
    cities: { id: "t-cities", name: "Cities", parent: "countries", fields: { Name: { type: "text", sort: 1 } } },
  },
} satisfies SeedInput;

/** Starts an emulator and makes a sandbox on it, beside a server with a file to download. */
export async function startSandbox(options: EmulatorOptions = {}): Promise<ConformanceSandbox> {
  const text = "a flag";
  const files = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
  const usual = { allowedHosts: [host], generationSeconds: 8, appServer: "https://apps.test" };
  const settings: Partial<Settings> = { ...usual };
  const started = Date.now(); // its clock stands still: no fact depends on how long others took
  const emulator = await createEmulator({ seed, settings, now: () => started, ...options });
  const agent = new Agent({ keepAlive: true });
  const send = sendTo(emulator.url, agent);
  const fields = Object.entries(seed.tables.countries.fields).map(([label, { id }]) => [`countries.${label}`, id]);
  const persons = people.flatMap((name) => [
    [`${name}.email`, email(name)],
    [`${name}.userID`, `u-${name}`],
    [`${name}.password`, `${name}-password`],
  ]);
  const known = {
    ...(Object.fromEntries([...fields, ...persons]) as FixtureIDs),
    ...{ countries: "t-countries", currencies: "t-currencies", cities: "t-cities" },
    ...{ "admin.apiKey": seed.administrator.apiKey, "invitee.email": email("invitee") },
    ...{ "file.url": `http://${host}/flag.txt`, "file.text": text },
    ...{ newOrganizations: "yes", newApps: "yes", manyRows: "yes" },
  };
  const sandbox = { ...known, ...(await furnished(createRawClient({ send, sandbox: known, habits: () => ({}) }))) };
  emulator.saveSnapshot("bed");
  return {
    emulator,
    sandbox,
    send,
    emulated: emulatedBy(emulator, settings, usual),
    reset: () => emulator.loadSnapshot("bed"),
    close: async () => {
      agent.destroy();
      files.close();
      await emulator.close();
    },
  };
}

/** Adds the sandbox's organization and app, which no seed can have. */
async function furnished(client: PlatformClient): Promise<FixtureIDs> {
  const made = async (name: EndpointName, request: Json, path: string): Promise<string> => {
    const reply = await client.call({ name, request, as: "admin" });
    if (reply.kind !== "answer") throw new Error(`${name}: ${reply.message}`);
    return String(valueAt(reply.answer, path));
  };
  const organizationInfo = { name: "Test bed" };
  const organization = await made("insertorganization", { organizationInfo }, "organizationID");
  const prompt = { userEmail: email("admin"), appPrompt: "Count sheep" };
  const link = await made("createappwithprompt", prompt, "link");
  await client.leave();
  return { organization, app: appIDIn(link) ?? "" };
}

function emulatedBy(emulator: Emulator, settings: Partial<Settings>, usual: Partial<Settings>): Emulated {
  return {
    set: (values) => {
      for (const name of Object.keys(settings)) Reflect.deleteProperty(settings, name);
      Object.assign(settings, usual, values);
    },
    do: (what, request) => {
      const { milliseconds, rowID, email: to, ...rest } = request;
      if (what === "advance") {
        emulator.advance(Number(milliseconds));
        return;
      }
      if (what === "markRow") return emulator.markRow(String(rowID), rest);
      return emulator.notifications(to as string | undefined);
    },
  };
}

/** Sends over kept connections. A GET may have a body, which `fetch` does not send. */
function sendTo(base: string, agent: Agent): Send {
  return ({ method, url, headers, body }, signal) =>
    new Promise<IncomingAnswer>((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const target = url.startsWith("http") ? url : `${base}${url}`;
      const options = { method, headers: { ...headers, ...length }, agent, ...(signal ? { signal } : {}) };
      const sent = request(target, options, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(parts).toString();
          const had = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(had) as IncomingAnswer["headers"],
            text,
          });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
}

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Switches } from "../../emulator/data/deviations.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import type { FaultPlan } from "../../emulator/platform/faults.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isLong, partOf } from "../harness/drawn.ts";
import { InProcessHost } from "../harness/inProcessHost.ts";
import type { Properties } from "../harness/providerHost.ts";
import type { Stage } from "./lifecycle.ts";
import { lives, tables } from "./lives.ts";

// A platform that answers success and does something else, in ways that no profile names: an operation fails, or a look
// at the platform from outside finds what was declared.

interface Lie {
  faults?: NonNullable<FaultPlan["faults"]>;
  habits?: Partial<Switches>;
}

const writes = (Object.keys(endpoints) as EndpointName[]).filter((name) => endpoints[name].effect !== "read");
/** Sessions, and what no endpoint reads back: messages, and the bytes of a stored file. */
const unprovable: readonly EndpointName[] = [
  "login",
  "logout",
  "sendnotification",
  "createappwithprompt",
  "microappchildUploadFileToStore",
];
const lies: Readonly<Record<string, Lie>> = {
  ...Object.fromEntries(
    writes
      .filter((endpoint) => !unprovable.includes(endpoint))
      .map((endpoint) => [`${endpoint} keeps nothing`, { faults: [{ kind: "keepsPart", endpoint }] }]),
  ),
  "a batch keeps one row": { faults: [{ kind: "keepsPart", endpoint: "insertmicroapprows", rows: 1 }] },
  "values come back otherwise": { faults: [{ kind: "otherForms" }] },
  "roles stay as they are": { habits: { roleChange: "ignored" } },
  "unknown people are dropped": { habits: { invitations: "dropped" } },
  "links stay": { habits: { linkNull: "ignored" } },
  "chosen IDs are ignored": { habits: { chosenIDs: "ignored" } },
  "rows of a batch that are wrong are left out": { habits: { partialBatches: "partial" } },
};

const administrator = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };
let files: Server;
let emulator: Emulator;
let outside: Client;
let base = "";
beforeAll(async () => {
  files = createServer((_request, response) => response.writeHead(200, { "content-type": "image/png" }).end("bytes"));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(files.address() as AddressInfo).port}`; // a TCP server's address
  emulator = await createEmulator({
    seed: {
      administrator,
      tables,
      users: ["ada", "grace", "alan"].map((name) => ({ email: `${name}@example.com` })),
      settings: { generationSeconds: 0, allowedHosts: [new URL(base).host] },
    },
  });
});
afterAll(async () => {
  await emulator.close();
  files.close();
});

/** Lies to the provider alone: requests from outside get the truth. */
function tell(told: readonly Lie[]): void {
  emulator.setFaults({ faults: told.flatMap(({ faults = [] }) => faults) });
  emulator.behave(Object.assign({}, ...told.map(({ habits }) => habits)) as Partial<Switches>);
}
const honest = <Answer>(told: readonly Lie[], look: () => Promise<Answer>): Promise<Answer> => {
  tell([]);
  return look().finally(() => tell(told));
};

/** The steps of a life that ended well although the platform does not have what they declare. */
async function believed(type: string, told: readonly Lie[]): Promise<string[]> {
  await emulator.reset();
  tell([]);
  const folder = mkdtempSync(join(tmpdir(), "microapps-lies-"));
  outside = createClient({ endpoint: emulator.url, ...administrator });
  const host = new InProcessHost({ endpoint: emulator.url, ...administrator }, folder);
  host.resource = `its${type}`;
  const stage: Stage = {
    host,
    client: outside,
    emulator,
    calls: () => Promise.resolve([]),
    organization: async (name?: string) =>
      (await outside.insertorganization({ organizationInfo: { name: name ?? "Acme" } })).organizationID,
    team: async (organizationID, name?: string) =>
      (
        await outside.insertteam({
          teamInfo: { organizationID: organizationID ?? (await stage.organization()), name: name ?? "Crew" },
        })
      ).teamID,
  };
  const found: string[] = [];
  try {
    const life = await lives[type]?.(stage, "objects", base);
    if (!life) throw new Error(`there is no life of ${type}`);
    tell(told);
    let made: { id: string; inputs: Properties; outputs: Properties } | undefined;
    let news: Properties = {};
    for (const [index, step] of [life.create, ...life.changes].entries()) {
      news = { ...news, ...step.news };
      await honest(told, async () => step.before?.());
      const { inputs, problems } = await host.check(type, news, made?.inputs);
      expect(problems).toEqual([]);
      const ended = await run(host, type, made, inputs);
      if (ended === undefined) return found; // the failure reports it
      made = ended;
      const { id } = made;
      const there = await honest(told, () => life.live(id));
      if (JSON.stringify(there) !== JSON.stringify(step.live))
        found.push(
          `${index === 0 ? "create" : `change ${index}`}: ${JSON.stringify(there)}, not ${JSON.stringify(step.live)}`,
        );
      await host.restart();
    }
    return found;
  } finally {
    host.stop();
    await outside.close();
    rmSync(folder, { recursive: true });
  }
}

async function run(
  host: InProcessHost,
  type: string,
  made: { id: string; inputs: Properties; outputs: Properties } | undefined,
  inputs: Properties,
): Promise<{ id: string; inputs: Properties; outputs: Properties } | undefined> {
  try {
    if (!made) return { inputs, ...(await host.create(type, inputs)) };
    await host.diff(type, made.id, made.outputs, inputs);
    return { id: made.id, inputs, outputs: await host.update(type, made.id, made.outputs, inputs) };
  } catch {
    return undefined;
  }
}

const types = Object.keys(lives).filter((type) => !["Notification", "GeneratedApp", "AppReadiness"].includes(type));

test.each(types)("%s: nothing that ended well is not there, whatever the platform says", async (type) => {
  expect(await believed(type, [])).toEqual([]);
  const all: [string, string[]][] = [];
  for (const [name, lie] of partOf(Object.entries(lies), types.indexOf(type)))
    all.push([name, await believed(type, [lie])]);
  expect(all.filter(([, found]) => found.length > 0)).toEqual([]);
});

test("nor when the platform lies in two ways", async () => {
  const drawn = fc.record({
    type: fc.constantFrom(...types),
    told: fc.uniqueArray(fc.constantFrom(...Object.keys(lies)), { minLength: 2, maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ type, told }) => {
      expect(
        await believed(
          type,
          told.map((name) => lies[name] ?? {}),
        ),
      ).toEqual([]);
    }),
    { numRuns: isLong ? 40 : 4, endOnFailure: true },
  );
});

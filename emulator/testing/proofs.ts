import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EndpointName } from "../../provider/contract/endpoints.ts";
import { isObject } from "../../provider/contract/wire.ts";
import type { Settings } from "../data/settings.ts";
import { createEmulator, type Emulator } from "../emulator.ts";
import { doors, enter, type Door, type ApiUser } from "./doors.ts";
import { facts, type Facts } from "./facts.ts";
import { seed } from "./platform.ts";

/** What a proof works with. Users have their first names for IDs. */
export interface TestPlatform {
  door: Door;
  emulator: Emulator;
  /** The platform's administrator. */
  admin: ApiUser;
  ada: ApiUser;
  bob: ApiUser;
  /** Someone with the right or the wrong password or key. */
  enter: (account: { email: string; password: string; apiKey?: string }) => ApiUser;
  /** Settings of the platform while the proof lasts. */
  settings: Partial<Settings>;
}

export type Proof = (stage: TestPlatform) => Promise<void>;
export type Proofs<Section extends keyof Facts> = { [Fact in keyof Facts[Section]]: Proof };

const apiKey = seed.administrator.apiKey;
const named = {
  ...seed,
  administrator: { ...seed.administrator, id: "admin" },
  users: seed.users.map((user) => ({ ...user, id: user.password })),
  settings: { generationSeconds: 8 },
};

/**
 * Tries the facts of a section through every door. A proof must call the endpoint that the fact begins with, and one of
 * a parameter must send it.
 */
export function prove<Section extends keyof Facts>(section: Section, proofs: Proofs<Section>): void {
  describe.each(doors)("%s", (door) => {
    const settings: Partial<Settings> = {};
    let emulator: Emulator;
    let guests: Record<"admin" | "ada" | "bob", ApiUser>;
    const entered: ApiUser[] = [];
    const come = (account: Parameters<TestPlatform["enter"]>[0]) => {
      const guest = enter(door, emulator.url, account);
      entered.push(guest);
      return guest;
    };
    beforeAll(async () => {
      emulator = await createEmulator({ seed: named, settings });
      const user = (name: string) => come({ email: `${name}@example.com`, password: name, apiKey });
      guests = { admin: user("admin"), ada: user("ada"), bob: user("bob") };
      emulator.saveSnapshot("start");
    });
    afterAll(async () => {
      for (const guest of entered) await guest.leave();
      await emulator.close();
    });
    const list = Object.entries(proofs as Record<string, Proof>);
    const sentences: Record<string, string> = facts[section];
    test.each(list.map(([fact, proof]) => ({ fact, sentence: sentences[fact], proof })))(
      "$fact: $sentence",
      async ({ fact, proof }) => {
        emulator.loadSnapshot("start");
        for (const setting of Object.keys(settings)) Reflect.deleteProperty(settings, setting);
        const since = emulator.lastCall();
        await proof({ door, emulator, settings, enter: come, ...guests });
        const [name = "", parameter] = fact.split(":")[0]?.split(/[ .]/) ?? [];
        const calls = emulator.calls({ since, endpoint: name as EndpointName }); // coverage.test.ts sees to it
        const sent = calls.filter(({ request }) => parameter === undefined || parameter in request);
        expect([fact, sent.length > 0]).toEqual([fact, true]);
      },
    );
  });
}

/** Rows of a read, for short. */
export async function rowsOf({ admin }: Pick<TestPlatform, "admin">, query: object = {}, microAppID = "countries") {
  return (await admin.call("microappdata", { microAppID, ...query })).microAppRows;
}

/** A new row's ID. */
export async function newRow(
  { admin }: Pick<TestPlatform, "admin">,
  rowData: object,
  rest: object = {},
): Promise<string> {
  const request = { microAppID: "countries", rowData: { ...rowData }, ...rest };
  return (await admin.call("insertmicroapprow", request)).rowID;
}

export const rowOf = async ({ admin }: Pick<TestPlatform, "admin">, rowID: string) =>
  (await admin.call("microappdataRow", { rowID })).currentRow;

/** A part of something whose form is not known. */
export const part = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

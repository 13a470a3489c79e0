import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../../../provider/client/index.ts";
import { Clinic, fakeTerminal } from "../doctor/testing/clinic.ts";
import type { VerifyOptions } from "./options.ts";
import { account, Stand } from "./testing/stand.ts";
import { runVerify } from "./verify.ts";

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());

const containing = (text: string): unknown => expect.stringContaining(text);

const noTables =
  "nothing was sent: no call makes a table, so the operator of the platform makes those of a sandbox, and --table <label>:<table ID> names each: " +
  "currencies: Code (text, sort field 1), Digits (number), Run (text); countries: Code (text, sort field 1), Name (text), ";

test.each<[string, Partial<VerifyOptions>, Record<string, string>, string]>([
  ["without --sandbox", { sandbox: false }, {}, "nothing was sent: verify makes and removes things"],
  ["with neither --in nor --new", { new: false }, {}, "nothing was sent: say either --in"],
  ["with both", { in: "acme" }, {}, "nothing was sent: say either --in"],
  ["without a table", { sandboxFile: undefined }, {}, noTables],
  [
    "with a table of another label",
    { table: ["towns:t1"] },
    {},
    "--table towns:t1 must have the form <label>:<table ID>",
  ],
  ["with a table twice", { table: ["cities:1", "cities:2"] }, {}, "--table cities is there twice"],
  [
    "with one address for all",
    { address: "ada@example.com" },
    {},
    "--address ada@example.com must be an address with one *",
  ],
  ["with a word for a number", { rows: "many" }, {}, "--rows many must be a number"],
  ["with a sandbox file that is not there", { sandboxFile: "none.yaml" }, {}, "the sandbox "],
  ["with a profile that is not there", { profile: "none.yaml" }, {}, "the profile "],
  ["with a profile of unknown habits", { profile: "wrong.yaml" }, {}, "habits.skpi"],
  ["with facts that are none", { facts: ["wrong.yaml"] }, {}, "wrong.yaml:"],
  ["where nothing may change", {}, { MICROAPPS_READ_ONLY: "true" }, "nothing was sent: microapps:readOnly"],
  [
    "with a token alone",
    {},
    { MICROAPPS_TOKEN: "some-token", MICROAPPS_USER_ID: "u", MICROAPPS_EMAIL: "" },
    "nothing was sent: verify logs in",
  ],
  ["without an address", {}, { MICROAPPS_ENDPOINT: "ftp://x" }, "microapps:endpoint must be an address"],
])("%s nothing is sent, and the status is 2", async (_, flags, environment, message) => {
  await writeFile(join(stand.folder, "wrong.yaml"), "version: 1\nhabits: { skpi: ignored }\n");
  const since = stand.emulator.lastCall();
  const end = stand.verify(flags, {}, environment).catch((error: unknown) => error);
  expect(await end).toMatchObject({ status: 2, message: containing(message) });
  expect(stand.emulator.calls({ since })).toEqual([]);
});

test.each<[string, Partial<VerifyOptions>, Record<string, string>, string]>([
  ["where nothing listens", {}, { MICROAPPS_ENDPOINT: "http://127.0.0.1:1" }, "Nothing answers at http://127.0.0.1:1"],
  ["with a wrong password", {}, { MICROAPPS_PASSWORD: "battery-staple" }, "wrong e-mail address or password"],
  ["in an organization that is not there", { new: false, in: "none" }, {}, "none"],
  ["in a table that is not there", { table: ["cities:none"] }, {}, "table none can't be read"],
])("%s nothing is changed, and the status is 2", async (_, flags, environment, message) => {
  const end = stand.verify(flags, {}, environment).catch((error: unknown) => error);
  expect(await end).toMatchObject({ status: 2, message: containing(message) });
  expect(stand.differences()).toEqual([]);
});

test("a table with rows is no sandbox", async () => {
  const client = createClient({ endpoint: stand.emulator.url, ...account });
  await client.insertmicroapprow({ microAppID: "bed-countries", rowData: { Code: "CZ" } });
  await client.close();
  stand.emulator.saveSnapshot("rows");
  await expect(stand.verify()).rejects.toMatchObject({
    status: 2,
    message: containing("has rows: a sandbox is empty"),
  });
  expect(stand.emulator.differences("rows")).toEqual([]);
  stand.emulator.loadSnapshot("before");
});

test("what a stack of the project manages is refused, whichever stack was chosen", async () => {
  const clinic = await Clinic.open();
  try {
    await clinic.write({ file: "organizations: { next: { name: Next } }\n" });
    await (await clinic.workspace()).init("other");
    const since = clinic.emulator.lastCall();
    const run = (more: Partial<VerifyOptions>, environment: Record<string, string> = {}): Promise<unknown> => {
      const flags = stand.flags({
        sandboxFile: undefined,
        cwd: clinic.folder,
        new: false,
        in: "bed",
        table: ["cities:t1"],
        ...more,
      });
      const own = clinic.environment({ XDG_CACHE_HOME: join(clinic.folder, "cache"), ...environment });
      return runVerify(flags, fakeTerminal(own)).catch((error: unknown) => error);
    };
    const refusal = (what: string): object => ({
      status: 2,
      message: containing(`nothing was sent: stack dev manages ${what}`),
    });
    expect(await run({ stack: "dev", in: clinic.organization })).toMatchObject(refusal("organization org-acme"));
    expect(await run({ stack: "dev", table: ["cities:regions"] })).toMatchObject(refusal("table regions"));
    const variables = {
      MICROAPPS_ENDPOINT: clinic.emulator.url,
      MICROAPPS_EMAIL: "ada@example.com",
      MICROAPPS_PASSWORD: "correct-horse",
    };
    expect(await run({ table: ["cities:regions"] }, variables)).toMatchObject(refusal("table regions"));
    expect(clinic.emulator.calls({ since })).toEqual([]);
    const { organizationID } = await clinic.client.insertorganization({ organizationInfo: { name: "Next" } });
    expect(await run({ stack: "dev", in: organizationID })).toMatchObject({
      status: 2,
      message: containing("is called as one that an Environment file declares"),
    });
  } finally {
    await clinic.close();
  }
});

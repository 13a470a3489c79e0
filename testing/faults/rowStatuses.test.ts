import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { Project } from "../harness/project.ts";

// An engine's `up` ends with 1 when a platform alters a seed's rows, and with 0 once they all match.

const login = { email: "admin@example.com", password: "correct-horse" };
const fields = { Code: { type: "text", sort: 1 }, Name: "text", Day: "date" } as const;

let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  const tables = { items: { fields }, days: { fields }, other: { fields } };
  emulator = await createEmulator({ seed: { administrator: login, tables } });
  project = await Project.running("", {
    "microapps:endpoint": emulator.url,
    "microapps:email": login.email,
    "microapps:password": login.password,
  });
  await project.succeed("stack init dev");
});
afterAll(() => endedCleanly(project, emulator));

const declare = (...seeds: readonly object[]): Promise<void> =>
  project.write(
    "index.js",
    `import { SeedRows } from "pulumi-microapps";\n` +
      seeds.map((seed, at) => `new SeedRows("seed${at}", ${JSON.stringify(seed)});\n`).join(""),
  );
const rows = Array.from({ length: 60 }, (_, at) => ({ Code: `K${at}`, Name: "one" }));
const batches = (since: number): number[] =>
  emulator
    .calls({ since, endpoint: "insertmicroapprows" })
    .map(({ request }) => (request as { rows: unknown[] }).rows.length);

test("a batch that is kept in part, a key in another case and a value that comes back otherwise end with 1, the rest goes on", async () => {
  const days = { table: "days", key: "Code", rows: [{ Code: "A", Day: "1237-10-28" }] };
  const items = { table: "items", key: "Code", rows };
  const other = { table: "other", key: "code", rows: rows.map(({ Code, Name }) => ({ code: Code, Name })) };
  emulator.setFaults({
    faults: [
      { kind: "keepsPart", endpoint: "insertmicroapprows", rows: 20 },
      { kind: "otherForms", forms: ["midnight"] },
    ],
  });
  await declare(items, days, other);
  const failed = await project.run("up --yes");
  expect(failed.status).toBe(1);
  expect(failed.output).toContain("39 rows of table items are not there after they were sent");
  expect(failed.output).toContain('gave back "1237-10-28T00:00:00.000Z" in "Day", where "1237-10-28" was sent');
  expect(failed.output).toContain('table other did not keep "code", the natural key');

  emulator.setFaults({ faults: [{ kind: "otherForms", forms: ["midnight"] }] });
  const since = emulator.lastCall();
  await declare(items, { ...days, types: { Day: "date" } }, { ...other, key: "Code", rows });
  await project.succeed("up --yes");
  expect(batches(since).toSorted((a, b) => a - b)).toEqual([39, 59]);
  await project.succeed("preview --expect-no-changes");
  await project.succeed("up --yes --refresh --expect-no-changes");
  await project.succeed("destroy --yes");
  // The row that was tried alone went again, and 121 of the seeds.
  expect(emulator.calls({ endpoint: "removemicroapprow" })).toHaveLength(122);
});

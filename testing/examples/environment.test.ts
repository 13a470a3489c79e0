import { afterEach, expect, test } from "@jest/globals";
import type { Client, Row } from "../../platform/client/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand, changingCalls } from "../harness/platform.ts";
import { Project } from "../harness/project.ts";

let project: Project;
async function begin(started: Promise<Project>): Promise<void> {
  project = await started;
  await project.succeed("stack init dev");
}
afterEach(async () => {
  await endedCleanly(project);
});

const rowsOf = async (client: Client, microAppID: string): Promise<Row[]> =>
  (await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 50_000 }] })).microAppRows;

/** The row of a table with a value under a label. */
async function rowIn(client: Client, table: string, label: string, value: string): Promise<Row> {
  const row = (await rowsOf(client, table)).find((each) => each[label] === value);
  if (!row) throw new Error(`table ${table} has no row with ${label} ${value}`);
  return row;
}

test("the environment of this repository: up, change, drift, repair, destroy", async () => {
  await begin(Project.environment());
  const theirs = await byHand(project.platform, async (client) => {
    const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Somebody else's" } });
    const row = await client.insertmicroapprow({ microAppID: "offices", rowData: { Name: "Theirs", Desks: 1 } });
    return { organizationID, rowID: row.rowID };
  });
  const told = await project.succeed("up --yes");
  expect(told).toContain("acme/crew");
  // Once in each phase.
  const counts = told.match(/(?<=SeedRows \(environment\/offices\):\n +)rows: [^;\n]*/g);
  expect(counts).toEqual([
    'rows: 3 to add if they do not exist yet ("Lisbon", "Nairobi", "Osaka")',
    "rows: 3 added, 1 of others left alone",
  ]);
  expect(told.match(/"Lisbon", "Nairobi", "Osaka"/g)).toHaveLength(1);
  const created = await project.state();
  expect([...created.keys()].toSorted()).toEqual([
    "environment",
    "environment/acme",
    "environment/acme/crew",
    "environment/acme/crew/ada@example.com",
    "environment/acme/crew/grace@example.com",
    "environment/acme/support",
    "environment/acme/support/alan@example.com",
    "environment/countries",
    "environment/currencies",
    "environment/offices",
    "environment/portal",
    "environment/portal-ready",
  ]);
  expect(created.get("environment/countries")?.outputs["rowCount"]).toBe(249);
  expect(await project.stateText()).not.toContain(project.folder);

  expect(await changingCalls(project.platform, () => project.succeed("preview --expect-no-changes"))).toEqual([]);

  await project.edit("dev.yaml", "name: Crew", "name: The crew");
  await project.edit("dev.yaml", "ada@example.com: admin", "ada@example.com: member");
  await project.edit("dev.yaml", "grace@example.com: member", "kay@example.com: member");
  await project.edit("dev.yaml", "Desks: 20", "Desks: 21");
  await project.edit("dev.yaml", "{ Name: Osaka, Country: JP, Desks: 8 }", "{ Name: Quito, Country: EC, Desks: 5 }");
  const change = [
    "create environment/acme/crew/kay@example.com",
    "delete environment/acme/crew/grace@example.com",
    "update environment/acme/crew",
    "update environment/acme/crew/ada@example.com",
    "update environment/offices",
  ];
  expect(await project.changes("preview")).toEqual(change);
  const sent = await changingCalls(project.platform, async () =>
    expect(await project.changes("up --yes --skip-preview")).toEqual(change),
  );
  expect(sent).toEqual([
    "deleteteammember",
    "insertmicroapprows",
    "insertteammembers",
    "removemicroapprow",
    "updatemicroapprow",
    "updateteam",
    "updateteammember",
  ]);
  await project.succeed("preview --expect-no-changes");

  const state = await project.state();
  const teamID = state.get("environment/acme/crew")?.id ?? "";
  const [, userID] = state.get("environment/acme/crew/ada@example.com")?.id?.split("/") ?? [];
  await byHand(project.platform, async (client) => {
    await client.updateteam({ teamID, teamInfo: { name: "Renamed by hand" } });
    await client.updateteammember({ teamID, userID, role: "admin" });
    const lisbon = await rowIn(client, "offices", "Name", "Lisbon");
    await client.updatemicroapprow({ rowID: lisbon._id, rowData: { Desks: 99 } });
    await client.updatemicroapprow({ rowID: theirs.rowID, rowData: { Desks: 2 } });
  });
  const repair = [
    "update environment/acme/crew",
    "update environment/acme/crew/ada@example.com",
    "update environment/offices",
  ];
  // A drift is said once, in a refresh and in the previews around it.
  for (const command of ["preview", "refresh --yes --skip-preview --diff", "preview --diff"]) {
    const output = await project.succeed(command);
    const said = output.split("\n").flatMap((line) => /rows edited by hand.*/.exec(line) ?? []);
    expect([...new Set(said)]).toEqual(['rows edited by hand: 1 changed ("Lisbon": Desks 12 => 99); up repairs it']);
    if (command.includes("--diff")) expect(output).toContain("Renamed by hand");
  }
  expect(await project.changes("preview")).toEqual(repair);
  const repaired = await changingCalls(project.platform, () => project.succeed("up --yes"));
  expect(repaired).toEqual(["updatemicroapprow", "updateteam", "updateteammember"]);
  await project.succeed("preview --expect-no-changes --refresh");
  await byHand(project.platform, async (client) => {
    expect((await client.readteam({ teamID })).team?.name).toBe("The crew");
    expect(await rowIn(client, "offices", "Name", "Lisbon")).toMatchObject({ Desks: 12 });
    expect(await rowIn(client, "offices", "Name", "Theirs")).toMatchObject({ _id: theirs.rowID, Desks: 2 });
  });

  await project.succeed("destroy --yes");
  expect((await project.state()).size).toBe(0);
  await byHand(project.platform, async (client) => {
    expect((await rowsOf(client, "offices")).map(({ _id }) => _id)).toEqual([theirs.rowID]);
    expect(await rowsOf(client, "countries")).toEqual([]);
    const { organizationID } = theirs;
    expect((await client.readorganization({ organizationID })).organization?.name).toBe("Somebody else's");
    await expect(client.readteam({ teamID })).rejects.toMatchObject({ code: "notFound" });
  });
});

test("a broken file ends the run with its problems alone, and nothing is sent", async () => {
  await begin(Project.environment());
  await project.edit("dev.yaml", "ada@example.com: admin", "ada@example.com: boss");
  await project.edit("base.yaml", "countries.csv", "contries.csv");
  const ended = { status: 0 as number | null, output: "" };
  const sent = await changingCalls(project.platform, async () => Object.assign(ended, await project.run("up --yes")));
  expect(ended.status).not.toBe(0);
  expect(ended.output).toContain("base.yaml:12:13: there is no file data/contries.csv; correct source");
  expect(ended.output).toContain('dev.yaml:12:28: ada@example.com must be admin or member, not "boss"');
  expect(ended.output).not.toMatch(/^\s+at /m);
  expect(sent).toEqual([]);
});

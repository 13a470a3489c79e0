import { expect, test } from "@jest/globals";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand, changingCalls } from "../harness/platform.ts";
import { Project } from "../harness/project.ts";

test("the program with classes: up, change, refresh, destroy", async () => {
  const project = await Project.copied("examples/organization", "microapps-organization");
  await project.succeed("stack init dev");
  const told = await project.succeed("up --yes");
  expect(told).toMatch(/app\s*: .*https:\/\/apps\.example\.com\/app\//);
  const created = await project.state();
  const link = created.get("atlas")?.outputs["appLink"];
  await byHand(project.platform, async (client) => {
    const { microAppRows } = await client.microappdata({ microAppID: "links", searchFilter: [{ skip: 0, limit: 10 }] });
    expect(microAppRows).toMatchObject([{ Name: "Atlas", Link: link }]);
    const { microAppRows: countries } = await client.microappdata({
      microAppID: "countries",
      searchFilter: [{ skip: 0, limit: 1000 }],
    });
    expect(countries).toHaveLength(249);
    expect(countries.filter(({ Continent }) => typeof Continent !== "object")).toEqual([]);
  });
  await project.succeed("preview --expect-no-changes");

  await project.edit("index.ts", 'name: "Traders"', 'name: "Merchants"');
  await project.edit("index.ts", '{ Code: "AF", Name: "Africa" }', '{ Code: "AF", Name: "The African continent" }');
  const change = ["update continents", "update traders"];
  expect((await project.steps("preview")).toSorted()).toEqual(change);
  expect(await changingCalls(project.platform, () => project.succeed("up --yes"))).toEqual([
    "updatemicroapprow",
    "updateteam",
  ]);
  await project.succeed("refresh --yes --expect-no-changes");
  await project.succeed("preview --expect-no-changes");

  const destroyed = await project.succeed("destroy --yes");
  // An app can't be deleted: the output names its address.
  expect(destroyed).toContain("https://apps.example.com/workspace/apps/");
  expect((await project.state()).size).toBe(0);
  await endedCleanly(project);
});

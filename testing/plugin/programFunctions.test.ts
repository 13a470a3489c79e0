import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Project } from "../harness/project.ts";

const program = `
import * as pulumi from "@pulumi/pulumi";
import { getRows, getTeamMembersOutput, getTeamOutput, getUserID, Organization, Provider, SeedRows, Team, TeamMember } from "pulumi-microapps";

export const ada = await getUserID({ email: "ada@example.com" });
const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew", description: pulumi.secret("hush-hush") });
const member = new TeamMember("ada", { teamID: crew.id, userID: ada.userID });
export const name = getTeamOutput({ teamID: crew.id }).name;
export const members = getTeamMembersOutput({ teamID: crew.id }, { dependsOn: member }).members.apply((all) => all.length);
export const hidden = getTeamOutput({ teamID: pulumi.secret(crew.id) }).name;
const regions = new SeedRows("regions", { table: "regions", key: "Code", rows: [{ Code: "N" }, { Code: "S" }] });
export const found = regions.rowCount.apply(() => getRows({ table: "regions", sort: [{ label: "Code", order: "descending" }] }))
  .apply(({ rows }) => rows.map(({ values }) => values["Code"]).join());
// The same platform by a provider of its own, whose password is known only once the organization is there.
const password = acme.id.apply(() => "correct-horse");
const own = new Provider("own", { endpoint: "emulator:platform.db?seed=platform.yaml", email: "admin@example.com", password });
export const again = getTeamOutput({ teamID: crew.id }, { provider: own }).organizationID;
`;

const platform = `
administrator: { email: admin@example.com, password: correct-horse }
users: [{ email: ada@example.com }]
tables:
  regions: { fields: { Code: { type: text, sort: 1 } } }
`;

let project: Project;

beforeAll(async () => {
  project = await Project.running(program, {
    "microapps:endpoint": "emulator:platform.db?seed=platform.yaml",
    "microapps:email": "admin@example.com",
    "microapps:password": "correct-horse",
  });
  await project.write("platform.yaml", platform);
  await project.succeed("stack init dev");
});
afterAll(() => project.remove());

const outputs = async (): Promise<unknown> => JSON.parse(await project.succeed("stack output", "--json"));

test("a program asks its own platform, before and after its resources are there", async () => {
  expect(await project.succeed("preview")).toContain("6 to create");
  await project.succeed("up --yes --skip-preview");
  expect(await outputs()).toMatchObject({
    ada: { userID: expect.any(String) as unknown },
    name: "Crew",
    members: 2,
    hidden: "[secret]",
    found: "S,N",
    again: (await project.state()).get("acme")?.id,
  });
  expect(await project.steps("preview")).toEqual([]);
});

test("what is not there ends the program with one sentence", async () => {
  await project.edit("index.js", "ada@example.com", "nobody@example.com");
  const { status, output } = await project.run("preview");
  expect(status).not.toBe(0);
  expect(output).toContain("getUserID: email: there is no such user on the platform");
  expect(output).not.toMatch(/at .*\.[jt]s:\d+/);
});

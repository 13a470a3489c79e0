import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { createEmulator } from "../../emulator/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { configOf, Project, repository } from "../harness/project.ts";

// As a generated SDK does it.
const program = `
import pulumi from "@pulumi/pulumi";

class Resource extends pulumi.CustomResource {
  constructor(type, name, inputs, options) { super("microapps:index:" + type, name, inputs, options); }
}
const acme = new Resource("Organization", "acme", { name: "Acme" });
const crew = new Resource("Team", "crew", { organizationID: acme.id, name: "Crew" });
new Resource("TeamMember", "ada", { teamID: crew.id, email: "ada@example.com", role: "member" });
new Resource("SeedRows", "rows", { table: "continents", key: "Code", rows: [{ Code: "EU", Name: "Europe" }] });
// more
export const organizationID = acme.id;
`;
const login = { email: "admin@example.com", password: "correct-horse" };

test("explicit providers, look-ups and a wrong configuration", async () => {
  const tables = { continents: { fields: { Code: "text", Name: "text" } } };
  const emulator = await createEmulator({ seed: { administrator: login, tables } });
  emulator.saveSnapshot("start");
  const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
  const project = await Project.running(program, configOf(emulator, login), { plugins });
  await project.succeed("stack init dev");
  await project.succeed("up --yes --skip-preview");
  const [acme] = [...(await project.state()).values()].filter(({ urn }) => urn.endsWith("acme"));
  await project.edit(
    "index.js",
    "// more",
    `const other = new pulumi.ProviderResource("microapps", "other", ${JSON.stringify({ endpoint: emulator.url, ...login })});
new Resource("Organization", "theirs", { name: "Theirs" }, { provider: other });
const seen = new Resource("Organization", "seen", { name: undefined }, { id: "${acme?.id ?? ""}" });
export const seenName = seen.name;`,
  );
  await project.succeed("up --yes --skip-preview");
  const state = await project.state();
  expect(state.get("theirs")).toMatchObject({ provider: expect.stringContaining("::other::") as unknown });
  expect(state.get("seen")).toMatchObject({ external: true, outputs: { name: "Acme" } });
  expect(await project.succeed("stack output seenName")).toBe("Acme\n");
  expect(await project.stateText()).not.toContain(login.password);

  await project.edit("index.js", '"other", {"endpoint"', '"other", {"endpont"');
  const { status, output } = await project.run("preview");
  expect(status).toBe(1);
  expect(output).toContain("endpont is not a setting; did you mean endpoint?");
  await project.edit("index.js", '"other", {"endpont"', '"other", {"endpoint"');
  // A look-up deletes nothing.
  await project.succeed("destroy --yes --skip-preview");
  // The platform keeps its users.
  expect(emulator.differences("start").map(({ table }) => table)).toEqual(["users"]);
  await endedCleanly(project, emulator);
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { leftRunning } from "../harness/processes.ts";
import { Project, repository } from "../harness/project.ts";

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

let project: Project;
let emulator: Emulator;
let client: Client;
beforeEach(async () => {
  const tables = { continents: { fields: { Code: "text", Name: "text" } } };
  emulator = await createEmulator({ seed: { administrator: login, tables } });
  emulator.saveSnapshot("start");
  client = createClient({ endpoint: emulator.url, ...login });
  project = await Project.running(
    program,
    { "microapps:endpoint": emulator.url, "microapps:email": login.email, "microapps:password": login.password },
    { plugins: { providers: [{ name: "microapps", path: join(repository, "plugin") }] } },
  );
  await project.succeed("stack init dev");
});
afterEach(async () => {
  const running = await leftRunning(project.folder);
  await project.remove();
  await client.close();
  await emulator.close();
  expect(running).toEqual([]);
});

/** Tables that differ from the start; the platform keeps its users. */
const left = (): string[] =>
  emulator
    .differences("start")
    .map(({ table }) => table)
    .filter((table) => table !== "users");
const up = (): Promise<string[]> => project.steps("up --yes --skip-preview");
const changing = async (work: () => Promise<unknown>): Promise<string[]> => {
  const since = emulator.lastCall();
  await work();
  return emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
};

test("the embedded engine runs the plugin: from up to destroy, with what was changed by hand in a plain preview", async () => {
  expect((await up()).toSorted()).toEqual(
    ["create acme", "create ada", "create crew", "create rows", "create tests-dev"].toSorted(),
  );
  const made = await project.state();
  expect(made.get("acme")).toMatchObject({ type: "microapps:index:Organization", refreshBeforeUpdate: true });
  expect(await project.stateText()).not.toContain(login.password);
  const none = await changing(() => project.succeed("preview --expect-no-changes"));
  expect(none).toEqual([]);

  const organizationID = made.get("acme")?.id ?? "";
  await client.updateorganization({ organizationID, organizationInfo: { name: "By hand" } });
  const preview = await project.succeed("preview --diff");
  expect(preview).toContain('~ name: "By hand" => "Acme"');
  expect(await changing(up)).toEqual(["updateorganization"]);

  await client.updateorganization({ organizationID, organizationInfo: { name: "By hand" } });
  expect(await project.succeed("refresh --yes --skip-preview")).toMatch(/~ 1 updated/);
  await project.edit("index.js", 'name: "Crew"', 'name: "Troop"');
  expect((await up()).filter((step) => !step.startsWith("refresh"))).toEqual(
    expect.arrayContaining(["update acme", "update crew"]),
  );

  await project.succeed("destroy --yes --skip-preview");
  expect([...(await project.state()).keys()]).toEqual([]);
  expect(left()).toEqual([]);
});

test("a drift is said once, in a refresh and in the preview after it", async () => {
  await up();
  const { microAppRows } = await client.microappdata({ microAppID: "continents" });
  const rowID = microAppRows[0]?._id ?? "";
  await client.updatemicroapprow({ microAppID: "continents", rowID, rowData: { Name: "By hand" } });
  for (const command of ["preview", "refresh --yes --skip-preview", "preview", "preview --diff"]) {
    const lines = (await project.succeed(command)).split("\n");
    const said = lines.flatMap((line) => /rows edited by hand.*/.exec(line) ?? []);
    // Lines of a resource repeat what stands among the diagnostics, of the Pulumi CLI more than once.
    expect([...new Set(said)]).toEqual([
      'rows edited by hand: 1 changed ("EU": Name "Europe" => "By hand"); about 4 calls',
    ]);
  }
});

test("a state of the version before, which hid nothing, has nothing to do and goes on", async () => {
  await up();
  const former = (await project.stateText()).replaceAll(/"__(\w+)":/g, '"$1":');
  expect(former).toMatch(/"ledger":.*"salt":/s);
  await project.write(".pulumi/stacks/tests/dev.json", former);
  expect(await project.succeed("preview --expect-no-changes --diff")).not.toContain("ledger");
  await project.edit("index.js", 'Name: "Europe"', 'Name: "Europa"');
  expect(await project.succeed("up --yes")).toContain('rows: 1 to change ("EU"); about');
  const state = (await project.state()).get("rows");
  expect(Object.keys(state?.outputs ?? {})).toEqual(expect.not.arrayContaining(["ledger"]));
  expect(await project.succeed("preview --expect-no-changes")).toContain("5 unchanged");
});

test("explicit providers, look-ups and a wrong configuration", async () => {
  await up();
  const [acme] = [...(await project.state()).values()].filter(({ urn }) => urn.endsWith("acme"));
  await project.edit(
    "index.js",
    "// more",
    `const other = new pulumi.ProviderResource("microapps", "other", ${JSON.stringify({ endpoint: emulator.url, ...login })});
new Resource("Organization", "theirs", { name: "Theirs" }, { provider: other });
const seen = new Resource("Organization", "seen", { name: undefined }, { id: "${acme?.id ?? ""}" });
export const seenName = seen.name;`,
  );
  await up();
  const state = await project.state();
  expect(state.get("theirs")).toMatchObject({ provider: expect.stringContaining("::other::") as unknown });
  expect(state.get("seen")).toMatchObject({ external: true, outputs: { name: "Acme" } });
  expect(await project.succeed("stack output seenName")).toBe("Acme\n");
  expect(await project.stateText()).not.toContain(login.password);

  await project.edit("index.js", '"other", {"endpoint"', '"other", {"endpont"');
  const { status, output } = await project.run("preview");
  expect(status).toBe(1);
  expect(output).toContain("endpont is no configuration; did you mean endpoint?");
  await project.edit("index.js", '"other", {"endpont"', '"other", {"endpoint"');
  // A look-up deletes nothing.
  await project.succeed("destroy --yes --skip-preview");
  expect(left()).toEqual([]);
});

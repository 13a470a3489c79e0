import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { GeneratedApp, Notification, Organization, SeedRows, Team, TeamRoster } from "./resources.ts";
import { mockEngine, registered } from "./testing/mockEngine.ts";

beforeAll(mockEngine);
beforeEach(() => void (registered.length = 0));

const fromProgram = (): unknown => Reflect.get(registered[0]?.inputs as object, "__program"); // inputs of a mock are untyped

/** Waits for a registration, which else comes during the next test. */
const waitFor = ({ id }: pulumi.CustomResource): Promise<unknown> => new Promise((resolve) => void id.apply(resolve));

/** Inputs about the program that the provider of an organization with these options receives. */
async function heardWith(options: pulumi.CustomResourceOptions): Promise<unknown> {
  await waitFor(new Organization("acme", { name: "Acme" }, options));
  return fromProgram();
}

test("which inputs are secrets goes with what else the program says of a dynamic resource", async () => {
  await waitFor(new Organization("acme", { name: pulumi.secret("Acme"), description: pulumi.output("plain") }));
  expect(fromProgram()).toEqual({ resourceUrn: expect.stringMatching(/::acme$/), isPreview: false, secrets: ["name"] });
});

test("options that engines apply are left to them", async () => {
  const options = { protect: true, ignoreChanges: ["name"], deleteBeforeReplace: false, replaceOnChanges: [] };
  expect(await heardWith(options)).toEqual({
    ...{ resourceUrn: expect.stringMatching(/::acme$/), isPreview: false },
    ignoreChanges: ["name"],
  });
});

test.each<[pulumi.CustomResourceOptions, string]>([
  [
    { customTimeouts: { create: "5m" } },
    "customTimeouts does not reach dynamic resources: leave it out, or use the plugin",
  ],
  [
    { replaceOnChanges: ["name"] },
    "replaceOnChanges does not reach dynamic resources: leave it out and replace by up --replace",
  ],
  [
    { version: "1.0.0" },
    "version does not reach dynamic resources: the version is that of the package in node_modules",
  ],
  [{ pluginDownloadURL: "https://example.com" }, "pluginDownloadURL does not reach dynamic resources"],
])("the option of %j is refused by name", (options, says) => {
  expect(() => new Organization("acme", { name: "Acme" }, options)).toThrow(`Organization "acme": the option ${says}`);
  expect(registered).toEqual([]);
});

test("people are not deletedWith their team, which would stay with them in it", () => {
  const crew = new Team("crew", { organizationID: "o1", name: "Crew" });
  registered.length = 0;
  expect(() => new TeamRoster("all", { teamID: crew.id, members: {} }, { deletedWith: crew })).toThrow(
    'TeamRoster "all": deletedWith would leave people in a team, which is not deleted then: leave it out',
  );
});

test("a class is known by its types with both kinds of provider, as a policy has them, and by its instances", async () => {
  const { isInstance } = Team; // policies call it alone
  const types = ["pulumi-nodejs:dynamic/microapps:Team", "microapps:index:Team"];
  for (const type of types) expect(isInstance({ __pulumiType: type })).toBe(true);
  for (const type of ["microapps:index:TeamRoster", "aws:index:Team", 7]) {
    expect(isInstance({ __pulumiType: type })).toBe(false);
  }
  for (const value of [undefined, null, "Team", {}]) expect(isInstance(value)).toBe(false);
  const crew = new Team("crew", { organizationID: "o1", name: "Crew" });
  expect([isInstance(crew), Organization.isInstance(crew)]).toEqual([true, false]);
  await waitFor(crew);
});

const file = 'import it with "pulumi import --file" (see docs/guides/platform.md)';
const adopting = "declare it with adopt: true, which takes over what is there";

test("the options import and id are refused, and say what to use", () => {
  const team = { organizationID: "o1", name: "Crew" };
  expect(() => new Team("crew", team, { import: "t1" })).toThrow(
    new pulumi.RunError(
      `Team "crew": the option import does not reach dynamic resources: ${file}, or ask getTeam what is there`,
    ),
  );
  expect(() => new Team("crew", team, { id: "t1" })).toThrow(
    `Team "crew": the option id does not reach dynamic resources: ${file}`,
  );
  expect(() => new GeneratedApp("app", { userEmail: "ada@example.com", appPrompt: "x" }, { import: "a" })).toThrow(
    `GeneratedApp "app": the option import does not reach dynamic resources: ${file}, or ask getAppStatus what is there`,
  );
  expect(registered).toEqual([]);
});

test("people of a file are refused where they would stand in clear in the state, though they are sensitive", () => {
  const roster = { teamID: "t1", source: "people.csv" };
  expect(() => new TeamRoster("crew", { ...roster, sensitive: true } as never)).toThrow(
    new pulumi.RunError(
      'TeamRoster "crew": the people of source would be in plain text in the state, although sensitive is set: ' +
        "use the plugin (microapps:providerKind), or pass them as a secret in members",
    ),
  );
  expect(registered).toEqual([]);
});

test("where adopt takes over what is there, it is named", () => {
  const seed = { table: "currencies", key: "Code", rows: [] };
  expect(() => new SeedRows("currencies", seed, { import: "currencies" })).toThrow(
    `the option import does not reach dynamic resources: ${file}, ${adopting}, or ask getRows what is there`,
  );
});

test("get throws what to use instead", () => {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- that is what an editor shows
  expect(() => Team.get("crew", "t1")).toThrow(
    `Team "crew": a dynamic resource can't be looked up by get: ${file}, or ask getTeam what is there`,
  );
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- that is what an editor shows
  expect(() => Notification.get("hello", "n1")).toThrow(
    `Notification "hello": a dynamic resource can't be looked up by get: ${file}`,
  );
});

test("an option that can't be honoured ends the program before anything is registered", () => {
  const rows = [{ Code: "EUR", Name: "Euro" }];
  const seed = { table: "currencies", key: "Code", rows };
  expect(() => new SeedRows("currencies", seed, { ignoreChanges: ['rows["EUR"].Name'] })).toThrow(
    'SeedRows "currencies": ignoreChanges names rows["EUR"].Name, and a part of rows can\'t be ignored: set mode to "upsert"',
  );
  const file = { table: "currencies", key: "Code", source: "currencies.csv" };
  expect(() => new SeedRows("currencies", file, { ignoreChanges: ["rows"] })).toThrow(
    "ignoreChanges names rows, and what is in a source can't be ignored",
  );
  expect(() => new Organization("acme", { name: "Acme" }, { ignoreChanges: ["nmae"] })).toThrow(
    'Organization "acme": ignoreChanges names nmae, which is not an input of Organization',
  );
  expect(registered).toEqual([]);
});

test("a registration leaves the program's stack traces as long as they were, also when it fails", async () => {
  const before = Error.stackTraceLimit;
  const acme = new Organization("acme", { name: "Acme" });
  expect(Error.stackTraceLimit).toBe(before);
  let failure: unknown;
  try {
    new Organization("", { name: "Acme" });
  } catch (error) {
    failure = error;
  }
  expect(String(failure)).toContain("name");
  expect(failure).toHaveProperty("stack", expect.stringContaining("resource.test"));
  expect(Error.stackTraceLimit).toBe(before);
  await waitFor(acme);
});

test("a sub-table's parent is the same in both forms: rows and by, as in one flat object", async () => {
  const rest = { table: "cities", key: "Name", rows: [{ Name: "Osaka", Country: "JP" }] };
  const forms = [
    { rows: { table: "countries", key: "Code" }, by: "Country" },
    { table: "countries", key: "Code", by: "Country" },
  ];
  for (const [at, parent] of forms.entries()) {
    await waitFor(new SeedRows(`cities${at}`, { ...rest, parent }));
  }
  const parent = { table: "countries", key: "Code", by: "Country" };
  expect(registered.map(({ inputs }) => inputs as object)).toMatchObject([{ parent }, { parent }]);
});

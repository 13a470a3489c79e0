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

test("options that no engine hands to a dynamic resource go with what else the program says of it", async () => {
  const customTimeouts = { create: "1h30m", update: "500ms", delete: "5m" };
  expect(await heardWith({ replaceOnChanges: ["name"], customTimeouts })).toEqual({
    resourceUrn: expect.stringMatching(/::acme$/),
    isPreview: false,
    options: { replaceOnChanges: ["name"], timeouts: { create: 5400, update: 0.5 } },
  });
});

test("which inputs are secrets goes with them", async () => {
  await waitFor(new Organization("acme", { name: pulumi.secret("Acme"), description: pulumi.output("plain") }));
  expect(fromProgram()).toMatchObject({ options: { secrets: ["name"] } });
});

test.each<[string, pulumi.CustomResourceOptions]>([
  ["no option", {}],
  ["options that engines apply", { protect: true, ignoreChanges: ["name"], deleteBeforeReplace: false }],
  ["an empty list", { replaceOnChanges: [] }],
  ["a duration that engines refuse", { customTimeouts: { create: "soon" } }],
  ["the timeout of a deletion", { customTimeouts: { delete: "5m" } }],
])("there are none for %s", async (_, options) => {
  expect(await heardWith(options)).not.toHaveProperty("options");
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
    new pulumi.RunError(`Team "crew": the option import is for plugins: ${file}, or ask getTeam what is there`),
  );
  expect(() => new Team("crew", team, { id: "t1" })).toThrow(`Team "crew": the option id is for plugins: ${file}`);
  expect(() => new GeneratedApp("app", { userEmail: "ada@example.com", appPrompt: "x" }, { import: "a" })).toThrow(
    `GeneratedApp "app": the option import is for plugins: ${file}, or ask getAppStatus what is there`,
  );
  expect(registered).toEqual([]);
});

test("people of a file are refused where they would stand in clear in the state, though they are sensitive", () => {
  const roster = { teamID: "t1", source: "people.csv" };
  expect(() => new TeamRoster("crew", { ...roster, sensitive: true } as never)).toThrow(
    new pulumi.RunError(
      'TeamRoster "crew": the people of source would stand in clear in the state, though sensitive is set: ' +
        "use the plugin (microapps:providerKind), or pass them as a secret in members",
    ),
  );
  expect(registered).toEqual([]);
});

test("where adopt takes over what is there, it is named", () => {
  const seed = { table: "currencies", key: "Code", rows: [] };
  expect(() => new SeedRows("currencies", seed, { import: "currencies" })).toThrow(
    `the option import is for plugins: ${file}, ${adopting}, or ask getRows what is there`,
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
    'SeedRows "currencies": ignoreChanges names rows["EUR"].Name, a part of rows, which can\'t be ignored: set mode to "upsert"',
  );
  expect(() => new SeedRows("currencies", seed, { replaceOnChanges: ["rows[0]"] })).toThrow(
    'SeedRows "currencies": replaceOnChanges names rows[0], a part of rows',
  );
  const file = { table: "currencies", key: "Code", source: "currencies.csv" };
  expect(() => new SeedRows("currencies", file, { ignoreChanges: ["rows"] })).toThrow(
    "ignoreChanges names rows, and what is in a source can't be ignored",
  );
  expect(() => new Organization("acme", { name: "Acme" }, { ignoreChanges: ["nmae"] })).toThrow(
    'Organization "acme": ignoreChanges names nmae, which is no input of Organization',
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

import { afterEach, beforeAll, beforeEach, expect, jest, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { Provider } from "./provider.ts";
import { Organization, SeedRows, Team } from "./resources.ts";
import { mockEngine, registered } from "./testing/mockEngine.ts";

beforeAll(mockEngine);
beforeEach(() => {
  registered.length = 0;
  pulumi.runtime.setConfig("microapps:providerKind", "plugin");
});
afterEach(() => {
  pulumi.runtime.setConfig("microapps:providerKind", "");
});

/** The registration under a name, once all of these are registered. */
async function seen(name: string, ...resources: pulumi.CustomResource[]) {
  await new Promise((resolve) => void pulumi.all(resources.map(({ id }) => id)).apply(resolve));
  return registered.find((one) => one.name === name);
}

test("with microapps:providerKind the classes register the plugin's resources, with nothing for a host of dynamic ones", async () => {
  const acme = new Organization("acme", { name: "Acme" }, { customTimeouts: { create: "5m" } });
  expect(await seen("acme", acme)).toMatchObject({ type: "microapps:index:Organization", inputs: { name: "Acme" } });
  const rows = [{ Code: "EUR" }];
  const seed = await seen("currencies", new SeedRows("currencies", { table: "currencies", key: "Code", rows }));
  expect(seed?.inputs).toMatchObject({ table: "currencies", key: "Code", rows });
  expect(JSON.stringify(registered)).not.toMatch(/__provider|__program|dynamic/);
});

test("the former name of the setting is refused: another kind would serve everything", () => {
  process.env["MICROAPPS_DOOR"] = "plugin";
  try {
    expect(() => new Organization("former", { name: "former" })).toThrow("set MICROAPPS_PROVIDER_KIND in its place");
  } finally {
    delete process.env["MICROAPPS_DOOR"];
  }
});

const other = { endpoint: "https://other.example.com", email: "ada@example.com", readOnly: true };
const password: unknown = expect.objectContaining({ value: "secret" }); // marked as a secret
const prefixed = Object.entries(other).map(([name, value]) => [`microapps:${name}`, value] as const);
const ofDynamic = { ...Object.fromEntries(prefixed), "microapps:password": password };

test.each([
  ["plugin", "microapps", { ...other, password }],
  ["dynamic", "pulumi-nodejs", { ...ofDynamic, "microapps:explicitProvider": "true" }],
])("a resource of two platforms in one program goes to its %s provider", async (providerKind, name, inputs) => {
  pulumi.runtime.setConfig("microapps:providerKind", providerKind);
  const provider = new Provider("other", { ...other, password: "secret" });
  const acme = new Organization("acme", { name: "Acme" }, { provider });
  expect((await seen("acme", provider, acme))?.provider).toContain(`pulumi:providers:${name}::other::`);
  const registration = registered.find((one) => one.name === "other");
  expect([registration?.type, registration?.inputs]).toEqual([`pulumi:providers:${name}`, inputs]);
});

test.each(["plugin", "dynamic"])("what a program names as secret is one with the %s provider", async (providerKind) => {
  pulumi.runtime.setConfig("microapps:providerKind", providerKind);
  const engine = pulumi.runtime.getMonitor() as unknown as { registerResource: (request: Registration) => void };
  const requests = jest.spyOn(engine, "registerResource");
  const acme = new Organization("acme", { name: "Acme" }, { additionalSecretOutputs: ["description"] });
  await seen("acme", acme);
  expect(requests.mock.lastCall?.[0].getAdditionalsecretoutputsList()).toContain("description");
});

/** The checked parts of a program's request to register a resource. */
interface Registration {
  getAdditionalsecretoutputsList: () => string[];
}

test("the plugin imports", async () => {
  const crew = new Team("crew", { organizationID: "o1", name: "Crew" }, { import: "t1" });
  expect((await seen("crew", crew))?.id).toBe("t1");
});

test("a kind that there is not ends the program", () => {
  pulumi.runtime.setConfig("microapps:providerKind", "window");
  expect(() => new Organization("acme", { name: "Acme" })).toThrow(
    new pulumi.RunError('microapps:providerKind must be dynamic or plugin, and is "window"'),
  );
  expect(registered).toEqual([]);
});

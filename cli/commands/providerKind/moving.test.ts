import { expect, test } from "@jest/globals";
import type { ProviderKind } from "../../../provider/pulumi/configuration/configuration.ts";
import { providerOf } from "../../../provider/pulumi/providerKinds.ts";
import { moveState } from "./moving.ts";

interface Resource {
  urn: string;
  type: string;
  id?: string;
  custom?: boolean;
  [field: string]: unknown;
}
const urnOf = (types: string, name: string): string => `urn:pulumi:dev::tests::${types}::${name}`;
const dynamic = "pulumi-nodejs:dynamic/microapps:";
const [hosts, plugins] = ["pulumi:providers:pulumi-nodejs", "pulumi:providers:microapps"];

const provider = (type: string, name: string, id: string, inputs: object): Resource => ({
  ...{ urn: urnOf(type, name), custom: true, id, type, inputs, outputs: inputs },
});
const team = (name: string, provider: Resource, more: object = {}): Resource => {
  const urn = urnOf(`${dynamic}Team`, name);
  const own = { __provider: providerOf("Team"), __resourceUrn: urn, name };
  const reference = `${provider.urn}::${provider.id ?? ""}`;
  return {
    urn,
    custom: true,
    id: "t1",
    type: `${dynamic}Team`,
    inputs: own,
    outputs: own,
    provider: reference,
    ...more,
  };
};
const pluginTeam = (name: string, provider: Resource): Resource => {
  const type = "microapps:index:Team";
  return { ...team(name, provider), urn: urnOf(type, name), type, inputs: { name }, outputs: { name } };
};
/** A resource of the program that is none of ours, on the same host. */
const foreign = (provider: Resource): Resource => ({
  urn: urnOf("pulumi-nodejs:dynamic:Resource", "theirs"),
  ...{ custom: true, id: "x", type: "pulumi-nodejs:dynamic:Resource", inputs: { __provider: "exports.x" } },
  provider: `${provider.urn}::${provider.id ?? ""}`,
});

const stateOf = (resources: Resource[], more: object = {}): string =>
  `${JSON.stringify({ version: 3, checkpoint: { stack: "dev", latest: { manifest: {}, resources, ...more } } }, null, 4)}\n`;
const resourcesIn = (text: string): Resource[] =>
  (JSON.parse(text) as { checkpoint: { latest: { resources: Resource[] } } }).checkpoint.latest.resources;

/** The resources after the change; the way back must give the same text. */
function there(providerKind: ProviderKind, text: string): Resource[] {
  const moved = moveState(providerKind, text);
  expect(moveState(providerKind, moved.text)).toEqual({ text: moved.text, resources: 0, hasOwn: true });
  expect(moveState(providerKind === "plugin" ? "dynamic" : "plugin", moved.text).text).toBe(text);
  return resourcesIn(moved.text);
}

const settings = { "microapps:endpoint": "https://x.example", "microapps:email": "ada@example.com" };
const host = provider(hosts, "default", "p1", settings);

test("types, URNs and every reference to them change, and what dynamic resources alone have goes", () => {
  const crew = team("crew", host);
  const below = `${dynamic}Team$${dynamic}TeamMember`;
  const ada = team("ada", host, {
    ...{ urn: urnOf(below, "ada"), type: `${dynamic}TeamMember`, parent: crew.urn, deletedWith: crew.urn },
    ...{ dependencies: [crew.urn], propertyDependencies: { teamID: [crew.urn], __program: [] }, protect: true },
    outputs: { __provider: "x", "4dabf18193072939515e22adb298388d": "5cf8f73096256a8f31e491e813e4eb8e", urn: crew.urn },
  });
  ada["outputs"] = { ...(ada["outputs"] as object), __provider: providerOf("TeamMember"), __resourceUrn: ada.urn };
  ada["inputs"] = { ...(ada["inputs"] as object), __provider: providerOf("TeamMember"), __resourceUrn: ada.urn };
  const inside: Resource = {
    urn: urnOf(`${dynamic}Team$their:index:Thing`, "x"),
    type: "their:index:Thing",
    custom: false,
  };
  // Engines sort the names of properties.
  const sorted = JSON.parse(stateOf([host, crew, ada, inside]), (_, value: unknown) => inOrder(value)) as object;
  const [, movedCrew, movedAda, movedInside] = there("plugin", `${JSON.stringify(sorted, null, 4)}\n`);
  const teamUrn = urnOf("microapps:index:Team", "crew");
  const reference = `${urnOf(plugins, "default")}::p1`;
  expect(movedCrew).toMatchObject({
    urn: teamUrn,
    type: "microapps:index:Team",
    provider: reference,
    inputs: { name: "crew" },
  });
  expect(movedAda).toMatchObject({
    urn: urnOf("microapps:index:Team$microapps:index:TeamMember", "ada"),
    ...{ parent: teamUrn, deletedWith: teamUrn, dependencies: [teamUrn], protect: true },
    propertyDependencies: { teamID: [teamUrn] },
    outputs: { urn: teamUrn },
  });
  expect(movedInside?.urn).toBe(urnOf("microapps:index:Team$their:index:Thing", "x"));
  expect(JSON.stringify([movedCrew, movedAda])).not.toContain("dynamic");
});

const inOrder = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

test("a provider of resources of the program's own stays, and one of the plugin comes beside it", () => {
  const [first, second, , moved] = there("plugin", stateOf([host, foreign(host), team("crew", host)]));
  expect(first).toEqual(host);
  expect(second).toEqual(
    provider(plugins, "default", "p1", { endpoint: "https://x.example", email: "ada@example.com" }),
  );
  expect(moved?.["provider"]).toBe(`${urnOf(plugins, "default")}::p1`);
});

test("a default provider that is there serves what comes", () => {
  const own = provider(plugins, "default", "p2", { endpoint: "https://x.example" });
  const moved = resourcesIn(moveState("dynamic", stateOf([host, foreign(host), own, pluginTeam("crew", own)])).text);
  expect(moved.map(({ urn }) => urn)).toContain(own.urn);
  expect(moved.at(-1)).toMatchObject({ provider: `${host.urn}::p1`, inputs: { __provider: providerOf("Team") } });
});

test("a provider comes before what it serves", () => {
  const own = provider(plugins, "default", "p2", { endpoint: "https://x.example" });
  const text = stateOf([own, pluginTeam("crew", own), host, foreign(host)]);
  const moved = resourcesIn(moveState("dynamic", text).text);
  expect(moved.map(({ urn }) => urn.split("::").slice(2).join(" "))).toEqual([
    `${plugins} default`,
    `${hosts} default`,
    `${dynamic}Team crew`,
    "pulumi-nodejs:dynamic:Resource theirs",
  ]);
});

test("the version of a plugin and settings of other packages are kept for the way back", () => {
  const versioned = provider(plugins, "default_0_1_0", "p1", {
    __internal: {},
    endpoint: "https://x.example",
    version: "0.1.0",
  });
  expect(there("dynamic", stateOf([versioned, pluginTeam("crew", versioned)]))[0]?.["inputs"]).toEqual({
    ...{ "plugin:__internal": {}, "microapps:endpoint": "https://x.example", "plugin:version": "0.1.0" },
  });
  const mixed = provider(hosts, "default", "p1", { ...settings, "tests:color": "red" });
  expect(there("plugin", stateOf([mixed, team("crew", mixed)]))[0]?.["inputs"]).toEqual({
    ...{ endpoint: "https://x.example", email: "ada@example.com", "tests:color": "red" },
  });
});

test("explicit providers are known as such of either kind, also in a state without white space", () => {
  const explicit = provider(hosts, "other", "p1", { "microapps:endpoint": "x", "microapps:explicitProvider": "true" });
  const text = JSON.stringify(JSON.parse(stateOf([explicit, team("crew", explicit)])));
  expect(there("plugin", text)[0]).toEqual(provider(plugins, "other", "p1", { endpoint: "x" }));
});

test("ciphertexts and numbers stay as they are written", () => {
  const text = stateOf([host, team("crew", host, { customTimeouts: { create: 300 } })]).replace(
    '"create": 300',
    '"create": 3e2',
  );
  expect(moveState("plugin", text).text).toContain('"create": 3e2');
});

test("an export of a stack is taken, too", () => {
  const { checkpoint } = JSON.parse(stateOf([host, team("crew", host)])) as { checkpoint: { latest: object } };
  expect(moveState("plugin", JSON.stringify({ version: 3, deployment: checkpoint.latest })).resources).toBe(1);
});

test.each<[string, string, string]>([
  ["no state", "[]", "this is neither a state nor an export of one"],
  [
    "an interrupted run",
    stateOf([host], { pending_operations: [{ resource: team("crew", host), type: "creating" }] }),
    "an interrupted run left operations in it (crew): run up first, which finishes them",
  ],
  [
    "a type of another version",
    stateOf([host, team("crew", host, { type: `${dynamic}Robot` })]),
    `"crew" is of the type ${dynamic}Robot, which this version of pulumi-microapps does not know`,
  ],
])("refuses %s", (_, text, message) => {
  expect(() => moveState("plugin", text)).toThrow(message);
});

test("a state without resources of ours is left alone", () => {
  const text = stateOf([host, foreign(host)]);
  expect(moveState("plugin", text)).toEqual({ text, resources: 0, hasOwn: false });
});

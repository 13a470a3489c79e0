import { beforeAll, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { toHiddenName } from "../provider/pulumi/providerKinds.ts";
import { Environment } from "./environment.ts";

const registered: pulumi.runtime.MockResourceArgs[] = [];
const rosterRegistered = Promise.withResolvers<undefined>();
let environment: Environment;

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: (resource) => {
      registered.push(resource);
      if (resource.name.endsWith("/roster")) rosterRegistered.resolve(undefined);
      return {
        id: `id of ${resource.name}`,
        // Inputs of a mock are untyped; they are handed on as they came.
        state: {
          rowCount: 3,
          appLink: "https://apps.example.com/app/1",
          status: "ready",
          ...(resource.inputs as object),
        },
      };
    },
    call: () => ({}),
  });
  environment = new Environment("environment", { file: "examples/environment/dev.yaml" });
  await settled(environment.teams, environment.seeds, environment.apps);
});

const settled = (...outputs: pulumi.Output<unknown>[]): Promise<unknown[]> =>
  new Promise((resolve) => void pulumi.all(outputs).apply(resolve));

const inputsOf = (name: string): unknown =>
  registered.find((resource) => resource.name === `environment/${name}`)?.inputs as unknown;

test("resources are named by the logical names", () => {
  expect(registered.map(({ name }) => name).toSorted()).toEqual([
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
});

test("each has the inputs of its declaration and the IDs of what it depends on", () => {
  expect(inputsOf("acme")).toMatchObject({ name: "Acme", description: "Makes everything." });
  expect(inputsOf("acme/crew")).toMatchObject({ organizationID: "id of environment/acme", name: "Crew" });
  expect(inputsOf("acme/crew/ada@example.com")).toMatchObject({
    teamID: "id of environment/acme/crew",
    email: "ada@example.com",
    role: "admin",
  });
  expect(inputsOf("acme/support/alan@example.com")).toMatchObject({ role: "member", targetRoute: "app" });
});

test("references between seeds become tables and keys; sources are relative to the program", () => {
  expect(inputsOf("countries")).toMatchObject({
    source: "examples/environment/data/countries.csv",
    references: { Currency: { table: "currencies", key: "Code" } },
  });
  expect(inputsOf("offices")).toMatchObject({ references: { Country: { table: "countries", key: "Code" } } });
});

test("seeds get the types of the fields that the platform of the file has", async () => {
  const { seeds } = new Environment("typed", { file: "provider/environment/testdata/sound.yaml" });
  await settled(seeds);
  const fieldsOf = (name: string): unknown =>
    (registered.find((resource) => resource.name === `typed/${name}`)?.inputs as Record<string, unknown>)[
      toHiddenName("fields")
    ];
  expect([fieldsOf("countries"), fieldsOf("currencies")]).toEqual([{ Code: "text" }, undefined]);
});

test("the outputs have IDs, row counts and links by logical name", async () => {
  const { organizations, teams, seeds, apps } = environment;
  expect(await settled(organizations, teams, seeds, apps)).toEqual([
    { acme: "id of environment/acme" },
    { "acme/crew": "id of environment/acme/crew", "acme/support": "id of environment/acme/support" },
    { currencies: 3, countries: 3, offices: 3 },
    { portal: "https://apps.example.com/app/1" },
  ]);
});

test("a roster is one resource below its team, in place of the members", async () => {
  const other = new Environment("crowd", { file: "provider/environment/testdata/overlays/roster.yaml" });
  await settled(other.teams, other.apps);
  await rosterRegistered.promise;
  const names = registered.map(({ name }) => name).filter((name) => name.startsWith("crowd/acme/crew/"));
  expect(names).toEqual(["crowd/acme/crew/roster"]);
  expect(registered.find(({ name }) => name === "crowd/acme/crew/roster")).toMatchObject({
    type: "pulumi-nodejs:dynamic/microapps:TeamRoster",
    inputs: {
      teamID: "id of crowd/acme/crew",
      members: { "ada@example.com": "admin", "grace@example.com": "member" },
      mode: "authoritative",
      ignore: ["*@machines.example"],
      targetInitialApp: "id of crowd/portal",
    },
  });
});

test("a broken file registers nothing", () => {
  const before = registered.length;
  expect(() => new Environment("other", { file: "provider/environment/testdata/types.yaml" })).toThrow("12 problems");
  expect(registered).toHaveLength(before);
});

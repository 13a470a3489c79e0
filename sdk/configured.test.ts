import { beforeAll, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../testing/harness/folders.ts";
import { Environment } from "./environment.ts";

const registered = new Map<string, Record<string, unknown>>();
const folder = temporaryFolder();
beforeAll(async () => {
  process.chdir(folder);
  const newResource = ({ name, id, inputs }: pulumi.runtime.MockResourceArgs) => {
    registered.set(name, inputs as Record<string, unknown>); // inputs of a mock are untyped
    return { id: id || `id of ${name}`, state: { rowCount: 1, ...(inputs as object) } };
  };
  await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "project", "dev");
  const values = { name: "Acme (dev)", motto: "hush-hush-hush", part: "0.5", members: '{"ada@example.com":"admin"}' };
  const config = Object.entries(values).map(([key, value]) => [`project:${key}`, value] as const);
  pulumi.runtime.setAllConfig({ ...Object.fromEntries(config), "other:name": "no" }, ["project:motto"]);
});

const file = (text: string): string => {
  writeFileSync(join(folder, "dev.yaml"), text);
  return "dev.yaml";
};

test("values come from the project's configuration, as what their places take; secrets stay secrets", async () => {
  const environment = new Environment("e", {
    file: file(`
organizations:
  acme:
    name: { config: name }
    description: { config: motto, default: None. }
    adminID: { config: admin, default: root }
    teams:
      crew: { name: Crew, members: { config: members } }
seeds:
  s: { table: t, key: Code, rows: [{ Code: A, Note: { config: name } }], maxRemovals: { config: part } }
`),
  });
  await new Promise((resolve) => void pulumi.all([environment.teams, environment.seeds]).apply(resolve));
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "hush-hush-hush" };
  expect(registered.get("e/acme")).toMatchObject({ name: "Acme (dev)", adminID: "root" });
  expect([secret, "hush-hush-hush"]).toContainEqual(registered.get("e/acme")?.["description"]);
  expect(registered.get("e/acme/crew/ada@example.com")).toMatchObject({ role: "admin" });
  expect(registered.get("e/s")).toMatchObject({ maxRemovals: 0.5, rows: [{ Code: "A", Note: "Acme (dev)" }] });
});

test("what is missing or does not fit is told without secrets, before anything is registered", () => {
  const before = registered.size;
  const wrong = (): unknown =>
    new Environment("wrong", {
      file: file(`
rules: [{ path: organizations.*.name, only: [Acme] }, { path: organizations.*.description, only: [Ours] }]
organizations:
  acme: { name: { config: name }, description: { config: motto }, adminID: { config: nothing } }
seeds:
  s: { table: t, key: Code, rows: [{ Code: { config: motto } }, { Code: { config: motto } }], mode: { config: motto } }
`),
    });
  expect(wrong).toThrow(
    new pulumi.RunError(`environment dev.yaml has 4 problems:
  dev.yaml:4:27: organizations.acme.name is "Acme (dev)"; the rule at dev.yaml:2:9 says only Acme
  dev.yaml:4:58: organizations.acme.description is "[secret]"; the rule at dev.yaml:2:55 says only Ours
  dev.yaml:4:86: the configuration has no "nothing"; set it (config set nothing …), or give it a default here
  dev.yaml:6:111: mode must be exact, upsert, insertOnly or updateOnly, not "[secret]"; choose one of them`),
  );
  expect(registered.size).toBe(before);
});

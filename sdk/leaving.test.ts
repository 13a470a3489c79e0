import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { toHiddenName } from "../provider/pulumi/providerKinds.ts";
import { Environment } from "./environment.ts";

/** Inside of the repository, as each file of an Environment is. */
const folder = mkdtempSync(join(process.cwd(), "dist/leaving-"));
const messages: string[] = [];
const asked: string[] = [];
let state: Record<string, { outputs: object }> | undefined;

/** A resource of the last state. */
const earlier = (kind: string, name: string, outputs: object): Record<string, { outputs: object }> => ({
  [`urn:pulumi:stack::project::microapps:index:Environment$pulumi-nodejs:dynamic/microapps:${kind}::${name}`]: {
    outputs,
  },
});
const keys = ["One", "Two", "Three", "Four"];
const seed = { table: "words", key: ["Name"], rowCount: 4, [toHiddenName("keys")]: keys };

beforeAll(async () => {
  const isNew = (name: string): boolean => !Object.keys(state ?? {}).some((urn) => urn.endsWith(`::${name}`));
  await pulumi.runtime.setMocks(
    {
      newResource: ({ name, inputs }) => ({
        id: isNew(name) ? undefined : `id of ${name}`,
        state: inputs as object, // untyped
      }),
      call: ({ token, inputs }) => {
        asked.push(`${token} ${String((inputs as { stackName: unknown }).stackName)}`);
        if (!state) throw new Error("there is no such function");
        return { outputs: state };
      },
    },
    "project",
    "stack",
    true,
    "people",
  );
  for (const severity of ["info", "warn"] as const) {
    jest.spyOn(pulumi.log, severity).mockImplementation((text, resource) => {
      messages.push(`${severity} ${(resource as unknown as { __name?: string } | undefined)?.__name ?? ""}: ${text}`);
      return Promise.resolve();
    });
  }
});
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** The messages of a preview about what leaves. */
async function preview(was: typeof state, declaration: Record<string, unknown>): Promise<string[]> {
  state = was;
  messages.length = 0;
  const file = join(folder, "env.yaml");
  writeFileSync(file, JSON.stringify(declaration));
  new Environment("env", { file: relative(process.cwd(), file) });
  await (pulumi.runtime as unknown as { waitForRPCs: () => Promise<void> }).waitForRPCs();
  return [...messages];
}

const rows = (names: readonly string[]): Record<string, unknown> => ({
  seeds: { words: { table: "words", key: "Name", rows: names.map((Name) => ({ Name })) } },
});

test("a seed that has another key is named with its rows, and with the line that keeps it", async () => {
  const was = { ...earlier("SeedRows", "env/terms", seed), ...earlier("SeedRows", "other/words", seed) };
  expect(await preview(was, rows(keys))).toEqual([
    "info env: not declared any more: SeedRows terms, 4 rows",
    'warn env/words: perhaps "terms" is "words" now: to keep it the same thing, add "formerly: terms" under seeds.words. Without it, 4 rows stay for "words" and none is removed',
  ]);
  expect(asked.at(-1)).toBe("pulumi:pulumi:readStackResourceOutputs people/project/stack");
});

test("a seed with other rows is another one, and so is one that was there before", async () => {
  const was = earlier("SeedRows", "env/terms", seed);
  const left = "info env: not declared any more: SeedRows terms, 4 rows";
  expect(await preview(was, rows(["One", "Five"]))).toEqual([left]);
  expect(await preview({ ...was, ...earlier("SeedRows", "env/words", seed) }, rows(keys))).toEqual([left]);
});

test("a team that has another key is named with its people; formerly ends it", async () => {
  const was = {
    ...earlier("Organization", "env/acme", { name: "Acme" }),
    ...earlier("Team", "env/acme/crew", { name: "Crew", organizationID: "o1" }),
    ...earlier("TeamMember", "env/acme/crew/ada@example.com", { teamID: "t1", email: "ada@example.com" }),
  };
  const team = (more: object): Record<string, unknown> => ({
    organizations: { acme: { name: "Acme", teams: { staff: { name: "Crew", ...more } } } },
  });
  expect(await preview(was, team({}))).toEqual([
    "info env: not declared any more: Team acme/crew, 1 person",
    'warn env/acme/staff: perhaps "crew" is "staff" now: to keep it the same thing, add "formerly: crew" under organizations.acme.teams.staff. Without it, it is another team, and the first one goes with all that is in it',
  ]);
  expect(await preview(was, team({ formerly: "crew" }))).toEqual([]);
});

test("an engine that does not know the last state leaves the preview as it is", async () => {
  expect(await preview(undefined, rows(keys))).toEqual([]);
  expect(asked.slice(-2)).toEqual([
    "pulumi:pulumi:readStackResourceOutputs people/project/stack",
    "pulumi:pulumi:readStackResourceOutputs stack",
  ]);
});

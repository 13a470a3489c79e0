import { expect, test } from "@jest/globals";
import { RenamingWatch } from "./renamings.ts";

type Types = (kind: string) => string;
const plugin: Types = (kind) => `microapps:index:${kind}`;
const dynamic: Types = (kind) => (kind === "Environment" ? plugin(kind) : `pulumi-nodejs:dynamic/microapps:${kind}`);

const step = (
  op: "create" | "delete" | "same",
  type: string,
  name: string,
  properties: Record<string, unknown> = {},
) => ({
  type: "step",
  op,
  urn: `urn:pulumi:dev::tests::${type}::${name}`,
  resourceType: type,
  properties,
});

const messages = (...steps: ReturnType<typeof step>[]): string[] => {
  const watch = new RenamingWatch();
  for (const each of steps) watch.take(each);
  return watch.hints().map(({ message }) => message);
};

const letters = (all: string): string[] => Array.from(all);
const seed = { table: "kinds", key: ["Code"] };

test.each([
  ["of the plugin", plugin, "keys"],
  ["that are dynamic", dynamic, "__keys"],
] as const)(
  "an entry %s that has another key now: the line that keeps it, and what an up does without",
  (_, of, keys) => {
    const environment = step("same", of("Environment"), "environment");
    const before = step("delete", of("SeedRows"), "environment/categories", {
      ...seed,
      rowCount: 5,
      [keys]: letters("ABCDE"),
    });
    const after = (all: string) =>
      step("create", of("SeedRows"), "environment/kinds", { ...seed, [keys]: letters(all) });
    const hint = (counts: string): string =>
      `perhaps "categories" is "kinds" now: to keep it the same thing, add "formerly: categories" under seeds.kinds. Without it, ${counts}`;
    expect(messages(environment, after("ABCDE"), before)).toEqual([
      hint('5 rows stay for "kinds" and none is removed'),
    ]);
    expect(messages(environment, after("ABCDX"), before)).toEqual([
      hint('4 rows stay for "kinds" and 1 row is removed'),
    ]);
    // Too few rows are the same; or several may be it.
    expect(messages(environment, after("ABCXY"), before)).toEqual([]);
    const other = step("create", of("SeedRows"), "environment/sorts", { ...seed, [keys]: letters("ABCDE") });
    expect(messages(environment, after("ABCDE"), other, before)).toEqual([]);
  },
);

test("organizations, teams and apps by what they are; in a program without an Environment the option is named", () => {
  const team = { name: "Crew", organizationID: "o1" };
  expect(
    messages(
      step("same", plugin("Environment"), "environment"),
      step("create", plugin("Team"), "environment/acme/staff", team),
      step("create", plugin("Team"), "environment/zenith/crew", { ...team, organizationID: "o2" }),
      step("delete", plugin("Team"), "environment/acme/crew", team),
    ),
  ).toEqual([
    'perhaps "crew" is "staff" now: to keep it the same thing, add "formerly: crew" under organizations.acme.teams.staff. ' +
      "Without it, it is another team, and the first one goes with all that is in it",
  ]);
  const app = { userEmail: "a@example.com", appPrompt: "A portal." };
  expect(
    messages(
      step("create", plugin("GeneratedApp"), "site", app),
      step("delete", plugin("GeneratedApp"), "portal", app),
    ),
  ).toEqual([
    'perhaps "portal" is "site" now: to keep it the same thing, give "site" the option aliases: [{ name: "portal" }]. ' +
      "Without it, another app is generated and the first one stays",
  ]);
});

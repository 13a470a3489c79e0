import { describe, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SeedError } from "../../../emulator/index.ts";
import { checked } from "../../../emulator/seed/checking.ts";
import { signIn, start } from "../../../emulator/testing/platform.ts";
import { seed } from "../../../platform/seed/schema.ts";
import { casesIn } from "../../../testing/harness/cases.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { parseSeed, readSeed, seedFiles } from "./createEmulator.ts";

const cases = casesIn("cli/commands/emulator/testdata/mistakes.yaml") as {
  layers: [Record<string, string>, string][];
  seeds: [string, string[]][];
};

test("a seed may be empty: the administrator is known by default", () => {
  for (const yaml of ["", "{}", "# nothing yet\n"]) {
    expect(parseSeed(yaml, "platform.yaml").administrator).toEqual({
      email: "admin@example.com",
      password: "admin",
      apiKey: "dev-key",
    });
  }
});

test("a table has the ID of its key, or another, and fields in short and long form", async () => {
  const file = join(temporaryFolder(), "platform.yaml");
  writeFileSync(
    file,
    `
administrator: { email: root@example.com, password: secret, id: root }
tables:
  towns:
    id: t-1
    fields:
      Name: { type: text, id: name }
      Size: number
`,
  );
  const { url } = await start({ seed: file }, seedFiles);
  const root = await signIn(url, "root@example.com", "secret");
  expect(root.userID).toBe("root");
  await root.call("insertmicroapprow", { microAppID: "t-1", rowData: { Name: "Brno", Size: 3 } });
  const read = { microAppID: "t-1", optSearchFilters: [{ fieldID: "name", value: "Brno" }] };
  expect(await root.get("body.microAppRows", "microappdata", read)).toMatchObject([{ Name: "Brno", Size: 3 }]);
});

describe("an Environment file is a seed by its platform", () => {
  const written = (files: Record<string, string>): string => {
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return join(folder, "dev.yaml");
  };

  test("with what the files say that it extends", async () => {
    const file = written({
      "dev.yaml":
        "extends: base.yaml\norganizations: {}\nplatform:\n  users: [{email: dev@example.com, password: dev}]\n",
      "base.yaml":
        "extends: tables.yaml\nplatform:\n  users: [{email: base@example.com}]\n  tables: {a: {name: Above}}\n",
      "tables.yaml": "seeds: {}\nplatform:\n  tables: {a: {name: Below, fields: {Name: text}}, b: {}}\n",
    });
    const { users, tables } = readSeed(file);
    expect(users.map(({ email }) => email)).toEqual(["dev@example.com"]);
    expect(tables).toMatchObject({ a: { name: "Above", fields: { Name: { type: "text" } } }, b: {} });
    const { url } = await start({ seed: file }, seedFiles);
    await signIn(url, "dev@example.com", "dev");
  });

  test("with what is done to lists below, whatever else the layers do", () => {
    const file = written({
      "dev.yaml":
        "extends: base.yaml\norganizations: {acme: null}\nseeds: {a: {rows+: [{A: 1}]}}\nplatform:\n  users+: [{email: dev@example.com}]\n",
      "base.yaml": "organizations: {acme: {}}\nseeds: {a: {}}\nplatform:\n  users: [{email: base@example.com}]\n",
    });
    expect(readSeed(file).users.map(({ email }) => email)).toEqual(["base@example.com", "dev@example.com"]);
  });

  test.each(cases.layers)("%j is refused", (files, expected) => {
    const file = written(files);
    expect(
      thrown(() => readSeed(file))
        .replaceAll(join(file, "../"), "")
        .slice(0, expected.length),
    ).toBe(expected);
  });
});

describe("a mistake is named with file, line and column", () => {
  test.each(cases.seeds)("%j", (yaml, expected) => {
    const messages = thrown(() => parseSeed(yaml, "p.yaml")).split("\n");
    expect(messages).toHaveLength(expected.length);
    for (const [index, start] of expected.entries()) expect(messages[index]?.slice(0, start.length)).toBe(start);
  });

  test("a file that is missing", () => {
    expect(thrown(() => readSeed("/nowhere/platform.yaml"))).toMatch(
      /^the seed \/nowhere\/platform.yaml can't be read/,
    );
  });
});

function thrown(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof SeedError) return error.message;
    throw error;
  }
  return "";
}

test("a key that stands twice, or that objects of JavaScript lose, is refused at its place", () => {
  const refused = (yaml: string): string => thrown(() => parseSeed(yaml, "platform.yaml"));
  expect(refused("settings: {}\nsettings: {}\n")).toContain(
    "platform.yaml:2:1: is not valid YAML: Map keys must be unique",
  );
  expect(refused("tables:\n  __proto__: {}\n")).toContain("platform.yaml:2:3: a key can't have this name");
  const fields = JSON.parse('{"__proto__": "text"}') as Record<string, "text">;
  expect(thrown(() => checked(seed, { tables: { a: { fields } } }, "seed"))).toBe(
    "seed: tables.a.fields.__proto__: a key can't have this name",
  );
});

test("labels that only look odd are taken", () => {
  const fields = {
    viewers: "viewers",
    teamViewers: "teamViewers",
    author: "text",
    $x: "text",
    sortValue: "text",
  } as const;
  expect(Object.keys(checked(seed, { tables: { a: { fields } } }, "seed").tables["a"]?.fields ?? {})).toEqual(
    Object.keys(fields),
  );
});

test("of 20,000 mistakes 50 are told, at once, with how many there are beside", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `  key${index}: 1\n`).join("");
  const lines = thrown(() => parseSeed(`settings:\n${keys}`, "platform.yaml")).split("\n");
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    51,
    "platform.yaml:2:9: settings.key0: is not known here",
    "and 19950 more",
  ]);
});

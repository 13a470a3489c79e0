import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as testedKinds from "../harness/kinds.ts";
import { runsInPulumi } from "../harness/project.ts";
import type { Properties } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";
import { known, MistakeBench } from "./bench.ts";

const rows = { table: "regions", key: "Code", rows: [{ Code: "N" }] };
const seed = (source: string) => ({ table: "regions", key: "Code", source });
const files = {
  "sheet.xlsx": "PK",
  "broken.json": '[\n{"Code":"N",}]',
  "numbers.yaml": "- Code: N\n- Code: 007\n",
  "data/other.csv": "",
};
const team = { organizationID: "acme", name: "Crew" };
const member = { teamID: "crew", email: "ada@example.com" };
const roster = { teamID: "crew", members: { "ada@example.com": "admin" } };
const app = { userEmail: "ada@example.com", appPrompt: "An atlas." };

/** `doorsOnly` is the reason why no program sends the same. */
const cases: [type: string, inputs: Properties, problems: string[], kindsOnly?: string][] = [
  ["Organization", {}, ["name: is required"]],
  ["Organization", { name: "" }, ["name: must not be empty"]],
  ["Organization", { name: 7 }, ["name: must be text, not a number"]],
  ["Organization", { name: null }, ["name: must be text, not null"]],
  ["Organization", { nmae: "Acme" }, ["name: is required", "nmae: is no input of Organization; did you mean name?"]],
  ["Organization", { name: "Acme", description: 3 }, ["description: must be text, not a number"]],
  ["Organization", { name: "Acme", forceDestroy: "perhaps" }, ["forceDestroy: must be true or false, not text"]],
  ["Organization", { name: "Acme", adminID: "" }, ["adminID: must not be empty"]],
  ["Team", { name: "Crew" }, ["organizationID: is required"]],
  ["Team", { ...team, organisationID: "acme" }, ["organisationID: is no input of Team; did you mean organizationID?"]],
  ["Team", { ...team, organizationID: "" }, ["organizationID: must not be empty"]],
  ["Team", { ...team, name: ["Crew"] }, ["name: must be text, not a list"]],
  ["TeamMember", { teamID: "crew" }, ["email: set email or userID"]],
  ["TeamMember", { ...member, userID: "ada" }, ["email: set either email or userID, not both"]],
  ["TeamMember", { ...member, email: "ada" }, ["email: must be an e-mail address"]],
  ["TeamMember", { ...member, role: "owner" }, ["role: must be admin or member"]],
  ["TeamMember", { ...member, rol: "admin" }, ["rol: is no input of TeamMember; did you mean role?"]],
  ["TeamMember", { ...member, targetRoute: "web" }, ["targetRoute: must be app or go"]],
  ["TeamRoster", { teamID: "crew" }, ["members: set members or source"]],
  [
    "TeamRoster",
    { ...roster, members: { "ada@example.com": "amdin" } },
    ["members.ada@example.com: must be admin or member"],
  ],
  ["TeamRoster", { ...roster, members: ["ada@example.com"] }, ["members: must be a map, not a list"]],
  ["TeamRoster", { ...roster, mode: "strict" }, ["mode: must be authoritative or additive"]],
  ["TeamRoster", { ...roster, minAdmins: -1 }, ["minAdmins: must be at least 0"]],
  ["TeamRoster", { ...roster, minAdmins: 1.5 }, ["minAdmins: must be a whole number, not a fraction"]],
  [
    "TeamRoster",
    { ...roster, maxRemovals: 2 },
    ["maxRemovals: must be a fraction from 0 to 1: 0.25 allows a quarter, 1 allows all"],
  ],
  ["TeamRoster", { ...roster, ignore: [""] }, ["ignore.0: must not be empty"]],
  [
    "UserTeams",
    { email: "ada@example.com", teamIDs: ["t1"] },
    [
      "UserTeams is gone: declare the members of each team in a TeamRoster. Without the declaration, up forgets it and " +
        "leaves the person's teams alone.",
    ],
    "a program fails where it makes one",
  ],
  ["SeedRows", { key: "Code", rows: [] }, ["table: is required"]],
  ["SeedRows", { ...rows, key: undefined }, ["key: is required"]],
  ["SeedRows", { ...rows, key: "" }, ["key: must not be empty"]],
  ["SeedRows", { ...rows, key: [] }, ["key: must not be empty"]],
  ["SeedRows", { table: "regions", key: "Code" }, ["source: set rows or source"]],
  ["SeedRows", { ...rows, source: "regions.csv" }, ["source: set either rows or source, not both"]],
  ["SeedRows", { ...rows, rows: { Code: "N" } }, ["rows.0: must be a map, not text"]],
  ["SeedRows", { ...rows, rows: ["N"] }, ["rows.0: must be a map, not text"]],
  ["SeedRows", { ...rows, mode: "exakt" }, ["mode: must be exact, upsert, insertOnly or updateOnly"]],
  [
    "SeedRows",
    { ...rows, types: { Code: "integer" } },
    ["types.Code: must be text, number, boolean, date, checkbox or json"],
  ],
  ["SeedRows", { ...rows, maxRemovals: "half" }, ["maxRemovals: must be a number, not text"]],
  [
    "SeedRows",
    { ...rows, maxRemovals: 25 },
    ["maxRemovals: must be a fraction from 0 to 1: 0.25 allows a quarter, 1 allows all"],
  ],
  ["SeedRows", { ...rows, onConflict: "overwrit" }, ["onConflict: must be overwrite, keepLive or error"]],
  ["SeedRows", { ...rows, onDestroy: "keep" }, ["onDestroy: must be delete or retain"]],
  ["SeedRows", { ...rows, references: { Country: { table: "countries" } } }, ["references.Country.key: is required"]],
  ["SeedRows", { ...rows, references: { Country: "countries" } }, ["references.Country: must be a map, not text"]],
  [
    "SeedRows",
    { ...rows, parent: { table: "countries", key: "Code" } },
    ["parent.by: is required"],
    "a parent is { rows, by } in programs",
  ],
  ["SeedRows", { ...rows, viewers: "ada" }, ["viewers: must be a list, not text"]],
  [
    "SeedRows",
    { ...rows, fields: { Code: "number" } },
    ['rows: rows[0] "N": Code is a number: write it without quotes, as 12'],
  ],
  [
    "SeedRows",
    seed("sheet.xlsx"),
    ["source: sheet.xlsx is a spreadsheet; save it as CSV (UTF-8, with commas) and name that file"],
  ],
  [
    "SeedRows",
    seed("broken.json"),
    [
      "source: broken.json:2:13: is not valid JSON: a label in double quotes is missing here, or the comma before it is one too many",
    ],
  ],
  [
    "SeedRows",
    seed("numbers.yaml"),
    ['source: numbers.yaml:2: Code: YAML reads 007 as the number 7: quote it ("007"), or write 7'],
  ],
  ["SeedRows", seed("none.csv"), ["source: none.csv can't be read: there is no such file; correct source"]],
  ["SeedRows", seed("data"), ["source: data can't be read: it is a folder; name the file in it"]],
  ["SeedRows", { ...rows, sorce: "regions.csv" }, ["sorce: is no input of SeedRows; did you mean source?"]],
  ["GeneratedApp", { userEmail: "ada@example.com" }, ["appPrompt: is required"]],
  ["GeneratedApp", { ...app, appPrompt: "" }, ["appPrompt: must not be empty"]],
  ["GeneratedApp", { ...app, userEmail: "ada" }, ["userEmail: must be an e-mail address"]],
  ["GeneratedApp", { ...app, onPromptChange: "regenerate!" }, ["onPromptChange: must be replace, ignore or error"]],
  ["AppReadiness", { appID: "a", timeout: 0 }, ["timeout: must be more than 0"]],
  [
    "AppReadiness",
    { appID: "a", statusWords: { fertig: "done" } },
    ["statusWords.fertig: must be pending, ready or failed"],
  ],
  ["Notification", { email: "ada@example.com", message: "Hello" }, ["appID: is required"]],
  ["RowFile", { table: "regions" }, ["fieldID: is required"]],
];

describe.each(Object.values(testedKinds))("with the $name provider", (providerKind) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.set({ tables: { regions: { fields: { Code: "text" } } } }, {}, providerKind);
    const { folder } = stage.host;
    await mkdir(join(folder, "data"));
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  });
  afterAll(() => stage.clear());

  test.each(cases)("%s %j", async (type, inputs, expected) => {
    const since = stage.emulator.lastCall();
    const { problems } = await stage.host.check(type, inputs);
    expect(problems).toEqual(expected);
    expect(stage.emulator.calls({ since })).toEqual([]);
  });
});

// In programs that the Pulumi CLI of TEST_PULUMI runs; without one the cases above cover everything.
if (runsInPulumi) {
  describe("in a program", () => {
    let bench: MistakeBench;
    beforeAll(async () => (bench = await MistakeBench.start()));
    afterAll(() => bench.close());

    const programs = cases.filter(([, , , kindsOnly]) => kindsOnly === undefined);
    test.each(programs)("%s %j", async (type, inputs, expected) => {
      const program = `new ${type}("thing", ${JSON.stringify(inputs)});`;
      const told = `error: pulumi-nodejs:dynamic/microapps:${type} resource 'thing' has a problem: `;
      expect(await bench.errorsOf({ program, files, command: known })).toEqual(expected.map((text) => told + text));
    });
  });
}

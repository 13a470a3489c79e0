import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { partOf } from "../harness/drawn.ts";
import { known, later, type Mistake, MistakeBench, organization, sayable } from "./bench.ts";

// The provider and the SDK report mistakes in the same words under the Pulumi CLI: TEST_PULUMI=<path of one> tries it.
// Messages of the engine itself, about passphrases and flags, are marked.
let bench: MistakeBench;
beforeAll(async () => (bench = await MistakeBench.start()));
afterAll(() => bench.close());
beforeEach(() => bench.reset());

const ownWords = "engines have words of their own for this";
const seed = 'new SeedRows("regions", { table: "regions", key: "Code", source: "regions.csv" });\n';

/** How a problem with the input `source` of the seed begins. */
const source = "pulumi-nodejs:dynamic/microapps:SeedRows resource 'regions' has a problem: source:";

const mistakes: [string, Mistake, string[]][] = [
  [
    "a wrong password",
    { command: later, environment: { MICROAPPS_ENDPOINT: "<platform>", MICROAPPS_PASSWORD: "wrong-horse" } },
    [
      "error: login: Login failed: wrong e-mail address or password. Check the e-mail address and password, or the token and user ID.",
    ],
  ],
  [
    "a password of the environment for an endpoint of the stack",
    { command: known, environment: { MICROAPPS_PASSWORD: "wrong-horse" } },
    [
      "error: nothing was sent: MICROAPPS_PASSWORD is set in the environment, and the endpoint comes from the stack or its state: a credential of the environment is used only where the environment says: set MICROAPPS_ENDPOINT to the address of its platform, or MICROAPPS_ALLOWED_ENDPOINTS to the origin (https://<host>, or emulator:), also in the environment",
    ],
  ],
  [
    "an unknown organization",
    {
      program: 'new Team("crew", { organizationID: "none", name: "Crew" });',
      command: later,
      sent: ["insertteam"], // and refused
    },
    ["error: insertteam: Organization not found: none. Check the ID; it may have been deleted on the platform."],
  ],
  [
    "a roster and a member of one team that is new",
    {
      program:
        'const { id: teamID } = new Team("crew", { organizationID: "acme", name: "Crew" });\n' +
        'new TeamRoster("all", { teamID, members: { "ada@example.com": "admin" } });\n' +
        'new TeamMember("kay", { teamID, email: "kay@example.com" });\n',
      command: known,
    },
    [
      'error: TeamMember "kay": TeamRoster "all" says who is in the same team as well. Declare the members of one team in a TeamRoster or as TeamMembers, not both',
    ],
  ],
  [
    "a text in a number field of the emulator that the endpoint starts",
    {
      program: organization + seed,
      files: {
        "platform.yaml": "tables: {regions: {fields: {Code: text, Area: number}}}\n",
        "regions.csv": "Code,Area\nN,wide\n",
      },
      config: { "microapps:endpoint": "emulator:unborn.db?seed=platform.yaml" },
      command: known,
    },
    [
      `error: ${source} regions.csv:2 "N": Area is a number: write it without quotes, as 12, with types: {Area: number}`,
    ],
  ],
  [
    "a natural key that stands twice in a CSV",
    { program: organization + seed, files: { "regions.csv": "Code,Name\nN,North\nS,South\nN,Nord\n" }, command: known },
    [
      `error: ${source} regions.csv:4: the natural key "N" stands at line 2 already: remove one of the two, or name more labels in key`,
    ],
  ],
  [
    "a checkbox that is text in twenty rows",
    {
      program: 'new Environment("environment", { file: "dev.yaml" });',
      files: {
        "dev.yaml":
          "platform: { tables: { items: { fields: { Code: text, Discontinued: checkbox } } } }\n" +
          "seeds: { items: { table: items, key: Code, source: items.csv } }\n",
        "items.csv": `Code,Discontinued\n${Array.from({ length: 20 }, (_, index) => `P${index},true\n`).join("")}`,
      },
      command: known,
    },
    [
      `error: pulumi-nodejs:dynamic/microapps:SeedRows resource 'environment/items' has a problem: source: items.csv:2 "P0" and 19 more: Discontinued is a checkbox: write ["true"], with types: {Discontinued: checkbox}`,
    ],
  ],
  [
    "a source without rows",
    { program: organization + seed, files: { "regions.csv": "Code,Name\n" }, command: known },
    [`error: ${source} regions.csv: has no rows; to remove the seed's rows, remove the seed itself`],
  ],
  [
    "a label that the table lacks",
    {
      program: seed,
      files: { "regions.csv": "Code,Nam\nN,North\nS,South\n" },
      command: later,
      sent: ["insertmicroapprow"], // only the stored row shows the mistake
    },
    [
      "error: resource partially created but not ready: 1 rows of table regions are as declared, but:",
      'regions.csv:2 "N": table regions did not keep the label "Nam": add the field to the table, or remove the label from the source (labels are case sensitive)',
      "the other rows were not sent",
    ],
  ],
  [
    "broken YAML",
    {
      program: 'new Environment("environment", { file: "dev.yaml" });',
      files: { "dev.yaml": "organizations:\n  acme: { name: Acme\n" },
      command: known,
    },
    [
      "error: environment dev.yaml has a problem:",
      "dev.yaml:3:1: is not valid YAML: Flow map in block collection must be sufficiently indented and end with a }; correct it",
    ],
  ],
  [
    "an endpoint that nobody answers",
    { command: later, environment: { MICROAPPS_ENDPOINT: "<nobody>" } },
    [
      "error: login: Nothing answers at <nobody> (ECONNREFUSED). Check the endpoint's address and that the platform is running.",
    ],
  ],
  [
    "an emulator without its seed",
    { command: later, environment: { MICROAPPS_ENDPOINT: "emulator:x.db?seed=none.yaml" } },
    ["error: the seed <folder>/none.yaml can't be read: there is no such file; correct its path"],
  ],
  [
    "no endpoint",
    { command: known, environment: { MICROAPPS_ENDPOINT: "" } },
    [
      "error: no endpoint is configured: run `config set microapps:endpoint https://<platform>` for a platform, or `config set microapps:endpoint 'emulator:<file>?seed=<platform.yaml>'` for the emulator (or set MICROAPPS_ENDPOINT)",
    ],
  ],
  [
    "no password",
    { command: known, environment: { MICROAPPS_PASSWORD: "" } },
    [
      "error: no credentials are configured: set microapps:email and microapps:password (with --secret), or microapps:token and microapps:userID",
    ],
  ],
  [
    "no passphrase",
    { command: known, environment: { PULUMI_CONFIG_PASSPHRASE: undefined }, embeddedOnly: ownWords },
    [
      "error: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
    ],
  ],
  [
    "a wrong passphrase",
    { command: known, environment: { PULUMI_CONFIG_PASSPHRASE: "other" }, embeddedOnly: ownWords },
    ["error: incorrect passphrase: set PULUMI_CONFIG_PASSPHRASE to the one this stack was created with"],
  ],
  [
    "nobody to confirm",
    { command: ["up"], status: 2, embeddedOnly: "the CLI names --preview-only of up as well" },
    ["error: --yes or --skip-preview must be passed in to proceed when running in non-interactive mode"],
  ],
];

test.each(partOf(sayable(mistakes), 0))("%s", async (_, mistake, expected) => {
  expect(await bench.errorsOf(mistake)).toEqual(expected);
});

test("what is wrong everywhere is told once for each resource and by nobody else", async () => {
  await bench.outputOf({ command: later, sent: ["insertorganization"], status: 0 });
  const environment = { MICROAPPS_ENDPOINT: "<platform>", MICROAPPS_PASSWORD: "wrong-horse" };
  const output = await bench.outputOf({ command: ["refresh", "--yes", "--skip-preview"], environment });
  const [, diagnostics = ""] = output.split("Diagnostics:\n");
  expect(diagnostics.match(/Login failed/g)).toHaveLength(1);
});

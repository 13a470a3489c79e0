import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { known, later, type Mistake, MistakeBench, organization, password, program, sayable } from "./bench.ts";

// The provider and the SDK report mistakes in the same words under the Pulumi CLI: TEST_PULUMI=<path of one> tries it.
// Messages of the engine itself, about passphrases and flags, are marked.
let bench: MistakeBench;
beforeAll(async () => {
  bench = await MistakeBench.start();
  await mkdir(join(bench.project.folder, "folder.yaml"));
});
afterAll(() => bench.close());
beforeEach(() => bench.reset());

const ownWords = "engines have words of their own for this";
const seed = "seeds: { regions: { table: regions, key: Code, source: regions.csv } }\n";

/** How a problem with the input `source` of the seed begins. */
const source = "microapps:index:SeedRows resource 'environment/regions' has a problem: source:";

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
      declared: organization + seed,
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
    {
      declared: organization + seed,
      files: { "regions.csv": "Code,Name\nN,North\nS,South\nN,Nord\n" },
      command: known,
    },
    [
      `error: ${source} regions.csv:4: the natural key "N" stands at line 2 already: remove one of the two, or name more labels in key`,
    ],
  ],
  [
    "a checkbox that is text in twenty rows",
    {
      declared:
        "platform: { tables: { items: { fields: { Code: text, Discontinued: checkbox } } } }\n" +
        "seeds: { items: { table: items, key: Code, source: items.csv } }\n",
      files: {
        "items.csv": `Code,Discontinued\n${Array.from({ length: 20 }, (_, index) => `P${index},true\n`).join("")}`,
      },
      command: known,
    },
    [
      `error: microapps:index:SeedRows resource 'environment/items' has a problem: source: items.csv:2 "P0" and 19 more: Discontinued is a checkbox: write ["true"], with types: {Discontinued: checkbox}`,
    ],
  ],
  [
    "a source without rows",
    { declared: organization + seed, files: { "regions.csv": "Code,Name\n" }, command: known },
    [`error: ${source} regions.csv: has no rows; to remove the seed's rows, remove the seed itself`],
  ],
  [
    "a label that the table lacks",
    {
      declared: seed,
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
      declared: "organizations:\n  acme: { name: Acme\n",
      command: known,
    },
    [
      "error: microapps:index:Environment resource 'environment' has a problem: environment dev.yaml has a problem:",
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

const keys =
  "there is endpoint, email, password, token, userID, apiKey, providerKind, readOnly, insecure, driftOnPreview, lostData, consistencySeconds, organizationID, movedFrom, appServer, profile, wireNames";
const own = (args: string): string =>
  `const provider = new Provider("own", ${args});\nnew Organization("acme", { name: "Acme" }, { provider });\n`;

const ofConfiguration: [string, Mistake, string[]][] = [
  [
    "a mistyped readOnly, which must never mean that anything may be written",
    { program, command: known, config: { "microapps:readonly": "true" } },
    ["error: microapps:readonly is no configuration; did you mean microapps:readOnly?"],
  ],
  [
    "a key that resembles none",
    { command: known, config: { "microapps:colour": "red" } },
    [`error: microapps:colour is no configuration; ${keys}`],
  ],
  [
    "two keys at once",
    { command: known, config: { "microapps:pasword": "x", "microapps:wireName": "{}" } },
    [
      "error: microapps:pasword is no configuration; did you mean microapps:password?",
      "error: microapps:wireName is no configuration; did you mean microapps:wireNames?",
    ],
  ],
  [
    "a mistyped argument of a provider of the program's own",
    { command: known, program: own('{ endpoint: "https://x.example.com", readonly: true }') },
    ["error: Provider own: readonly is no configuration; did you mean readOnly?"],
  ],
  [
    "an app without a key",
    {
      command: known,
      declared: "apps: { portal: { userEmail: ada@example.com, appPrompt: An atlas. } }\n",
    },
    [
      "error: microapps:index:GeneratedApp resource 'environment/portal' has a problem: appPrompt: needs a key: set microapps:apiKey (--secret), or MICROAPPS_API_KEY; the platform's operator gives it",
    ],
  ],
  [
    "a mistyped variable",
    { command: known, environment: { MICROAPPS_READONLY: "true" } },
    ["error: the variable MICROAPPS_READONLY is not read; did you mean MICROAPPS_READ_ONLY?"],
  ],
  [
    "a mistyped list of allowed endpoints, which would allow any",
    { command: known, environment: { MICROAPPS_ALLOWED_ENDPOINT: "https://x.example.com" } },
    ["error: the variable MICROAPPS_ALLOWED_ENDPOINT is not read; did you mean MICROAPPS_ALLOWED_ENDPOINTS?"],
  ],
  [
    "a token without its user",
    { command: known, environment: { MICROAPPS_ENDPOINT: "<platform>", MICROAPPS_TOKEN: "token-of-ada" } },
    ["error: microapps:token needs microapps:userID beside it"],
  ],
  [
    "an endpoint without its scheme",
    { command: known, environment: { MICROAPPS_ENDPOINT: "platform.example.com" } },
    ["error: microapps:endpoint must be an address that begins with https:// (or http://), or emulator:<file>"],
  ],
  [
    "a key of the stack that `api` reads",
    {
      command: ["api", "readteam", '{"teamID": "x"}'],
      config: { "microapps:readonly": "true" },
      embeddedOnly: "the CLI has no such command",
    },
    ["error: microapps:readonly is no configuration; did you mean microapps:readOnly?"],
  ],
];

// Profiles, and the commands that look at a platform: what is wrong is named before anything changes there.
const embeddedOnly = "the CLI has no such command";

const profiles: [string, string, string][] = [
  [
    "an unknown habit",
    "version: 1\nhabits: { skipFrom: text }\n",
    'error: <folder>/own.yaml:2:21: habits.skipFrom: is not known here; did you mean "skipForm"?',
  ],
  [
    "a habit that is gone",
    "version: 1\nhabits: { viewFilters: ignored }\n",
    "error: <folder>/own.yaml:2:24: habits.viewFilters: habit viewFilters is gone: take its line out. What the platform does there is understood without a setting, or refused by name",
  ],
  [
    "a value that the habit does not have",
    "version: 1\nhabits:\n  skipForm: sometimes\n",
    "error: <folder>/own.yaml:3:13: habits.skipForm: must be either, number or text",
  ],
  [
    "a habit twice",
    "version: 1\nhabits:\n  skip: ignored\n  skip: honoured\n",
    "error: <folder>/own.yaml:4:3: is not valid YAML: Map keys must be unique; correct it",
  ],
  [
    "no YAML",
    "version: 1\nhabits: [\n",
    "error: <folder>/own.yaml:3:1: is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]; correct it",
  ],
  [
    "a status word for a state that there is not",
    "version: 1\nstatusWords: { baked: finished }\n",
    "error: <folder>/own.yaml:2:23: statusWords.baked: must be pending, ready or failed",
  ],
  [
    "a file beyond the bound",
    `# ${"x".repeat(4 * 2 ** 20)}\nversion: 1\n`,
    "error: the profile <folder>/own.yaml can't be read: it has more than 4 MB; split it, or keep rows in a .csv or .ndjson file",
  ],
];
const places: [string, string, string][] = [
  [
    "a folder",
    "folder.yaml",
    "error: the profile <folder>/folder.yaml can't be read: it is a folder; name the file in it",
  ],
  [
    "no file",
    "missing.yaml",
    "error: the profile <folder>/missing.yaml can't be read: there is no such file; correct its path",
  ],
];

const ofPlatforms: [string, Mistake, string[]][] = [
  ...profiles.map(([what, text, message]): [string, Mistake, string[]] => [
    `microapps:profile: ${what}`,
    { command: known, config: { "microapps:profile": "own.yaml" }, files: { "own.yaml": text } },
    [message],
  ]),
  ...places.map(([what, file, message]): [string, Mistake, string[]] => [
    `microapps:profile: ${what}`,
    { command: known, config: { "microapps:profile": file } },
    [message],
  ]),
  [
    "verify without a sandbox",
    { command: ["verify"], status: 2, embeddedOnly },
    [
      "error: nothing was changed: verify makes and removes things, so it works only in an organization and in tables that are named for it: --sandbox organization=new makes one for the run, --sandbox countries=<ID> names an empty table",
    ],
  ],
  [
    "verify with a name that no sandbox has",
    { command: ["verify", "--sandbox", "countrys=regions"], status: 2, embeddedOnly },
    ["error: nothing was changed: --sandbox countrys=regions names nothing of a sandbox: did you mean countries=…?"],
  ],
];

test.each(sayable([...mistakes, ...ofConfiguration, ...ofPlatforms]))("%s", async (_, mistake, expected) => {
  expect(await bench.errorsOf(mistake)).toEqual(expected);
});

test("what is wrong everywhere is told once for each resource and by nobody else", async () => {
  await bench.outputOf({ program, command: later, sent: ["insertorganization"], status: 0 });
  const environment = { MICROAPPS_ENDPOINT: "<platform>", MICROAPPS_PASSWORD: "wrong-horse" };
  const output = await bench.outputOf({ command: ["refresh", "--yes", "--skip-preview"], environment });
  const [, diagnostics = ""] = output.split("Diagnostics:\n");
  expect(diagnostics.match(/Login failed/g)).toHaveLength(1);
});

test("a secret in clear is a warning that says how to make it one, once", async () => {
  const output = await bench.outputOf({
    command: later,
    config: { "microapps:password": password },
    program: program + 'new Organization("zeta", { name: "Zeta" });\n',
    sent: ["insertorganization", "insertorganization"],
    status: 0,
  });
  const [, diagnostics = ""] = output.split("Diagnostics:\n");
  expect(diagnostics.match(/.*stands in clear.*/g)).toEqual([
    "    warning: microapps:password stands in clear in the configuration of the stack: encrypt it with " +
      "'pulumi config set --secret microapps:password' (or 'microapps config set --secret microapps:password')",
  ]);
});

test("an encrypted one is none", async () => {
  const output = await bench.outputOf({ command: later, sent: ["insertorganization"], status: 0 });
  expect(output).not.toContain("stands in clear");
});

test("what a state remembers is refused too, with the way out, and then works", async () => {
  await bench.outputOf({ program, command: later, sent: ["insertorganization"], status: 0 });
  const state = await bench.project.stateText();
  const remembered = state.replaceAll('"microapps:email":', '"microapps:readonly": "true", "microapps:email":');
  await bench.project.write(".pulumi/stacks/tests/dev.json", remembered);
  const mistake = { command: ["destroy", "--yes", "--skip-preview"] as const };
  expect(await bench.errorsOf(mistake)).toEqual([
    "error: microapps:readonly is no configuration; did you mean microapps:readOnly? (a refresh or destroy goes by what was configured at the last up: correct it, then run up first)",
  ]);
  await bench.outputOf({ program, command: later, status: 0 });
  await bench.outputOf({ ...mistake, sent: ["deleteorganization"], status: 0 });
});

import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../emulator/index.ts";
import { leftRunning } from "./processes.ts";
import { Project } from "./project.ts";

let project: Project;
/** The state of the stack before anything is done. */
let empty: string;
/** An address where nobody answers any more. */
let nobody: string;
let emulator: Emulator;
beforeAll(async () => {
  emulator = await createEmulator({
    seed: { tables: { regions: { fields: { Code: "text", Name: "text" } } } },
  });
  project = await Project.running("", {
    "microapps:endpoint": emulator.url,
    "microapps:email": "admin@example.com",
    "microapps:password": "admin",
  });
  await project.succeed("stack init dev");
  empty = await project.stateText();
  const gone = await createEmulator();
  nobody = gone.url;
  await gone.close();
});
afterAll(async () => {
  const left = await leftRunning(project.folder);
  await project.remove();
  await emulator.close();
  expect(left).toEqual([]);
});
beforeEach(async () => {
  await emulator.reset();
  await project.write(".pulumi/stacks/tests/dev.json", empty);
});

const imports =
  'import { Environment, Organization, SeedRows, Team, TeamMember, TeamRoster } from "pulumi-microapps";\n';
const organization = 'new Organization("acme", { name: "Acme" });\n';
const seed = 'new SeedRows("regions", { table: "regions", key: "Code", source: "regions.csv" });\n';

/** How a problem with the input `source` of the seed begins. */
const source = "pulumi-nodejs:dynamic/microapps:SeedRows resource 'regions' property 'source' has a problem:";

interface Mistake {
  program?: string;
  files?: Readonly<Record<string, string>>;
  environment?: Readonly<Record<string, string | undefined>>;
  command: readonly [string, ...string[]];
  /** Endpoints of the changing calls that are made before the mistake can be known; none unless said otherwise. */
  sent?: string[];
}

/** Makes a mistake, and tells what is printed. */
async function outputOf({
  program = organization,
  files = {},
  environment = {},
  command,
  sent = [],
}: Mistake): Promise<string> {
  await project.write("index.ts", imports + program);
  for (const [file, text] of Object.entries(files)) await project.write(file, text);
  const set = Object.entries(environment).map(([name, value]) => [
    name,
    value?.replace("<nobody>", nobody).replace("<platform>", emulator.url),
  ]);
  const before = { ...project.environment };
  Object.assign(project.environment, Object.fromEntries(set));
  const since = emulator.lastCall();
  const { status, output } = await project.run(...command);
  for (const [name = ""] of set) project.environment[name] = before[name];
  expect(`status ${status}\n${output}`).not.toMatch(/^status 0/);
  expect(output).not.toMatch(/^\s+at |node:internal|\.js:\d/m); // no stack trace
  expect(emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint)).toEqual(sent);
  return output.replaceAll(nobody, "<nobody>").replaceAll(project.folder, "<folder>");
}

/** What is told as an error: under the last Diagnostics, or all that is printed. */
function errorsIn(output: string): string[] {
  const [last = ""] = output.split("Diagnostics:\n").slice(-1);
  const [told = ""] = last.split("\n\nResources:");
  return told
    .slice(Math.max(0, told.indexOf("error: ")))
    .trimEnd()
    .split(/\n\s*/);
}

const known = ["up", "--yes"] as const; // what a preview finds out, nothing has been sent for
const later = ["up", "--yes", "--skip-preview"] as const;

test.each<[string, Mistake, string[]]>([
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
    "a natural key that stands twice in a CSV",
    { program: organization + seed, files: { "regions.csv": "Code,Name\nN,North\nS,South\nN,Nord\n" }, command: known },
    [
      `error: ${source} regions.csv:4: the natural key "N" stands at line 2 already: remove one of the two, or name more labels in key`,
    ],
  ],
  [
    "a source without rows",
    { program: organization + seed, files: { "regions.csv": "Code,Name\n" }, command: known },
    [`error: ${source} regions.csv: has no rows; to remove the seed's rows, remove the SeedRows itself`],
  ],
  [
    "a label that the table lacks",
    {
      program: seed,
      files: { "regions.csv": "Code,Nam\nN,North\nS,South\n" },
      command: later,
      sent: ["insertmicroapprows"], // the platform tells by what it keeps
    },
    [
      "error: resource partially created but not ready: 2 rows of table regions are as declared, but:",
      'regions.csv:2 and 1 more: table regions did not keep the label "Nam": add the field to the table, or remove the label from the source (labels are case sensitive)',
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
      "error: no credentials are configured: set microapps:email and microapps:password (with --secret), or microapps:token and microapps:userId",
    ],
  ],
  [
    "no passphrase",
    { command: known, environment: { PULUMI_CONFIG_PASSPHRASE: undefined } },
    [
      "error: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
    ],
  ],
  [
    "a wrong passphrase",
    { command: known, environment: { PULUMI_CONFIG_PASSPHRASE: "other" } },
    ["error: incorrect passphrase: set PULUMI_CONFIG_PASSPHRASE to the one this stack was created with"],
  ],
  [
    "a stack that is not there",
    { command: ["up", "--yes", "--stack", "prod"] },
    ["error: no stack named 'prod' found: make it with 'stack init prod'"],
  ],
  [
    "an unknown flag",
    { command: ["up", "--yess"] },
    ["error: unknown option '--yess'", "(Did you mean --yes?)", "(microapps --help says what there is)"],
  ],
  [
    "an unknown command",
    { command: ["upp"] },
    ["error: unknown command 'upp'", "(Did you mean up?)", "(microapps --help says what there is)"],
  ],
  [
    "a flag that the embedded engine refuses",
    { command: ["up", "--target", "urn"] },
    [
      "error: --target: the embedded engine does not do this (work on a part of a stack); the Pulumi CLI does, on the same state",
    ],
  ],
  [
    "nobody to confirm",
    { command: ["up"] },
    ["error: --yes or --skip-preview must be passed in to proceed when running in non-interactive mode"],
  ],
])("%s", async (_, mistake, expected) => {
  expect(errorsIn(await outputOf(mistake))).toEqual(expected);
});

test("what is wrong everywhere is told once for each resource and by nobody else", async () => {
  await project.write("index.ts", imports + organization);
  await project.succeed("up --yes --skip-preview");
  Object.assign(project.environment, { MICROAPPS_ENDPOINT: emulator.url, MICROAPPS_PASSWORD: "wrong-horse" });
  const output = await outputOf({ command: ["refresh", "--yes", "--skip-preview"] });
  Object.assign(project.environment, { MICROAPPS_ENDPOINT: undefined, MICROAPPS_PASSWORD: undefined });
  const [, diagnostics = ""] = output.split("Diagnostics:\n");
  expect(diagnostics.match(/Login failed/g)).toHaveLength(1);
});

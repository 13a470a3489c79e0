import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../testing/harness/commands.ts";
import { environmentOf } from "../../testing/harness/project.ts";
import { Repository } from "../report/testing/repository.ts";

// docs/exit-statuses.md, row by row: a command, how things are, how it ends and with which words.

const listed = 'dev: { file: dev.yaml, endpoint: "https://platform.example.com" }\n';
const declared = "organizations: { acme: { name: Acme } }\n";
const resource = (platform: string): string =>
  JSON.stringify({
    version: 3,
    deployment: {
      resources: [
        {
          urn: "urn:pulumi:other::tests::microapps:index:Organization::acme",
          type: "microapps:index:Organization",
          id: "gone",
          inputs: { name: "Acme" },
          outputs: { name: "Acme", ...(platform === "" ? {} : { platform }) },
        },
      ],
    },
  });
const files = {
  "environments.yaml": listed,
  "dev.yaml": declared,
  "platform.yaml": "administrator: { email: admin@example.com, password: change-me-first }\n",
  "empty.json": JSON.stringify({ version: 3, deployment: { resources: [] } }),
  "gone.json": resource(""),
  "moved.json": resource("elsewhere"),
  "none.json": "{}\n",
};

let repository: Repository;
beforeAll(() => void (repository = new Repository(files)));
afterEach(() => {
  repository.git("checkout", "--quiet", "--", ".");
  repository.git("clean", "--quiet", "-d", "--force");
});
afterAll(() => repository.remove());

interface Situation {
  /** Files that are otherwise; without a text one is gone. */
  files?: Readonly<Record<string, string | undefined>>;
  variables?: Readonly<Record<string, string>>;
}
type Row = [command: string, situation: string, status: number, said: string, how?: Situation];

const run = (line: string, variables: Readonly<Record<string, string>> = {}) =>
  runCommand({
    words: line.split(" "),
    folder: repository.folder,
    environment: environmentOf({
      NO_COLOR: "1",
      PULUMI_HOME: join(repository.folder, ".git/home"),
      XDG_STATE_HOME: join(repository.folder, ".git/state"),
      ...variables,
    }),
  });

const today = new Date().toISOString().slice(0, 10);
const broken = { "dev.yaml": "organizations: { acme: { nmae: Acme } }\n" };
const platform = {
  MICROAPPS_ENDPOINT: "emulator::memory:?seed=platform.yaml",
  MICROAPPS_ALLOWED_ENDPOINTS: "emulator:",
  MICROAPPS_EMAIL: "admin@example.com",
  MICROAPPS_PASSWORD: "change-me-first",
};
const noList = { files: { "environments.yaml": undefined } };
const wrongList = { files: { "environments.yaml": "dev: { fiel: dev.yaml }\n" } };

const rows: Row[] = [
  ["environment check dev.yaml", "it is sound", 0, "environment dev.yaml is sound: 1 organization"],
  ["environment check dev.yaml", "it has a mistake", 2, "dev.yaml:1:26: unknown key", { files: broken }],
  ["environment check -s prod", "its file is not there", 2, "prod.yaml:1:1: can't be read: there is no such file"],
  ["environment check", "no file is named", 1, "name the Environment file, or its stack with --stack"],
  ["environment check dev.yaml --base nowhere", "there is no such commit", 1, 'no commit "nowhere"'],
  ["environment show dev.yaml", "it is sound", 0, "name: Acme"],
  ["environment show dev.yaml", "it has a mistake", 2, "dev.yaml:1:26: unknown key", { files: broken }],

  ["report", "nothing changes", 0, "dev"],
  ["report", "something changes", 0, "Acme 2", { files: { "dev.yaml": declared.replace("Acme", "Acme 2") } }],
  [
    "report --expect-no-changes",
    "something changes",
    7,
    "Acme 2",
    { files: { "dev.yaml": declared.replace("Acme", "Acme 2") } },
  ],
  ["report", "the file has a mistake", 2, "dev.yaml:1:26", { files: broken }],
  [
    "report",
    "a rule is broken",
    2,
    "says never",
    { files: { "dev.yaml": `${declared}rules: [{ path: organizations.*.name, never: true }]\n` } },
  ],
  ["report prod", "the environment is not listed", 6, "environments.yaml does not list prod; there is dev"],
  ["report", "environments.yaml has a mistake", 1, "environments.yaml:1:1: dev.file is required", wrongList],
  ["report", "environments.yaml goes", 0, "environments.yaml", noList],
  ["report --base nowhere", "there is no such commit", 1, 'no commit "nowhere"'],
  ["report --all dev", "all and one are asked for", 1, "--all and names of environments cannot be used together"],
  ["report --state empty.json", "a state is for no environment", 1, "--state is of one stack"],

  ["drift other --state empty.json", "nothing was changed", 0, "no drift", { variables: platform }],
  ["drift other --state gone.json", "something is gone", 7, "acme", { variables: platform }],
  ["drift other --state gone.json --tolerate --because audit", "it is tolerated", 0, "acme", { variables: platform }],
  [
    "drift other --state gone.json",
    "the login is refused",
    3,
    "not compared",
    { variables: { ...platform, MICROAPPS_PASSWORD: "not the password" } },
  ],
  [
    "drift other --state moved.json",
    "the state is of another platform",
    4,
    "nothing was sent",
    { variables: platform },
  ],
  ["drift dev --state empty.json", "the list has another endpoint", 4, "nothing was sent", { variables: platform }],
  ["drift other --state none.json", "the state is none", 1, "it is neither a state file nor", { variables: platform }],
  [
    "drift other --state empty.json",
    "drift.yaml has a mistake",
    1,
    "drift.yaml:1:1",
    { files: { "drift.yaml": "dev: {}\n" }, variables: platform },
  ],
  [
    "drift other --state empty.json",
    "drift.yaml accepts something of an environment that there is not",
    0,
    "drift.yaml:1:3: there is no environment prdo: correct it, or delete it",
    {
      files: { "drift.yaml": `- { environment: prdo, thing: acme, because: audit, until: ${today} }\n` },
      variables: platform,
    },
  ],
  ["report --from dev --to dev", "nothing differs", 0, "nothing differs"],
  [
    "report --from dev --to other.yaml --expect-no-changes",
    "something differs",
    7,
    "Acme 2",
    { files: { "other.yaml": declared.replace("Acme", "Acme 2") } },
  ],
  ["report --from dev --to prod", "there is no such environment", 1, "does not list prod; there is dev"],
  ["report --from dev", "one side is missing", 1, "--from and --to name one environment each"],
  ["report --from dev --to dev --base HEAD", "a base is named as well", 1, "leave --base out"],
  [
    "report --data-only",
    "data alone change",
    0,
    "Acme 2",
    { files: { "dev.yaml": declared.replace("Acme", "Acme 2") } },
  ],
  ["report --data-only", "code changes", 2, "Also changed, may run", { files: { "index.ts": "process.exit();\n" } }],
  ["report --expect-no-changes", "code changes", 7, "index.ts", { files: { "index.ts": "process.exit();\n" } }],
  [
    "pull dev --state gone.json",
    "what is gone is tolerated",
    0,
    "1 change left, as drift.yaml says",
    {
      files: {
        "environments.yaml": "dev: { file: dev.yaml }\n",
        "drift.yaml": `- { environment: dev, thing: acme, because: audit, until: ${today} }\n`,
      },
      variables: platform,
    },
  ],
  ["pull", "nobody lists environments", 1, "there is no environments.yaml", noList],
  ["drift --tolerate", "nobody says why", 1, "--tolerate needs --because"],
  ["drift nowhere", "there is no such stack", 6, "no stack named 'nowhere' found"],

  ["ci github --check", "it was not written", 7, "is missing: write it with"],
  ["ci github", "nothing is there", 0, "microapps-drift.yml written"],
  ["ci gitlab", "there is no environments.yaml", 1, "there is no environments.yaml beside Pulumi.yaml", noList],
  ["ci jenkins", "the system is unknown", 1, "Allowed choices are github, gitlab"],
];

describe("a command ends with the status that is documented", () => {
  test.each(rows)("%s: %s: %i", async (command, _, status, said, how = {}) => {
    for (const [file, text] of Object.entries(how.files ?? {})) {
      if (text === undefined) rmSync(join(repository.folder, file));
      else repository.write({ [file]: text });
    }
    const ended = await run(command, how.variables);
    expect(ended).toEqual({ status, output: expect.stringContaining(said) as unknown });
  });
});

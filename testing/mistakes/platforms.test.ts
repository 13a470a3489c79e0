import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { known, MistakeBench, sayable, type Mistake } from "./bench.ts";

// Profiles, and the commands that look at a platform: what is wrong is named before anything changes there.

let bench: MistakeBench;
beforeAll(async () => {
  bench = await MistakeBench.start();
  await mkdir(join(bench.project.folder, "folder.yaml"));
});
afterAll(() => bench.close());
beforeEach(() => bench.reset());

const embeddedOnly = "the CLI has no such command";
const sandbox = ["--sandbox", "--new", "--table", "currencies:regions"] as const;
const verify = (...flags: string[]): Mistake => ({ command: ["verify", ...flags], status: 2, embeddedOnly });

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

const mistakes: [string, Mistake, string[]][] = [
  ...profiles.map(([what, text, message]): [string, Mistake, string[]] => [
    `verify --profile: ${what}`,
    { ...verify(...sandbox, "--profile", "own.yaml"), files: { "own.yaml": text } },
    [message],
  ]),
  ...places.flatMap(([what, file, message]): [string, Mistake, string[]][] => [
    [`verify --profile: ${what}`, verify(...sandbox, "--profile", file), [message]],
    [`microapps:profile: ${what}`, { command: known, config: { "microapps:profile": file } }, [message]],
  ]),
  [
    "microapps:profile with a mistake in it",
    {
      command: known,
      config: { "microapps:profile": "own.yaml" },
      files: { "own.yaml": "version: 1\nhabits: { skipFrom: text }\n" },
    },
    ['error: <folder>/own.yaml:2:21: habits.skipFrom: is not known here; did you mean "skipForm"?'],
  ],
  [
    "verify --write-profile into a folder that is not there",
    verify(...sandbox, "--write-profile", "nowhere/own.yaml"),
    ["error: nothing was sent: the profile nowhere/own.yaml can't be written: there is no folder <folder>/nowhere"],
  ],
  [
    "verify --write-profile over a folder",
    verify(...sandbox, "--write-profile", "folder.yaml"),
    ["error: nothing was sent: the profile folder.yaml can't be written: it is a folder; name the file in it"],
  ],
  [
    "verify without a sandbox",
    verify("--new", "--table", "currencies:regions"),
    [
      "error: nothing was sent: verify makes and removes things, so it works only in an organization and in tables that are for tests: say so with --sandbox",
    ],
  ],
  [
    "verify with both",
    verify(...sandbox, "--in", "acme"),
    ["error: nothing was sent: say either --in <organizationID>, or --new for an organization of the run's own"],
  ],
  [
    "verify in an organization that is not there",
    verify("--test-bed", "--in", "nowhere", "--table", "currencies:regions"),
    [
      "error: nothing was tried: readorganization: Organization not found: nowhere. Check the ID; it may have been deleted on the platform.",
    ],
  ],
  [
    "verify with facts that are none",
    { ...verify(...sandbox, "--facts", "own.yaml"), files: { "own.yaml": "version: 1\nfacts: { login: {} }\n" } },
    [
      "error: own.yaml:2:10: facts.login.rule: is required",
      "own.yaml:2:10: facts.login.evidence: is required",
      "own.yaml:2:10: facts.login.steps: is required",
    ],
  ],
];

test.each(sayable(mistakes))("%s", async (_, { command: [name, ...words], ...mistake }, expected) => {
  expect(await bench.errorsOf({ ...mistake, command: [name, ...words] })).toEqual(expected);
});

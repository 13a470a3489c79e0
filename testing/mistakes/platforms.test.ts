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
    "microapps:profile with a mistake in it",
    {
      command: known,
      config: { "microapps:profile": "own.yaml" },
      files: { "own.yaml": "version: 1\nhabits: { skipFrom: text }\n" },
    },
    ['error: <folder>/own.yaml:2:21: habits.skipFrom: is not known here; did you mean "skipForm"?'],
  ],
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

test.each(sayable(mistakes))("%s", async (_, mistake, expected) => {
  expect(await bench.errorsOf(mistake)).toEqual(expected);
});

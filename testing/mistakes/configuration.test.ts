import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { partOf } from "../harness/drawn.ts";
import { known, later, type Mistake, MistakeBench, organization, password, sayable } from "./bench.ts";

let bench: MistakeBench;
beforeAll(async () => (bench = await MistakeBench.start()));
afterAll(() => bench.close());
beforeEach(() => bench.reset());

const keys =
  "there is endpoint, email, password, token, userID, apiKey, providerKind, readOnly, insecure, driftOnPreview, lostData, consistencySeconds, organizationID, movedFrom, appServer, profile, wireNames";
const own = (args: string): string =>
  `const provider = new Provider("own", ${args});\nnew Organization("acme", { name: "Acme" }, { provider });\n`;

const mistakes: [string, Mistake, string[]][] = [
  [
    "a mistyped readOnly, which must never mean that anything may be written",
    { command: known, config: { "microapps:readonly": "true" } },
    ["error: microapps:readonly is no configuration; did you mean microapps:readOnly?"],
  ],
  [
    "the same without a preview",
    { command: later, config: { "microapps:readOnyl": "true" } },
    ["error: microapps:readOnyl is no configuration; did you mean microapps:readOnly?"],
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
      "error: microapps:pasword is no configuration; did you mean microapps:password?; microapps:wireName is no configuration; did you mean microapps:wireNames?",
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
      program: 'new GeneratedApp("portal", { userEmail: "ada@example.com", appPrompt: "An atlas." });\n',
    },
    [
      "error: pulumi-nodejs:dynamic/microapps:GeneratedApp resource 'portal' has a problem: appPrompt: needs a key: set microapps:apiKey (--secret), or MICROAPPS_API_KEY; the platform's operator gives it",
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

test.each(partOf(sayable(mistakes), 1))("%s", async (_, mistake, expected) => {
  expect(await bench.errorsOf(mistake)).toEqual(expected);
});

test("a secret in clear is a warning that says how to make it one, once", async () => {
  const output = await bench.outputOf({
    command: later,
    config: { "microapps:password": password },
    program: organization + 'new Organization("zeta", { name: "Zeta" });\n',
    sent: ["insertorganization", "insertorganization"],
    status: 0,
  });
  const [, diagnostics = ""] = output.split("Diagnostics:\n");
  expect(diagnostics.match(/.*stands in clear.*/g)).toEqual([
    "    warning: microapps:password stands in clear in the configuration of the stack: encrypt it with " +
      "'pulumi config set --secret microapps:password' (or 'microapps config set --secret microapps:password')",
  ]);
});

test("a program that believes every certificate is warned of it", async () => {
  const output = await bench.outputOf({
    command: later,
    environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    sent: ["insertorganization"],
    status: 0,
  });
  const [, diagnostics = ""] = output.split("Diagnostics:\n");
  expect(diagnostics.match(/warning: NODE_TLS_REJECT_UNAUTHORIZED=0 believes every certificate/g)).toHaveLength(1);
});

test("an encrypted one is none", async () => {
  const output = await bench.outputOf({ command: later, sent: ["insertorganization"], status: 0 });
  expect(output).not.toContain("stands in clear");
});

test("what a state remembers is refused too, with the way out, and then works", async () => {
  await bench.outputOf({ command: later, sent: ["insertorganization"], status: 0 });
  const state = await bench.project.stateText();
  const remembered = state.replaceAll('"microapps:email":', '"microapps:readonly": "true", "microapps:email":');
  await bench.project.write(".pulumi/stacks/tests/dev.json", remembered);
  const mistake = { command: ["destroy", "--yes", "--skip-preview"] as const };
  expect(await bench.errorsOf(mistake)).toEqual([
    "error: microapps:readonly is no configuration; did you mean microapps:readOnly? (a refresh or destroy goes by what was configured at the last up: correct it, then run up first)",
  ]);
  await bench.outputOf({ command: later, status: 0 });
  await bench.outputOf({ ...mistake, sent: ["deleteorganization"], status: 0 });
});

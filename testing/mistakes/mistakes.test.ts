import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { casesIn } from "../harness/cases.ts";
import { known, later, type Mistake, MistakeBench, password, program, sayable } from "./bench.ts";

// The provider and the SDK report mistakes in the same words under the Pulumi CLI: TEST_PULUMI=<path of one> tries it.
// Messages of the engine itself, about passphrases and flags, are marked.
let bench: MistakeBench;
beforeAll(async () => {
  bench = await MistakeBench.start();
  await mkdir(join(bench.project.folder, "folder.yaml"));
});
afterAll(() => bench.close());
beforeEach(() => bench.reset());

/** An entry of testdata/mistakes.yaml. */
type Entry = Omit<Mistake, "command"> & { what: string; command: string | Mistake["command"]; says: string | string[] };
const entries = casesIn("testing/mistakes/testdata/mistakes.yaml") as Entry[];
const commands: Readonly<Record<string, Mistake["command"]>> = { known, later };
const mistakes = entries.map(({ what, says, command, environment = {}, ...rest }) => {
  const set = Object.entries(environment).map(([name, value]) => [name, value ?? undefined] as const);
  const mistake: Mistake = {
    ...{ ...rest, environment: Object.fromEntries(set) },
    command: typeof command === "string" ? (commands[command] ?? known) : command,
  };
  return [what, mistake, [says].flat()] as const;
});

test.each(sayable(mistakes))("%s", async (_, mistake, expected) => {
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
  expect(diagnostics.match(/.*is in plain text.*/g)).toEqual([
    "    warning: microapps:password is in plain text in the configuration of the stack: encrypt it with " +
      "'pulumi config set --secret microapps:password' (or 'microapps config set --secret microapps:password')",
  ]);
});

test("an encrypted one is none", async () => {
  const output = await bench.outputOf({ command: later, sent: ["insertorganization"], status: 0 });
  expect(output).not.toContain("is in plain text");
});

test("what a state remembers is refused too, with the way out, and then works", async () => {
  await bench.outputOf({ program, command: later, sent: ["insertorganization"], status: 0 });
  const state = await bench.project.stateText();
  const remembered = state.replaceAll('"microapps:email":', '"microapps:readonly": "true", "microapps:email":');
  await bench.project.write(".pulumi/stacks/tests/dev.json", remembered);
  const mistake = { command: ["destroy", "--yes", "--skip-preview"] as const };
  expect(await bench.errorsOf(mistake)).toEqual([
    "error: microapps:readonly is not a setting; did you mean microapps:readOnly? (a refresh or destroy goes by what was configured at the last up: correct it, then run up first)",
  ]);
  await bench.outputOf({ program, command: later, status: 0 });
  await bench.outputOf({ ...mistake, sent: ["deleteorganization"], status: 0 });
});

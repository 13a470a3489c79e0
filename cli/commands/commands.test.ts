import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../testing/harness/commands.ts";
import { environmentOf, Project } from "../../testing/harness/project.ts";

let project: Project;
beforeAll(async () => (project = await Project.running("", {})));
afterAll(() => project.remove());

/** Runs words in the project's folder or one below it, without choosing a stack for them. */
async function errorsOf(
  words: string,
  below = "",
  more: Readonly<Record<string, string>> = {},
): Promise<{ status: number; lines: string[] }> {
  const { status, output } = await runCommand({
    words: words.split(" ").filter(Boolean),
    folder: join(project.folder, below),
    environment: environmentOf({ ...project.environment, ...more }),
  });
  return { status, lines: output.replaceAll(project.folder, "<folder>").trimEnd().split("\n") };
}

const help = "(microapps --help lists the commands)";

const elsewhere = "(The Pulumi CLI, which may have it, works on the same state.)";

const unmade = (name: string, why: string): string =>
  `error: ${name}: the embedded engine does not do this (${why}): unset it, or use the Pulumi CLI`;

const dashed = (value: string, ...advice: string[]): [string, string[], number] => [
  `config set microapps:password ${value}`,
  ["error: use -- before a value that begins with -: config set <key> -- <value>", ...advice, help],
  1,
];

test.each<[string, string[], number]>([
  ["upp", ["error: unknown command 'upp'", "(Did you mean up?)", help], 1],
  ["history", ["error: unknown command 'history'", elsewhere, help], 1],
  [
    "doctor --table regions",
    [
      "error: --table regions must have the form <table ID>:<label>[+<label>…][:<file>], as in countries:Code or offices:City+Name:offices.csv",
    ],
    1,
  ],
  [
    "merge-driver base ours theirs rows.csv 7",
    [
      "error: microapps merge-driver is gone: Git merges files of rows by lines. Take its lines out of .gitattributes and run `git config --remove-section merge.microapps`; `microapps environment check` names conflicts that were left",
      help,
    ],
    129,
  ],
  ["stack import --file x", ["error: unknown command 'stack import'", elsewhere, help], 1],
  ["up --yess", ["error: unknown option '--yess'", "(Did you mean --yes?)", help], 1],
  [
    "up --parallel x",
    ["error: option '-p, --parallel <number>' argument 'x' is invalid. must be a whole number from 1", help],
    1,
  ],
  // Whatever begins with "-" may be a secret, and is not repeated.
  ...["-sup3r-secret", "--sup3r-secret", "--secret=sup3r"].map((value) => dashed(value)),
  dashed("--secert x", "(Did you mean --secret?)"),
  ["import microapps:index:Team crew 1 --yes", ["error: unknown command 'import'", elsewhere, help], 1],
  ["api nothing", ["error: there is no endpoint 'nothing': 'microapps api' lists them"], 1],
  ["preview --emoji --stack dev", ["error: unknown option '--emoji'", elsewhere, help], 1],
  ["--stack dev preview --verbose=3", ["error: unknown option '--verbose=3'", elsewhere, help], 1],
  ["up --yes --preview-only", ["error: unknown option '--preview-only'", elsewhere, help], 1],
  ["destroy --yes --preview-only", ["error: --yes and --preview-only cannot be used together"], 1],
])("microapps %s", async (words, lines, status) => {
  expect(await errorsOf(words)).toEqual({ status, lines });
});

const onItsLine = (variable: string): string =>
  `error: ${variable}: the embedded engine takes flags from its command line alone: unset it`;
const unselected = "error: no stack selected: create one with 'stack init <name>'";

test.each<[string, Record<string, string>, string]>([
  ["up --yes", { OPTION_TARGET: "urn" }, onItsLine("PULUMI_OPTION_TARGET")],
  ["preview", { OPTION_JSON: "true" }, onItsLine("PULUMI_OPTION_JSON")],
  ["up --yes", { OPTION_TARGET: "", OPTION_REMOTE: "false", CONTINUE_ON_ERROR: "false" }, unselected],
  ["up --yes", { CONTINUE_ON_ERROR: "1" }, onItsLine("PULUMI_CONTINUE_ON_ERROR")],
  ["destroy --yes", { RUN_PROGRAM: "true" }, onItsLine("PULUMI_RUN_PROGRAM")],
  ["stack ls", { DIY_BACKEND_GZIP: "true" }, unmade("PULUMI_DIY_BACKEND_GZIP", "compressed states")],
  ["stack ls", { RETAIN_CHECKPOINTS: "TRUE" }, unmade("PULUMI_RETAIN_CHECKPOINTS", "a copy of each state that was")],
])("microapps %s with the Pulumi CLI's variables %j", async (words, variables, line) => {
  const named = Object.entries(variables).map(([name, value]) => [`PULUMI_${name}`, value] as const);
  expect((await errorsOf(words, "", Object.fromEntries(named))).lines).toEqual([line]);
});

test("a backend of the old layout without projects is neither made nor read; one that is there is used", async () => {
  const folder = join(project.folder, "elsewhere");
  await mkdir(folder);
  const place = { PULUMI_BACKEND_URL: `file://${folder}` };
  const asking = { ...place, PULUMI_DIY_BACKEND_LEGACY_LAYOUT: "true" };
  expect(await errorsOf("stack init old --no-select", "", asking)).toEqual({
    status: 1,
    lines: [unmade("PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "the old layout without projects")],
  });
  expect(await readdir(folder)).toEqual([]);
  expect(await errorsOf("stack init one --no-select", "", place)).toMatchObject({ status: 0 });
  expect(await errorsOf("stack init two --no-select", "", asking)).toMatchObject({ status: 0 });
  await rm(join(folder, ".pulumi/meta.yaml"));
  await writeFile(join(folder, ".pulumi/stacks/dev.json"), "{}");
  expect((await errorsOf("up --yes", "", place)).lines).toEqual([
    expect.stringMatching(/has the old layout without projects: .*run 'pulumi state upgrade'/),
  ]);
});

test("stacks that are not there, or not chosen", async () => {
  expect(await errorsOf("up --yes")).toEqual({
    status: 1,
    lines: ["error: no stack selected: create one with 'stack init <name>'"],
  });
  expect(await errorsOf("stack")).toEqual({
    status: 0,
    lines: ["There is no stack yet: create one with 'stack init <name>'", "NAME  LAST UPDATE  RESOURCE COUNT"],
  });
  for (const name of ["dev", "prod"]) await errorsOf(`stack init ${name} --no-select`);
  expect(await errorsOf("up --yes")).toEqual({
    status: 1,
    lines: ["error: no stack selected: name dev or prod with --stack, or choose one with 'stack select <name>'"],
  });
  expect(await errorsOf("cancel --yes")).toMatchObject({
    status: 1,
    lines: [expect.stringContaining("name dev or prod")],
  });
  const near = "error: no stack named 'prd' found; did you mean 'prod'? If not, create it with 'stack init prd'";
  expect(await errorsOf("preview -s prd")).toEqual({ status: 6, lines: [near] });
  expect(await errorsOf("stack select prd")).toEqual({ status: 6, lines: [near] });
  expect(await errorsOf("preview -s staging")).toEqual({
    status: 6,
    lines: ["error: no stack named 'staging' found: there is dev, prod; create it with 'stack init staging'"],
  });
  expect(await errorsOf("destroy --yes -s dev")).toEqual({
    status: 0,
    lines: ["The stack 'dev' has no resources: there is nothing to destroy."],
  });
  const { lines } = await errorsOf("stack");
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["NAME", "dev", "prod"]);
});

test("a project that requires another version of Pulumi is not run", async () => {
  const manifest = await project.read("Pulumi.yaml");
  await errorsOf("stack init versions --no-select");
  const required = (range: string): Promise<void> =>
    project.write("Pulumi.yaml", JSON.stringify({ ...(JSON.parse(manifest) as object), requiredPulumiVersion: range }));
  for (const range of [">=99", ">=3.200.0 !3.260.0", "<3.100.0 || > 4.0.0"]) {
    await required(range);
    expect((await errorsOf("preview -s versions")).lines).toEqual([
      `error: <folder>/Pulumi.yaml: requiredPulumiVersion: Pulumi ${range} is required, and the embedded engine does what ` +
        "Pulumi 3.260.0 does: use a Pulumi CLI of that range, or widen the range",
    ]);
  }
  await required("newest");
  expect((await errorsOf("preview -s versions")).lines).toEqual([
    expect.stringContaining("requiredPulumiVersion: Pulumi newest is required"),
  ]);
  await required(">=3.200.0 !3.219.0 || 4");
  expect((await errorsOf("destroy --yes -s versions")).status).toBe(0);
  await project.write("Pulumi.yaml", manifest);
  await errorsOf("stack rm versions --yes");
});

test("a folder below the project, whose relative backend has no stack there, says where it looked", async () => {
  await mkdir(join(project.folder, "src"));
  const looked =
    "Stacks were looked for in <folder>/src/.pulumi, since the backend 'file://.' is taken from the current folder: " +
    "run it in <folder>, where Pulumi.yaml lies, to look there";
  expect(await errorsOf("preview -s dev", "src")).toEqual({
    status: 6,
    lines: [`error: no stack named 'dev' found: create it with 'stack init dev'. ${looked}`],
  });
  expect(await errorsOf("preview", "src")).toEqual({
    status: 1,
    lines: [`error: no stack selected: create one with 'stack init <name>'. ${looked}`],
  });
});

test("a project of another runtime has stacks and configuration, and is run by the Pulumi CLI alone", async () => {
  const manifest = await project.read("Pulumi.yaml");
  await project.write("Pulumi.yaml", manifest.replace('"nodejs"', '"python"'));
  expect((await errorsOf("stack")).status).toBe(0);
  expect(await errorsOf("up --yes -s dev")).toEqual({
    status: 1,
    lines: [
      "error: <folder>/Pulumi.yaml: the embedded engine runs programs with 'runtime: nodejs', and 'runtime: yaml' with Environments alone, not 'python': use the Pulumi CLI",
    ],
  });
  // Asked with the stack's configuration: nobody answers there.
  for (const [key, value] of Object.entries({
    endpoint: "http://127.0.0.1:9",
    email: "ada@example.com",
    password: "pw-of-ada",
  })) {
    expect(await errorsOf(`config set microapps:${key} ${value} -s dev`)).toMatchObject({ status: 0 });
  }
  const unreachable =
    "error: login: Nothing answers at http://127.0.0.1:9 (ECONNREFUSED). Check the endpoint's address and that the platform is running.";
  expect(await errorsOf('api readteam {"teamID":"x"} -s dev')).toEqual({ status: 1, lines: [unreachable] });
  expect(await errorsOf("dump out --team x -s dev")).toEqual({ status: 1, lines: [unreachable] });
  await project.write("Pulumi.yaml", manifest);
});

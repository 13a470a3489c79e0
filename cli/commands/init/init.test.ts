import { beforeEach, expect, test } from "@jest/globals";
import type { Command } from "commander";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../../testing/harness/commandHost.ts";
import { runCommand } from "../../../testing/harness/commands.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { environmentOf, repository } from "../../../testing/harness/project.ts";
import { program } from "../program.ts";

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder(), "crew");
  mkdirSync(folder);
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
});

const environment = (): NodeJS.ProcessEnv =>
  environmentOf({
    PULUMI_CONFIG_PASSPHRASE: "dev",
    PULUMI_HOME: join(folder, "../home"),
    XDG_STATE_HOME: join(folder, "../state"),
    NO_COLOR: "1",
  });
const run = (...words: string[]): Promise<Answer> => runCommand({ words, folder, environment: environment() });

const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const committed = (): string[] => {
  execFileSync("git", ["init", "-q"], { cwd: folder });
  execFileSync("git", ["add", "-A"], { cwd: folder });
  return execFileSync("git", ["ls-files"], { cwd: folder, encoding: "utf8" }).trim().split("\n");
};

const skill = readFileSync(join(repository, "SKILL.md"), "utf8");

/** Runs the commands of SKILL.md as they stand there, but for those that a person approves. */
async function runSkill(): Promise<void> {
  const commit = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-qm", "First"];
  for (const words of [["init", "-q"], ["add", "-A"], commit]) execFileSync("git", words, { cwd: folder });
  const blocks = [...skill.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, code = ""]) => code.trim());
  expect(blocks.length).toBeGreaterThan(3);
  for (const block of blocks) {
    expect(await run(...block.replace("npx microapps ", "").split(" "))).toMatchObject({ status: 0 });
  }
}

test("SKILL.md and llms.txt name commands, flags and files that there are", () => {
  const llms = readFileSync(join(repository, "llms.txt"), "utf8");
  expect(skill.split("\n").length).toBeLessThanOrEqual(150);
  const commands = [...(skill + llms).matchAll(/npx microapps ([a-z][^`\n]*)/g)].map(([, words = ""]) => words);
  const unknown = commands.filter((words) => !isKnown(words.split(" ")));
  expect(unknown).toEqual([]);
  const files = [...llms.matchAll(/\]\((.*?)\)/g), ...skill.matchAll(/\b(docs\/[\w/.-]*\w)/g)].map(
    ([, file = ""]) => file,
  );
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([]);
});

/** True if these words are a command of ours with flags that it has. */
function isKnown(words: readonly string[]): boolean {
  let command: Command = program;
  for (const word of words) {
    const below = command.commands.find((each) => each.name() === word);
    if (!below) break;
    command = below;
  }
  const options = [...command.options, ...program.options].map(({ long }) => long);
  return command !== program && words.filter((word) => word.startsWith("--")).every((flag) => options.includes(flag));
}

test("a new project is brought up by the two commands that init prints, and Git gets none of the emulator's files", async () => {
  writeFileSync(join(folder, "package.json"), '{\n    "dependencies": {}\n}\n');
  writeFileSync(join(folder, ".gitignore"), "mine\nnode_modules/");
  const { status, output } = await run("init", "--yes");
  expect({ status, output }).toEqual({
    status: 0,
    output:
      "Wrote Pulumi.yaml, dev.yaml, Pulumi.dev.yaml, platform.yaml, environment.schema.json, .gitignore.\n" +
      "Next:\n  npx microapps stack init dev\n  npx microapps up\n",
  });
  expect(read("dev.yaml")).toMatch(/^# yaml-language-server: \$schema=environment.schema.json\n/);
  expect(read("environment.schema.json")).toMatch(/"\$ref": "node_modules\/pulumi-microapps\/.*"Capital"/s);
  expect(read("package.json")).toBe('{\n    "dependencies": {}\n}\n');
  expect(await run("stack", "init", "dev")).toMatchObject({ status: 0 });
  const up = await run("up", "--yes");
  expect(up.output).toContain("+ 6 created");
  expect(await run("preview", "--expect-no-changes")).toMatchObject({ status: 0 });
  expect(existsSync(join(folder, "platform.db"))).toBe(true);
  await runSkill();
  rmSync(join(folder, "node_modules")); // a link here, which .gitignore takes for a file
  expect(committed()).toEqual([
    ".gitignore",
    "Pulumi.dev.yaml",
    "Pulumi.yaml",
    "dev.yaml",
    "environment.schema.json",
    "package.json",
    "platform.yaml",
  ]);
  expect(await run("init", "--yes")).toMatchObject({
    status: 1,
    output: expect.stringContaining(
      "Pulumi.yaml, dev.yaml, Pulumi.dev.yaml, platform.yaml, environment.schema.json: it is there already",
    ) as unknown,
  });
});

test("a program in TypeScript is brought up by the same commands", async () => {
  writeFileSync(join(folder, "package.json"), '{\n    "dependencies": {}\n}\n');
  expect((await run("init", "--yes", "--language", "typescript")).output).toMatch(
    /^Wrote Pulumi.yaml, index.ts, dev.yaml/,
  );
  expect(read("package.json")).toBe('{\n    "dependencies": {},\n    "type": "module"\n}\n');
  expect(await run("stack", "init", "dev")).toMatchObject({ status: 0 });
  expect((await run("up", "--yes")).output).toContain("+ 6 created");
});

test("a stack that can't be made is refused before anything is written", async () => {
  const other = await run("init", "--yes", "--stack", "prod");
  expect(other).toMatchObject({ status: 1, output: "error: --stack prod: the environments are dev\n" });
  const locked = { ...environment(), PULUMI_CONFIG_PASSPHRASE: undefined };
  const { output } = await runCommand({ words: ["init", "--yes", "-s", "dev"], folder, environment: locked });
  expect(output).toContain("passphrase must be set with PULUMI_CONFIG_PASSPHRASE");
  const elsewhere = { ...environment(), PULUMI_BACKEND_URL: "s3://states" };
  const remote = await runCommand({ words: ["init", "--yes", "-s", "dev"], folder, environment: elsewhere });
  expect(remote.output).toContain("not in 's3:'");
  expect(readdirSync(folder)).toEqual(["node_modules"]);
});

test("a stack that is there already is refused before anything is written, and gone on with without --stack", async () => {
  expect(await run("init", "--yes", "--stack", "dev")).toMatchObject({ status: 0 });
  const salt = /encryptionsalt: .*\n/.exec(read("Pulumi.dev.yaml"))?.[0] ?? "";
  const left = ["node_modules", ".pulumi"];
  for (const file of readdirSync(folder)) if (!left.includes(file)) rmSync(join(folder, file));
  const { status, output } = await run("init", "--yes", "--stack", "dev");
  expect({ status, output }).toMatchObject({ status: 1 });
  expect(output).toMatch(/^error: stack 'dev' already exists in .*crew\/dev\.json, and nothing was written: leave out/);
  expect(readdirSync(folder).sort()).toEqual(left.toSorted());
  expect(await run("init", "--yes", "--stack", "dev", "--name", "other")).toMatchObject({ status: 0 });
  for (const file of readdirSync(folder)) if (!left.includes(file)) rmSync(join(folder, file));
  expect(await run("init", "--yes")).toMatchObject({ status: 0 });
  writeFileSync(join(folder, "Pulumi.dev.yaml"), read("Pulumi.dev.yaml") + salt);
  expect(await run("preview", "--stack", "dev")).toMatchObject({ status: 0 });
});

test("several environments have what they share in one file, a list, and pipelines", async () => {
  const three = ["init", "--yes", "--environments", "dev,staging,prod"];
  const prod = ["--endpoint", "prod=https://platform.example.com"];
  expect((await run(...three, "--ci", "github", ...prod)).output).toContain("name that of dev with --endpoint");
  const flags = [...prod, "--endpoint", "https://test.example.com", "--ci", "github"];
  const { status, output } = await run(...three, ...flags, "--email", "you@example.com");
  expect({ status, output }).toMatchObject({ status: 0 });
  expect(output).toContain(".github/workflows/microapps-apply.yml written");
  expect(read("environments.yaml")).toBe(
    "dev:\n  file: dev.yaml\n  endpoint: https://test.example.com\n" +
      "staging:\n  file: staging.yaml\n  after: dev\n  endpoint: https://test.example.com\n" +
      "prod:\n  file: prod.yaml\n  after: staging\n  endpoint: https://platform.example.com\n",
  );
  const steps = ["dev", "staging", "prod"].flatMap((name) => [
    `  npx microapps stack init ${name}${name === "dev" ? "" : " --no-select"}`,
    `  npx microapps config set microapps:password --secret -s ${name}`,
  ]);
  expect(output).toContain(`Next:\n${steps.join("\n")}\n  npx microapps up -s dev\n`);
  expect(read("Pulumi.prod.yaml")).toBe(
    "config:\n  microapps:endpoint: https://platform.example.com\n  microapps:email: you@example.com\n",
  );
  for (const name of ["dev", "staging", "prod"])
    expect(await run("environment", "check", `${name}.yaml`)).toMatchObject({ status: 0 });
});

test.each([
  ["yaml", "  npx microapps stack init dev\n  npx microapps up\n"],
  ["python", "  pulumi package add ./node_modules/pulumi-microapps/plugin\n  pulumi stack init dev\n"],
  ["go", "  pulumi package add ./node_modules/pulumi-microapps/plugin\n  pulumi stack init dev\n"],
])("a program in %s", async (language, next) => {
  expect((await run("init", "--yes", "--language", language)).output).toContain(`Next:\n${next}`);
  expect(read("Pulumi.yaml")).toContain(`runtime`);
  if (language === "go") expect(read("go.mod")).toMatch(/^module example.com\//); // a bare "go" is no module
  expect(existsSync(join(folder, "package.json"))).toBe(false);
});

test("where nobody can be asked for a passphrase, its variable comes first", async () => {
  const locked = { ...environment(), PULUMI_CONFIG_PASSPHRASE: undefined };
  const { output } = await runCommand({ words: ["init", "--yes"], folder, environment: locked });
  expect(output).toContain(
    "Next:\n  export PULUMI_CONFIG_PASSPHRASE=... # of your own: it encrypts the secrets of the stacks\n",
  );
});

test("where the Pulumi SDK is missing, its installation comes first", async () => {
  rmSync(join(folder, "node_modules"));
  expect((await run("init", "--yes")).output).toContain("Next:\n  npx microapps stack init dev\n");
  for (const file of readdirSync(folder)) rmSync(join(folder, file));
  const { output } = await run("init", "--yes", "--language", "typescript");
  expect(output).toContain("Next:\n  npm install @pulumi/pulumi\n");
});

test.each([
  [["--endpoint", "platform"], "--endpoint platform: it must be an address such as https://platform.example.com"],
  [["--endpoint", "prod=https://platform.example.com"], "--endpoint prod=…: the environments are dev"],
  [
    ["--environments", "dev,base"],
    '--environments: "base" can\'t be the name of a stack and of a file: take others, by commas, such as dev,staging,prod',
  ],
  [
    ["--name", "a/b"],
    '--name a/b: a project\'s name has letters, digits, "-", "_" and ".", at most 100, and begins with none of "-" and "."',
  ],
])("init %j is refused", async (flags, sentence) => {
  expect(await run("init", "--yes", ...flags)).toMatchObject({ status: 1, output: `error: ${sentence}\n` });
});

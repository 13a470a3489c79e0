import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { isConfusable } from "../../cli/report/rendering.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { runCommand } from "../harness/commands.ts";
import { isLong, testInLong } from "../harness/drawn.ts";
import { environmentOf, Project } from "../harness/project.ts";
import { hostile, type Hostile } from "./hostile.ts";

// Whatever others name or answer, a command prints what can be seen, and each of their texts within a line of its own.

const account = { email: "admin@example.com", password: "correct-horse" };
const breaks = ["\n", "\r", "\r\n", "\u2028"];
const acting = ["\u001b[2J", "\u001b]0;title\u0007", "\u009b31m", "\u0085", "\b", "\u0007", "\u007f"];
const invisible = ["\u202e", "\u2066", "\u200b", "\u200f", "\u061c", "\ufeff", "\u{e0041}"];

/** A text with marks, before each of which a line may break or a terminal do something. */
const evil = fc
  .tuple(...[breaks, acting, invisible].map((kind) => fc.shuffledSubarray(kind, { minLength: 2, maxLength: 3 })))
  .map(
    (pieces) =>
      `x${pieces
        .flat()
        .map((piece) => `${piece}::mark`)
        .join("")}`,
  );

/** Harmful parts of an output: characters that act on a terminal, and lines that begin as others wish. */
function harmIn(output: string): string[] {
  const raw = output.match(/[^\n\t\P{Cc}]|[\p{Cf}\u2028\u2029]/gu) ?? [];
  const begun = output.split("\n").filter((line) => /^[\s|"']*(::|mark)/.test(line));
  return [...new Set(raw.map((char) => `U+${(char.codePointAt(0) ?? 0).toString(16)}`)), ...begun];
}

let project: Project;
let emulator: Emulator;
let platform: Hostile;

/** Runs a command as a pipeline would, and returns the harmful parts of its output. */
async function harmOf(words: readonly string[], environment: Record<string, string> = {}): Promise<string[]> {
  const { output } = await runCommand({
    words,
    folder: project.folder,
    environment: environmentOf({ ...project.environment, ...environment }),
  });
  return harmIn(output).map((harm) => `${words.map((word) => JSON.stringify(word)).join(" ")}: ${harm}`);
}

async function harmOfAll(commands: readonly (readonly string[])[], environment?: Record<string, string>) {
  const all: string[] = [];
  for (const words of commands) all.push(...(await harmOf(words, environment)));
  return all;
}

const write = (file: string, text: string): void => writeFileSync(join(project.folder, file), text);
const git = (...words: string[]): void => {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
  execFileSync("git", [...identity, ...words], { cwd: project.folder, stdio: "ignore" });
};

beforeAll(async () => {
  emulator = await createEmulator({
    seed: { administrator: account, tables: { regions: { fields: { Code: "text", Name: "text" } } } },
  });
  platform = await hostile();
  project = await Project.running("", { "microapps:endpoint": emulator.url, "microapps:email": account.email });
  await project.succeed("stack init dev");
  await project.succeed(`config set microapps:password --secret ${account.password}`);
  git("init", "-q");
});
afterAll(async () => {
  await project.remove();
  await emulator.close();
  await platform.close();
});

/** A property of texts with few draws: each is tried at every place. */
const always = (numRuns: number, hold: (text: string) => Promise<void>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(evil, (text) => hold(text)),
    { numRuns, endOnFailure: true },
  );

/** Each command with a text in place of each kind of argument, at the signs of percent. */
const places = `% | --% | -s % stack | up % | up --% | up --yes --plan % | preview -s % | preview -C % | refresh --parallel % | destroy --color %
destroy --yes -s dev% | stack init % | stack select % | stack output % | stack rm % | stack export --file %/none -s dev | cancel --yes %
config % | config get % -s dev | config rm % -s dev | config set % value -s dev | config set motto -% -s dev
api % | api readteam % -s dev | dump %/none --team % -s dev | dump out --table %:Code -s dev | dump out --import %
report --base % | report --format % | report --file % | report --stack dev --state % | report % | drift % | drift --stack % | drift --until % --tolerate
ci % | ci github --branch % | ci gitlab --engine % | environment % | environment check % | environment check dev.yaml --base % | environment show %
emulator --seed % | emulator --port % | emulator --host % | import %`;

const withArgument = (text: string): string[][] => [
  ...places.split(/ \| |\n/).map((line) => line.split(" ").map((word) => word.replace("%", () => text))),
  ["api", "readteam", JSON.stringify({ teamID: text }), "-s", "dev"],
  ["api", "readteam", JSON.stringify({ [text]: text }), "-s", "dev"],
];

test("arguments", async () => {
  write("dev.yaml", "organizations: { acme: { name: Acme } }\n");
  await always(isLong ? 2 : 1, async (text) => expect(await harmOfAll(withArgument(text))).toEqual([]));
});

/** Environment files with a text as key and as value: one that is sound, and others. */
const layersWith = (text: string): object[] => [
  {
    rules: [{ path: "seeds.*.maxRemovals", atMost: 1, because: text }],
    organizations: { acme: { name: text, description: text, teams: { crew: { name: text } } } },
    seeds: { s: { table: text, key: text, rows: [{ [text]: text }] } },
  },
  { organizations: { [text]: { name: "Acme" } }, seeds: { s: { table: "t", key: "Code", source: `${text}.csv` } } },
  { extends: text, [text]: text },
];

testInLong("files", async () => {
  await always(1, async (text) => {
    const folder = text.replaceAll("/", "");
    mkdirSync(join(project.folder, folder), { recursive: true });
    const names = ["dev.yaml", `${folder}/layer.yaml`];
    for (const layer of layersWith(text)) {
      for (const name of names) write(name, "organizations: { acme: { name: Acme } }\n");
      write("environments.yaml", "dev: { file: dev.yaml }\n");
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", "before");
      for (const name of names) write(name, stringify(layer));
      const commands = names.flatMap((name) => [
        ["environment", "check", name],
        ["environment", "check", name, "--base", "HEAD"],
        ["environment", "show", name, "--origin"],
        ["environment", "show", name, "--json"],
      ]);
      const formats = ["text", "md", "json"].map((format) => ["report", "--format", format]);
      expect(await harmOfAll([...commands, ...formats])).toEqual([]);
    }
    write("dev.yaml", "organizations: { acme: { name: Acme } }\n");
    const lists = [
      { [text]: { file: "dev.yaml" } },
      { dev: { file: text } },
      { dev: { file: "dev.yaml", after: text } },
    ];
    for (const list of [...lists, { dev: { file: "dev.yaml", [text]: text } }, [text]]) {
      write("environments.yaml", stringify(list));
      const commands = [["report"], ["drift", "--all"], ["ci", "github", "--output", "."], ["ci", "gitlab", "--check"]];
      expect(await harmOfAll(commands)).toEqual([]);
    }
    write("environments.yaml", "dev: { file: dev.yaml }\n");
    write("drift.yaml", stringify({ dev: [{ [text]: text, resource: text, because: text, until: text }] }));
    expect(await harmOfAll([["drift", "dev"]])).toEqual([]);
    rmSync(join(project.folder, "drift.yaml"));
    rmSync(join(project.folder, folder), { recursive: true });
    git("checkout", "-q", "--", ".");
  });
});

/** A program whose names and values have a text in them. */
const programWith = (text: string): string => `
import { Organization, SeedRows, Team } from "pulumi-microapps";
const text = ${JSON.stringify(text)};
const acme = new Organization(text, { name: text });
export const team = new Team("crew" + text, { organizationID: acme.id, name: text }).id;
new SeedRows("regions" + text, { table: "regions", key: "Code", maxRemovals: 1, rows: [{ Code: text, Name: text }] });
export const outputs = { [text]: text };
`;

test("programs, states and what a platform answers", async () => {
  await always(1, async (text) => {
    write("index.js", programWith(text));
    write("dev.yaml", stringify({ organizations: { acme: { name: text } } }));
    write("environments.yaml", stringify({ dev: { file: "dev.yaml", endpoint: emulator.url } }));
    const login = {
      MICROAPPS_ENDPOINT: emulator.url,
      MICROAPPS_EMAIL: account.email,
      MICROAPPS_PASSWORD: account.password,
    };
    const dev = ["--yes", "-s", "dev"];
    const listings = [["stack"], ["stack", "output"], ["stack", "export"], ["config"], ["stack", "output", "outputs"]];
    const stack = listings.map((words) => [...words, "-s", "dev"]);
    expect(await harmOfAll([["up", ...dev], ...stack])).toEqual([]);
    const teamID = await project.succeed("stack output team");
    const asking = [
      ["api", "readteam", JSON.stringify({ teamID: teamID.trim() })],
      ["drift", "dev"],
      ["dump", "dumped", "--team", teamID.trim()],
    ];
    expect(
      await harmOfAll(
        asking.map((words) => [...words, "-s", "dev"]),
        login,
      ),
    ).toEqual([]);
    await project.write("index.js", programWith(`other${text}`));
    expect(
      await harmOfAll([
        ["preview", "--diff", "-s", "dev"],
        ["preview", "--json", "-s", "dev"],
      ]),
    ).toEqual([]);
    // Another platform in the same place, whose every answer is a failure.
    platform.answer = (_, response) => {
      const status = { status: text, error: text, message: text, errorMessage: text };
      response
        .writeHead(400, text.replace(/[^ -~]/g, ""), { "content-type": "application/json" })
        .end(JSON.stringify(status));
    };
    const theirs = { ...login, MICROAPPS_ENDPOINT: platform.url };
    const runs = [
      ["up", ...dev, "--skip-preview"],
      ["drift", "dev"],
      ["destroy", ...dev, "--skip-preview"],
    ];
    expect(await harmOfAll([...runs, ...asking], theirs)).toEqual([]);
    expect(
      await harmOfAll([
        ["refresh", ...dev],
        ["destroy", ...dev, "--skip-preview"],
      ]),
    ).toEqual([]);
  });
});

test.each("pаypal,асе,Team асе of Acme,ΑΒΕ,ᎪᎬᎢ,օffice,ａｄｍｉｎ,𝐚𝐝𝐦𝐢𝐧".split(","))(
  "what may be taken for another word is marked: %s", // Cyrillic, Greek, Cherokee, Armenian, full width, mathematical
  (text) => expect(isConfusable(text)).toBe(true),
);

test.each("Acme,Zürich,Łódź,Команда поддержки,Ομάδα,東京チーム,서울 팀,Команда Acme,ﬁn,naïve,😀 crew".split(","))(
  "what is what it seems is not: %s",
  (text) => expect(isConfusable(text)).toBe(false),
);

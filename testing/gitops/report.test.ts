import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeSet, type ChangeSet, type EnvironmentChanges } from "../../cli/report/changeSet.ts";
import { runCommand } from "../harness/commands.ts";
import { sampleStories } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand } from "../harness/platform.ts";
import { environmentOf, Project, type Ended } from "../harness/project.ts";

const test = sampleStories();

// One stack for all of them: a report changes nothing, so each test only puts back what it edited.
let project: Project;
beforeAll(async () => {
  project = await Project.environment();
  await project.succeed("stack init dev");
  await project.succeed("up --yes");
  writeFileSync(join(project.folder, "environments.yaml"), "dev: { file: dev.yaml }\n");
  git("init", "--quiet", "--initial-branch=main");
  writeFileSync(join(project.folder, ".gitignore"), "node_modules\n.pulumi*\n.microapps\n.state\n");
  git("add", "--all");
  git("-c", "user.name=Tests", "-c", "user.email=tests@example.com", "commit", "--quiet", "--message=first");
});
afterAll(async () => {
  await endedCleanly(project);
});

const git = (...words: string[]): string => execFileSync("git", words, { cwd: project.folder, encoding: "utf8" });

/** A report as a pipeline makes it that has no passphrase, no credential, and a network that refuses everything. */
function reported(...flags: string[]): Promise<Ended> {
  const { PULUMI_CONFIG_PASSPHRASE: _, ...environment } = project.environment;
  const nowhere = "http://127.0.0.1:9";
  const proxies = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere };
  return runCommand({
    words: ["report", ...flags],
    folder: project.folder,
    environment: environmentOf({ ...environment, ...proxies }),
  });
}

async function json(...flags: string[]): Promise<{ status: number | null; set: ChangeSet; dev: EnvironmentChanges }> {
  const { status, output } = await reported("--format", "json", ...flags);
  const set = changeSet.parse(JSON.parse(output));
  const [dev] = set.environments;
  if (!dev) throw new Error(output);
  return { status, set, dev };
}

/** Works on edited files, which are put back. */
async function edited(
  edits: Readonly<Record<string, (text: string) => string>>,
  work: () => Promise<void>,
): Promise<void> {
  const before = Object.keys(edits).map((file) => [file, readFileSync(join(project.program, file), "utf8")] as const);
  try {
    for (const [file, text] of before) writeFileSync(join(project.program, file), edits[file]?.(text) ?? text);
    await work();
  } finally {
    for (const [file, text] of before) writeFileSync(join(project.program, file), text);
  }
}

const exported = async (): Promise<string> => {
  await project.succeed("stack export --show-secrets --file exported.json");
  return "exported.json";
};

test("an unchanged tree is one line, without a call, twice the same, and the state is as it was", async () => {
  const state = await project.stateText();
  const [one, two] = [await reported("--format", "md"), await reported("--format", "md")];
  expect(one).toEqual(two);
  expect(one.status).toBe(0);
  expect(one.output.trimEnd().split("\n")).toHaveLength(1);
  expect(one.output).toContain("rows of 3 seeds are compared when up runs");
  expect((await reported("--expect-no-changes")).status).toBe(0);
  expect(await project.stateText()).toBe(state);
  expect(git("status", "--porcelain")).toBe("");
});

test("a seed that leaves the program says how many rows go with it, in lines and as data", async () => {
  const dev = { "dev.yaml": (text: string) => text.replace(/\nseeds:\n {2}offices:\n(?: {4}.*\n)+/, "\n") };
  await edited(dev, async () => {
    const { output } = await project.run("preview", "--stack", "dev");
    expect(output).toMatch(/SeedRows environment\/offices delete: \d+ rows\n/);
    const lines = (await project.run("preview", "--stack", "dev", "--json")).output.trim().split("\n");
    const steps = lines.map((line) => JSON.parse(line) as { type: string; op?: string; name?: string; size?: string });
    const deletion = steps.find(({ type, op }) => type === "step" && op === "delete");
    expect(deletion).toMatchObject({ name: "environment/offices", size: expect.stringMatching(/^\d+ rows$/) });
    const summary = await project.run("preview", "--stack", "dev", "--output", "json");
    const { urn } = (await project.state()).get("environment/offices") ?? {};
    expect(summary.output.split("\n")).toHaveLength(2);
    expect(JSON.parse(summary.output)).toEqual({
      result: "succeeded",
      duration: expect.any(Number) as unknown,
      summary: { delete: 1, same: expect.any(Number) as unknown },
      resources: [
        {
          urn,
          type: "microapps:index:SeedRows",
          name: "environment/offices",
          op: "delete",
          parent: expect.stringContaining("Environment::environment") as unknown,
        },
      ],
    });
  });
  const quiet = await project.run("preview", "--stack", "dev", "--output", "json");
  expect(JSON.parse(quiet.output)).not.toHaveProperty("resources");
});

test("state get shows one resource by its name or its URN, without secrets", async () => {
  const { urn, id } = (await project.state()).get("environment/offices") ?? {};
  const got = await project.run("state get", "environment/offices", "--stack", "dev", "--output", "json");
  expect(JSON.parse(got.output)).toMatchObject({
    urn,
    id,
    type: expect.any(String) as unknown,
    inputs: { key: ["Name"] },
  });
  const text = await project.run("state get", String(urn), "--stack", "dev");
  expect(text).toMatchObject({
    status: 0,
    output: expect.stringContaining(`ID:   ${String(id)}\nInputs:\n`) as unknown,
  });
  expect(await project.run("state get", "nobody", "--stack", "dev")).toMatchObject({
    status: 1,
    output: "error: no resource of the stack is called 'nobody': 'stack export' shows all of them\n",
  });
});

describe("a change", () => {
  const edits = {
    "dev.yaml": (text: string) =>
      text
        .replace("name: Support", "name: Support 2")
        .replace("grace@example.com: member", "grace@example.com: admin")
        .replace("          alan@example.com: { role: member, targetRoute: app }", "          eve@example.com: member")
        .replace("      - { Name: Osaka, Country: JP, Desks: 8 }", "      - { Name: Turin, Country: IT, Desks: 3 }"),
  };

  test("shows as this change and as pending, and pending is what a preview then plans", async () => {
    await edited(edits, async () => {
      const { status, dev } = await json("dev");
      expect(status).toBe(0);
      const names = (things: ChangeSet["environments"][number]["change"]["things"]): string[] =>
        things.map(({ kind, name, op }) => `${op} ${kind} ${name}`);
      const wanted = ["change team acme/support", "change seed offices", "change team acme/crew"];
      expect(names(dev.change.things).sort()).toEqual(wanted.toSorted());
      expect(names(dev.pending?.things ?? []).sort()).toEqual(wanted.toSorted());
      const people = dev.pending?.things.flatMap(({ changes }) => changes).filter(({ kind }) => kind === "person");
      expect(people?.map(({ op, name }) => `${op} ${name}`).sort()).toEqual([
        "add eve@example.com",
        "change grace@example.com",
        "remove alan@example.com",
      ]);
      const offices = dev.pending?.things.find(({ name }) => name === "offices");
      expect(offices?.changes.map(({ op, name }) => `${op} ${name}`)).toEqual(["remove Osaka", "add Turin"]);
      expect(await project.steps("preview")).toEqual(
        expect.arrayContaining([
          "update environment/acme/support",
          "update environment/acme/crew/grace@example.com",
          "create environment/acme/support/eve@example.com",
          "delete environment/acme/support/alan@example.com",
          "update environment/offices",
        ]),
      );
    });
  });

  test("with a state in clear counts rows exactly, and those that say something else", async () => {
    const state = await exported();
    const dev2 = { "dev.yaml": (text: string) => text.replace("Desks: 12", "Desks: 13") };
    await edited({ ...dev2, "data/countries.csv": (text) => text.replace(/\nPT,[^\n]*/, "") }, async () => {
      const { dev } = await json("dev", "--state", state);
      expect(dev.pending?.why).toBeUndefined();
      expect(dev.pending?.things.map(({ name, rows }) => [name, rows])).toEqual([
        ["countries", { add: 0, change: 0, remove: 1, same: 248 }],
        ["offices", { add: 0, change: 1, remove: 0, same: 2 }],
      ]);
      expect(dev.pending?.calls).toBeGreaterThan(2);
      expect(dev.pending?.things[0]?.changes).toMatchObject([{ op: "remove", name: "PT" }]);
    });
    const { dev } = await json("dev", "--state", state);
    expect(dev.pending).toEqual({ compared: true, things: [], calls: 0 });
  });
});

test("what was changed by hand on the platform is no part of a report", async () => {
  await byHand(project.platform, (client) => client.insertorganization({ organizationInfo: { name: "By hand" } }));
  const { dev } = await json();
  expect(dev.pending?.things).toEqual([]);
});

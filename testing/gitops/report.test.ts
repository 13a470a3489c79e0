import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeSet } from "../../cli/report/changeSet.ts";
import { runCommand } from "../harness/commands.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand } from "../harness/platform.ts";
import { environmentOf, Project, type Ended } from "../harness/project.ts";

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

test("an unchanged tree is one line, without a call, twice the same, and the state is as it was", async () => {
  const state = await project.stateText();
  const [one, two] = [await reported("--format", "md"), await reported("--format", "md")];
  expect(one).toEqual(two);
  expect(one.status).toBe(0);
  expect(one.output.trimEnd().split("\n")).toHaveLength(1);
  expect(one.output).not.toContain("only up can compare");
  expect((await reported("--expect-no-changes")).status).toBe(0);
  expect(await project.stateText()).toBe(state);
  expect(git("status", "--porcelain")).toBe("");
});

test("a seed that leaves the program says how many rows go with it, in lines and as data", async () => {
  const before = await project.read("dev.yaml");
  await project.write("dev.yaml", before.replace(/\nseeds:\n {2}offices:\n(?: {4}.*\n)+/, "\n"));
  try {
    const { output } = await project.run("preview", "--stack", "dev");
    expect(output).toMatch(/SeedRows +environment\/offices +delete +3 rows\n/);
    const lines = (await project.run("preview", "--stack", "dev", "--json")).output.trim().split("\n");
    const steps = lines.map((line) => JSON.parse(line) as { type: string; op?: string; name?: string; size?: string });
    const deletion = steps.find(({ type, op }) => type === "step" && op === "delete");
    expect(deletion).toMatchObject({ name: "environment/offices", size: expect.stringMatching(/^\d+ rows$/) });
    const { urn } = (await project.state()).get("environment/offices") ?? {};
    const { result, resources, ...summary } = await summed();
    expect([result, summary]).toMatchObject(["succeeded", { summary: { delete: 1 } }]);
    expect(resources).toEqual([
      {
        urn,
        type: "microapps:index:SeedRows",
        name: "environment/offices",
        op: "delete",
        parent: expect.stringContaining("Environment::environment") as unknown,
      },
    ]);
  } finally {
    await project.write("dev.yaml", before);
  }
  expect((await summed()).resources).toEqual([]);
});

/** The one line of JSON that a preview is summed up by, without the resources that it only read. */
async function summed(): Promise<{ result?: unknown; resources: { op?: unknown }[] }> {
  const { output } = await project.run("preview", "--stack", "dev", "--output", "json");
  expect(output.split("\n")).toHaveLength(2);
  const { resources = [], ...summary } = JSON.parse(output) as { resources?: { op?: unknown }[] };
  return { ...summary, resources: resources.filter(({ op }) => op !== "refresh") };
}

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

test("what was changed by hand on the platform is no part of a report", async () => {
  await byHand(project.platform, (client) => client.insertorganization({ organizationInfo: { name: "By hand" } }));
  const set = changeSet.parse(JSON.parse((await reported("--format", "json")).output));
  expect(set.environments[0]?.pending?.things).toEqual([]);
});

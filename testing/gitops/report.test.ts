import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { changeSet, stable } from "../../cli/report/changeSet.ts";
import { readDeclaration } from "../../cli/report/environments.ts";
import { planAt, planDigest } from "../../cli/report/plan.ts";
import { pending } from "../../cli/report/section.ts";
import { stateOf } from "../../cli/report/state.ts";
import { projectAt, settingsAtRest } from "../../engine/index.ts";
import { runCommand } from "../harness/commands.ts";
import { isLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand, changingCalls } from "../harness/platform.ts";
import { environmentOf, Project, type Ended } from "../harness/project.ts";

// One stack for all of them: a report changes nothing, and each test puts back what it edited.

let project: Project;
const git = (...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=a@example.com", ...words], {
    cwd: project.folder,
    encoding: "utf8",
  });
beforeAll(async () => {
  project = await Project.environment();
  await project.write(".gitignore", ".pulumi*\n.state/\n.microapps/\nnode_modules\n");
  await project.write("environments.yaml", "dev: { file: dev.yaml }\n");
  for (const words of ["init -q --initial-branch=main", "add -A", "commit -qm First"]) git(...words.split(" "));
  await project.succeed("stack init dev");
  await project.succeed("up --yes --skip-preview");
});
afterAll(() => endedCleanly(project));

/** A report as a pipeline makes it that has no passphrase, no credential, no home, and a network that refuses everything. */
function report(...flags: string[]): Promise<Ended> {
  const { PULUMI_CONFIG_PASSPHRASE: _, XDG_STATE_HOME: __, ...environment } = project.environment;
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
  const [one, two] = [await report("--format", "md"), await report("--format", "md")];
  expect(one).toEqual(two);
  expect(one.status).toBe(0);
  expect(one.output.trimEnd().split("\n")).toHaveLength(1);
  expect(one.output).not.toContain("only up can compare");
  expect((await report("--expect-no-changes")).status).toBe(0);
  expect(await project.stateText()).toBe(state);
  expect(git("status", "--porcelain")).toBe("");
});

test("a seed that leaves the program says how many rows go with it, in lines and as data", async () => {
  const before = await project.read("dev.yaml");
  await project.write("dev.yaml", before.replace(/\nseeds:\n {2}offices:\n(?: {4}.*\n)+/, "\n"));
  try {
    const { output } = await project.run("preview");
    expect(output).toMatch(/SeedRows +environment\/offices +delete +3 rows\n/);
    const lines = (await project.run("preview", "--json")).output.trim().split("\n");
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
  const { output } = await project.run("preview", "--output", "json");
  expect(output.split("\n")).toHaveLength(2);
  const { resources = [], ...summary } = JSON.parse(output) as { resources?: { op?: unknown }[] };
  return { ...summary, resources: resources.filter(({ op }) => op !== "refresh") };
}

test("state get shows one resource by its name or its URN, without secrets", async () => {
  const { urn, id } = (await project.state()).get("environment/offices") ?? {};
  const got = await project.run("state get", "environment/offices", "--output", "json");
  expect(JSON.parse(got.output)).toMatchObject({
    urn,
    id,
    type: expect.any(String) as unknown,
    inputs: { key: ["Name"] },
  });
  const text = await project.run("state get", String(urn));
  expect(text).toMatchObject({
    status: 0,
    output: expect.stringContaining(`id     : "${String(id)}"\ninputs:\n    key:`) as unknown,
  });
  expect(await project.run("state get", "nobody")).toMatchObject({
    status: 1,
    output: "error: no resource of the stack is called 'nobody': 'stack export' shows all of them\n",
  });
});

test("what was changed by hand on the platform is no part of a report", async () => {
  await byHand(project.platform, (client) => client.insertorganization({ organizationInfo: { name: "By hand" } }));
  const set = changeSet.parse(JSON.parse((await report("--format", "json")).output));
  expect(set.environments[0]?.pending?.things).toEqual([]);
});

const planIn = (text: string): string => /plan (sha256:\S+)/.exec(text)?.[1] ?? "";
const preview = async (): Promise<string> => planIn(await project.succeed("preview"));

/** The plan as a job without the passphrase tells it, which has nothing of its own but a checkout and the states. */
const reported = async (): Promise<string> =>
  changeSet.parse(JSON.parse((await report("--stack", "dev", "--file", "dev.yaml", "--format", "json")).output))
    .environments[0]?.plan ?? "";

/** Runs `up --plan` of a digest; the sentence that refuses it, or the calls that it made. */
async function applied(plan: string): Promise<{ refused: string; calls: string[] }> {
  let refused = "";
  const calls = await changingCalls(project.platform, async () => {
    const { status, output } = await project.run("up --yes --skip-preview", "--plan", plan);
    if (status !== 0) refused = output;
    if (status !== 0) expect(status).toBe(2);
  });
  return { refused, calls };
}

describe("the digest of a plan", () => {
  test("is the same in a preview, in a report without the passphrase and in another clone, and is applied once", async () => {
    await project.edit("dev.yaml", "name: Support", "name: Helpers");
    const plan = await preview();
    expect(plan).toMatch(/^sha256:[0-9a-f]{64}-[0-9a-f]+$/);
    expect(await reported()).toBe(plan);
    const clone = await Project.environment();
    for (const file of ["dev.yaml", ".pulumi", ".git"])
      await cp(join(project.folder, file), join(clone.folder, file), { recursive: true });
    expect(planIn(await clone.succeed("report --file dev.yaml"))).toBe(plan);
    await clone.remove();
    expect(planIn(await project.succeed("report --file dev.yaml"))).toBe(plan);
    expect((await project.run("report --file dev.yaml", "--expect-plan", plan)).status).toBe(0);
    expect((await applied(plan)).calls).toEqual(["updateteam"]);
    const again = await applied(plan);
    expect(again.calls).toEqual([]);
    expect(again.refused).toMatch(
      /^error: the plan has changed, and nothing was sent\. What differs: the state\. The plan is now sha256:/,
    );
    const other = await project.run("report --file dev.yaml", "--expect-plan", plan);
    expect(other).toMatchObject({
      status: 2,
      output: expect.stringContaining("What differs: the state.") as unknown,
    });
  });

  test("names what differs", async () => {
    const plan = await preview();
    const cases: [file: string, from: string, to: string, what: string][] = [
      ["dev.yaml", "name: Helpers", "name: Others", "what the environment files declare."],
      ["data/currencies.csv", "AED,", "AEE,", "the files of rows and people."],
      [
        "Pulumi.dev.yaml",
        "platform.yaml\n",
        "other.yaml\n",
        "the stack's file or the platform's profile and the endpoint.",
      ],
      ["Pulumi.dev.yaml", "email: admin@", "email: root@", "the platform's profile and the account."],
    ];
    for (const [file, from, to, what] of cases) {
      await project.edit(file, from, to);
      const { calls, refused } = await applied(plan);
      expect(calls).toEqual([]);
      expect(refused).toContain(what);
      await project.edit(file, to, from);
    }
    // The digest alone, without the hints, is refused as well.
    const short = plan.split("-")[0] ?? "";
    await project.edit("dev.yaml", "name: Helpers", "name: Others");
    expect((await applied(short)).refused).toContain("among what the environment files declare, ");
    await project.edit("dev.yaml", "name: Others", "name: Helpers");
    expect((await applied(short)).refused).toBe("");
    expect((await applied("sha256:abc")).refused).toContain("is not the digest of a plan");
  });

  test("whatever is changed between a report and a run: it is another plan, or the same steps", async () => {
    const { folder } = project;
    const stateFile = ".pulumi/stacks/microapps-example/dev.json";
    /** What is decided: the digest, then what a run does and where. Undefined for what no run takes. */
    const decided = async (): Promise<[digest: string, does: string] | undefined> => {
      try {
        const state = readFileSync(join(folder, stateFile), "utf8");
        const parts = await planAt(folder, "dev", state);
        const { declared } = readDeclaration("dev.yaml", folder);
        if (!parts || !declared) return undefined;
        const ahead = await pending(stateOf(state), declared);
        const at = projectAt(folder);
        const { file: _, ...settings } = at;
        const does = [ahead, declared.declaration, settings, settingsAtRest(at, "dev").texts];
        // Where a thing stands decides nothing.
        return [planDigest(parts), stable(does).replaceAll(/"place":"[^"]*"/g, "")];
      } catch {
        return undefined;
      }
    };
    const before = await decided();
    expect(before).toBeDefined();
    const all = [
      ...["dev.yaml", "base.yaml", "data/countries.csv", "data/offices.csv", "Pulumi.yaml", "Pulumi.dev.yaml"],
      ...["platform.yaml", "environments.yaml", "platform-profile.yaml", "README.md"],
      ...[stateFile, stateFile, stateFile, stateFile], // most of its letters decide nothing
    ];
    let [same, others] = [0, 0];
    const change = fc.record({
      file: fc.constantFrom(...all),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      how: fc.constantFrom("drop", "add", "swap", "empty", "digit"),
      text: fc.constantFrom(" ", "x", "9", "\n", "# said\n", ",", ": ", "retain: true\n", '"'),
    });
    const property = fc.asyncProperty(change, async ({ file, at, how, text }) => {
      const path = join(folder, file);
      const was = existsSync(path) ? readFileSync(path, "utf8") : undefined;
      const whole = was ?? "";
      const place = Math.floor(at * whole.length);
      const lines = whole.split("\n");
      const line = Math.floor(at * Math.max(0, lines.length - 1));
      const edits = {
        drop: () => whole.slice(0, place) + whole.slice(place + 1),
        add: () => whole.slice(0, place) + text + whole.slice(place),
        swap: () =>
          [...lines.slice(0, line), ...lines.slice(line, line + 2).toReversed(), ...lines.slice(line + 2)].join("\n"),
        empty: () => "",
        digit: () => whole.slice(0, place) + whole.slice(place).replace(/\d/, (one) => String((Number(one) + 1) % 10)),
      };
      writeFileSync(path, edits[how]());
      try {
        const now = await decided();
        if (now?.[0] !== before?.[0]) others++;
        else {
          same++;
          expect([file, how, text, place, now]).toEqual([file, how, text, place, before]);
        }
      } finally {
        if (was === undefined) rmSync(path);
        else writeFileSync(path, was);
      }
    });
    await fc.assert(property, { numRuns: isLong ? 2_000 : 30 });
    expect([same > 0, others > 0]).toEqual([true, true]);
  });

  test("comments and the order of keys are no other plan, and a removed flag names the way", async () => {
    const plan = await preview();
    await project.edit("dev.yaml", "organizations:", "# who is there\norganizations:");
    expect(await preview()).toBe(plan);
    expect((await project.run("up --approved x")).output).toContain("up --plan sha256:…");
  });
});

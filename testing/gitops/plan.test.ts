import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { stable } from "../../cli/report/changeSet.ts";
import { planAt, planDigest } from "../../cli/report/plan.ts";
import { pending } from "../../cli/report/section.ts";
import { readDeclaration } from "../../cli/report/source.ts";
import { stateOf } from "../../cli/report/state.ts";
import { projectAt, settingsAtRest } from "../../engine/index.ts";
import { isLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { changingCalls } from "../harness/platform.ts";
import { Project } from "../harness/project.ts";

const locked = { PULUMI_CONFIG_PASSPHRASE: undefined, XDG_STATE_HOME: undefined };

let project: Project;
beforeAll(async () => {
  project = await Project.environment();
  await project.write(".gitignore", ".pulumi/\n.pulumi-home/\n.state/\n.microapps/\nnode_modules\n");
  for (const words of [
    ["init", "-q"],
    ["add", "-A"],
    ["commit", "-qm", "First"],
  ])
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=a@example.com", ...words], { cwd: project.folder });
  await project.succeed("stack init dev");
  await project.succeed("up --yes --skip-preview");
});
afterAll(() => endedCleanly(project));

const planIn = (text: string): string => /plan (sha256:\S+)/.exec(text)?.[1] ?? "";
const preview = async (): Promise<string> => planIn(await project.succeed("preview"));

/** The plan as a job without the passphrase tells it, which has nothing of its own but a checkout and the states. */
async function reported(): Promise<string> {
  const environment = { ...project.environment };
  Object.assign(project.environment, locked);
  try {
    const text = await project.succeed("report --file dev.yaml --format json");
    const [one] = (JSON.parse(text) as { environments: { plan?: string }[] }).environments;
    return one?.plan ?? "";
  } finally {
    Object.assign(project.environment, environment);
  }
}

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

import { beforeAll, describe, expect, test } from "@jest/globals";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { environmentsIn } from "../../report/environments.ts";
import { inOrder, renderPipelines, writePipelines, type Engine, type Pipelines } from "./pipelines.ts";

const repository = join(import.meta.dirname, "../../../..");
const list = `prod: { stack: live, file: prod.yaml, endpoint: "https://platform.example.com/api", after: [eu.west, dev] }
dev: { file: dev.yaml, endpoint: "emulator:dev.db?seed=platform.yaml" }
eu.west: { file: eu.yaml, endpoint: "https://eu.example.com:8443", after: dev }
`;
const pipelines = (engine: Engine, folder = ""): Pipelines => ({
  environments: inOrder(environmentsIn(list)),
  ...{ engine, folder, branch: "main", command: "microapps ci", version: "3.260.0" },
});

// The part of GitHub's format that these workflows use; unknown words are refused.
const permissions = z.partialRecord(z.enum(["contents", "pull-requests"]), z.enum(["read", "write"]));
const concurrency = z.strictObject({ group: z.string(), "cancel-in-progress": z.boolean().optional() });
const defaults = z.strictObject({
  run: z.strictObject({ shell: z.literal("bash").optional(), "working-directory": z.string().optional() }),
});
const step = z.union([
  z.strictObject({
    name: z.string(),
    id: z.string().optional(),
    env: z.record(z.string().regex(/^[A-Z_]+$/), z.string()).optional(),
    run: z.string(),
  }),
  z.strictObject({
    uses: z.string(),
    with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  }),
]);
const job = z.strictObject({
  if: z.string().optional(),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  "runs-on": z.enum(["ubuntu-latest", "self-hosted"]),
  "timeout-minutes": z.int(),
  permissions,
  environment: z.string().optional(),
  concurrency: concurrency.optional(),
  defaults: defaults.optional(),
  outputs: z.record(z.string(), z.string()).optional(),
  steps: z.array(step).min(1),
});
const branches = z.strictObject({ branches: z.tuple([z.literal("main")]) });
const workflow = z.strictObject({
  name: z.string(),
  on: z.strictObject({
    pull_request: branches.optional(),
    push: branches.optional(),
    schedule: z.tuple([z.strictObject({ cron: z.string() })]).optional(),
    workflow_dispatch: z.null().optional(),
  }),
  permissions: z.strictObject({}),
  concurrency: concurrency.optional(),
  defaults,
  jobs: z.record(z.string().regex(/^[a-z_][\w-]*$/i), job),
});

describe.each([
  { engine: "pulumi" as const, folder: "" },
  { engine: "embedded" as const, folder: "infra/environments" },
])("the workflows of GitHub, $engine", ({ engine, folder }) => {
  const files = renderPipelines("github", pipelines(engine, folder));
  const [report, apply, drift] = ["report", "apply", "drift"].map((name) =>
    workflow.parse(parse(files[`.github/workflows/microapps-${name}.yml`] ?? "")),
  );
  const jobs = [report, apply, drift].flatMap((each) => Object.entries(each?.jobs ?? {}));
  const steps = jobs.flatMap(([, each]) => each.steps);

  test("run nothing but pinned actions of GitHub, and put no expression into a shell", () => {
    const used = steps.flatMap((each) => ("uses" in each ? [each.uses] : []));
    expect(used.filter((each) => !/^actions\/(checkout|setup-node)@[0-9a-f]{40}$/.test(each))).toEqual([]);
    const scripts = steps.flatMap((each) => ("run" in each ? [each.run] : []));
    expect(scripts.filter((each) => each.includes("${{"))).toEqual([]);
    expect(scripts.filter((each) => each.includes("example.com") || each.includes("eu.west"))).toEqual([]);
  });

  test("report without a secret, and write the comment from where nothing is checked out", () => {
    const { report: reporting, comment } = report?.jobs ?? {};
    expect(Object.keys(report?.on ?? {})).toEqual(["pull_request"]);
    expect(JSON.stringify(reporting)).not.toMatch(/secrets|vars|token/);
    expect(reporting?.permissions).toEqual({ contents: "read" });
    expect(reporting?.environment).toBeUndefined();
    expect(comment?.permissions).toEqual({ "pull-requests": "write" });
    expect(comment?.steps.filter((each) => "uses" in each)).toEqual([]);
    expect(comment?.defaults?.run["working-directory"]).toBe(folder === "" ? undefined : ".");
    const [plan] = Object.values(apply?.jobs ?? {});
    expect(JSON.stringify(plan)).not.toContain("secrets");
  });

  test("apply in order, one run at a time, with the credential of the environment alone", () => {
    const { plan: _, ...applying } = apply?.jobs ?? {};
    expect(Object.entries(applying).map(([name, { needs }]) => [name, needs])).toEqual([
      ["apply-dev", ["plan"]],
      ["apply-eu_west", ["plan", "apply-dev"]],
      ["apply-prod", ["plan", "apply-eu_west", "apply-dev"]],
    ]);
    expect(Object.values(applying).map(({ environment }) => environment)).toEqual(["dev", "eu.west", "prod"]);
    expect(Object.keys(drift?.jobs ?? {})).toEqual(["drift-dev", "drift-eu_west", "drift-prod"]);
    expect(drift?.jobs["drift-prod"]?.environment).toBe("prod-read");
    for (const [name, each] of jobs.filter(([, { environment }]) => environment !== undefined)) {
      expect(each.permissions).toEqual({ contents: "read" });
      expect(each.concurrency).toEqual({ group: name.replace(/^\w+-/, "microapps-"), "cancel-in-progress": false });
      // Secrets reach one step, behind which nothing runs.
      const last = each.steps.findLastIndex((step) => "run" in step);
      expect(JSON.stringify(each.steps.toSpliced(last, 1))).not.toContain("secrets");
    }
    const last = applying["apply-prod"]?.steps.at(-1);
    expect(last && "env" in last ? last.env : {}).toMatchObject({
      STACK: "live",
      PLAN: "${{ needs.plan.outputs.plan_prod }}",
      MICROAPPS_ENDPOINT: "https://platform.example.com/api",
      MICROAPPS_ALLOWED_ENDPOINTS: "https://platform.example.com",
    });
  });
});

const gitLabJob = z.strictObject({
  stage: z.enum(["report", "comment", "plan", "apply", "drift"]),
  tags: z.array(z.string()).optional(),
  needs: z.array(z.union([z.string(), z.strictObject({ job: z.string(), artifacts: z.boolean() })])).optional(),
  rules: z.array(z.strictObject({ if: z.string(), when: z.literal("always").optional() })).length(1),
  variables: z.record(z.string(), z.string()).optional(),
  environment: z.strictObject({ name: z.string(), action: z.literal("access").optional() }).optional(),
  resource_group: z.string().optional(),
  script: z.array(z.string()).length(1),
  artifacts: z
    .strictObject({
      when: z.literal("always").optional(),
      expire_in: z.string(),
      expose_as: z
        .string()
        .regex(/^[\w -]{1,100}$/)
        .optional(),
      paths: z.array(z.string()),
      reports: z.strictObject({ dotenv: z.string().regex(/^microapps-report\/(report|plan)\.env$/) }).optional(),
    })
    .optional(),
});

test.each(["pulumi", "embedded"] as const)(
  "the pipeline of GitLab, %s, has the same jobs under the same conditions",
  (engine) => {
    const whole = parse(renderPipelines("gitlab", pipelines(engine, "infra"))[".gitlab-ci.yml"] ?? "") as Record<
      string,
      unknown
    >;
    const { stages, default: _, variables, ...rest } = whole;
    expect([stages, variables]).toEqual([["report", "comment", "plan", "apply", "drift"], { GIT_DEPTH: "0" }]);
    const jobs = z.record(z.string(), gitLabJob).parse(rest);
    const [apply, drift] = ["apply", "drift"].map((kind) =>
      ["dev", "eu_west", "prod"].map((name) => `${kind}-${name}`),
    );
    expect(Object.keys(jobs)).toEqual(["report", "comment", "plan", ...(apply ?? []), ...(drift ?? [])]);
    expect(apply?.map((name) => jobs[name]?.needs)).toEqual([
      ["plan"],
      ["plan", "apply-dev"],
      ["plan", "apply-eu_west", "apply-dev"],
    ]);
    // Variables with credentials belong to environments: no other job has one.
    const named = Object.entries(jobs).flatMap(([name, { environment }]) =>
      environment ? [[name, environment.name]] : [],
    );
    expect(Object.fromEntries(named)).toMatchObject({ "apply-eu_west": "eu.west", "drift-prod": "prod-read" });
    expect(named.map(([name]) => name)).toEqual([...(apply ?? []), ...(drift ?? [])]);
    expect(jobs["comment"]?.variables).toEqual({ GIT_STRATEGY: "none" });
    expect(jobs["report"]?.rules[0]?.if).toBe(
      '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "main"',
    );
    for (const [name, { rules, resource_group: group }] of Object.entries(jobs)) {
      if (/^(plan|apply|drift)/.test(name)) expect(rules[0]?.if).toMatch(/^\$CI_COMMIT_BRANCH == "main" && /);
      if (/^(apply|drift)-/.test(name)) expect(group).toBe(name.replace(/^\w+-/, "microapps-"));
    }
    expect(jobs["apply-prod"]?.script[0]).toContain(
      "export MICROAPPS_ENDPOINT='https://platform.example.com/api' MICROAPPS_ALLOWED_ENDPOINTS='https://platform.example.com'\n",
    );
  },
);

describe("environments.yaml", () => {
  const endpoint = 'endpoint: "https://a.example.com"';
  test.each([
    ["{}", "it lists nothing"],
    [`dev: { file: a.yaml, ${endpoint}, after: prod }`, "dev comes after prod, which it does not list"],
    [
      `a: { file: a.yaml, ${endpoint}, after: b }\nb: { file: b.yaml, ${endpoint}, after: a }`,
      "a, b wait for each other: leave out one after",
    ],
    ["dev: { file: a.yaml }", "dev has no endpoint: its credential goes there, and nowhere else"],
    ['dev: { file: a.yaml, endpoint: "ftp://a" }', "dev.endpoint is not the address of a platform"],
    [
      `a.b: { file: a.yaml, ${endpoint} }\na_b: { file: b.yaml, ${endpoint} }`,
      "a.b and a_b would be one job: rename one",
    ],
    [`dev: { file: a.yaml, stack: "\${{ secrets.X }}", ${endpoint} }`, '"${{ secrets.X }}" can\'t stand in a pipeline'],
    [
      `dev: { file: a.yaml, endpoint: "https://a.example.com/'$(id)'" }`,
      "\"https://a.example.com/'$(id)'\" can't stand in a pipeline",
    ],
  ])("that can't be carried out is refused: %s", (text, message) => {
    expect(() => inOrder(environmentsIn(text))).toThrow(`environments.yaml: ${message}`);
  });
});

describe("the files", () => {
  const root = temporaryFolder();
  beforeAll(() => {
    mkdirSync(join(root, "infra"));
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, "infra/Pulumi.yaml"), "name: p\nruntime: nodejs\n");
    writeFileSync(join(root, "infra/environments.yaml"), list);
  });
  const options = { engine: "embedded" as const, branch: "main", cliVersion: "3.260.0" };
  const write = (more: object = {}): string =>
    writePipelines("gitlab", { ...options, cwd: join(root, "infra"), ...more });

  test("are written at the top of the repository, refused when they are otherwise, and checked", () => {
    expect(() => write({ check: true })).toThrow(
      ".gitlab-ci.yml is missing: write it with 'microapps ci gitlab --engine embedded --force'",
    );
    expect(existsSync(join(root, ".gitlab-ci.yml"))).toBe(false);
    expect(write()).toBe(".gitlab-ci.yml written\n");
    expect(readFileSync(join(root, ".gitlab-ci.yml"), "utf8")).toContain('cd "infra"');
    expect([write(), write({ check: true })]).toEqual([".gitlab-ci.yml is current\n", ".gitlab-ci.yml is current\n"]);
    writeFileSync(join(root, ".gitlab-ci.yml"), "mine: {}\n");
    expect(() => write({ check: true })).toThrow(".gitlab-ci.yml is otherwise");
    expect(() => write()).toThrow("nothing was written: add --force to overwrite it");
    expect(readFileSync(join(root, ".gitlab-ci.yml"), "utf8")).toBe("mine: {}\n");
    expect(write({ force: true })).toBe(".gitlab-ci.yml written\n");
    expect(() => write({ branch: "*" })).toThrow("can't stand in a pipeline");
    expect(() => write({ output: "elsewhere" })).toThrow("--output names the top of the repository");
  });

  test("are not written through a link", () => {
    symlinkSync(tmpdir(), join(root, ".github"));
    expect(() => writePipelines("github", { ...options, cwd: join(root, "infra"), force: true })).toThrow(
      "is a symbolic link",
    );
  });

  test.each(["github", "gitlab"] as const)("of examples/gitops are what is written for %s", (flavour) => {
    const example = join(repository, "examples/gitops");
    const said = writePipelines(flavour, {
      ...{ ...options, engine: "pulumi" as const },
      ...{ cwd: example, output: ".", check: true },
    });
    expect(said).toContain("is current");
  });
});

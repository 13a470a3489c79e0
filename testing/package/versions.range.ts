import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import minVersion from "semver/ranges/min-version.js";
import { z } from "zod";
import { leftRunning } from "../harness/processes.ts";
import { environmentOf, freshFolder, repository } from "../harness/project.ts";

// `make test-range`: needs a registry. Both ends of what package.json promises, and the versions that all tests run with
// are the newest.

const execute = promisify(execFile);
const readManifest = async (path: string) =>
  z
    .object({
      version: z.string(),
      engines: z.object({ node: z.string() }),
      peerDependencies: z.record(z.string(), z.string()).default({}),
    })
    .parse(JSON.parse(await readFile(join(repository, path, "package.json"), "utf8")));
const own = await readManifest(".");
const { version: newest } = await readManifest("node_modules/@pulumi/pulumi");
const oldest = (range: string | undefined): string => minVersion(range ?? "")?.version ?? "";

/** An empty project with what npm packs installed, in which the versions alone are exchanged. */
let folder: string;
let archive: string;

beforeAll(async () => {
  folder = await freshFolder();
  const { stdout } = await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
    cwd: repository,
  });
  archive = `./${stdout.trim().split("\n").at(-1) ?? ""}`;
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
});
afterAll(async () => {
  expect(await leftRunning(folder)).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

const files = {
  "package.json": JSON.stringify({ name: "crew", private: true, type: "module" }),
  "Pulumi.yaml": JSON.stringify({
    name: "crew",
    runtime: { name: "nodejs", options: { typescript: false } },
    main: "index.js",
    backend: { url: "file://." },
    plugins: { providers: [{ name: "microapps", path: "node_modules/pulumi-microapps/plugin" }] },
  }),
  "platform.yaml": `
administrator: { email: admin@example.com, password: change-me-first }
users: [{ email: ada@example.com }]
tables:
  currencies: { name: Currencies, fields: { Code: { type: text, sort: 1 }, Name: text } }
`,
  "index.js": `
import * as pulumi from "@pulumi/pulumi";
import { getTeamOutput, Organization, SeedRows, Team, TeamMember } from "pulumi-microapps";
const acme = new Organization("acme", { name: "Acme", description: pulumi.secret("Makes everything.") });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" }, { parent: acme });
new TeamMember("ada", { teamID: crew.id, email: "ada@example.com", role: "member" }, { parent: crew });
const rows = [{ Code: "EUR", Name: pulumi.secret("Euro") }];
new SeedRows("currencies", { table: "currencies", key: "Code", rows, secretLabels: ["Name"] });
export const name = getTeamOutput({ teamID: crew.id }).name;
`,
};

/** Installs the package with these versions, and returns the Node: this one where npm has none for the machine. */
async function installed({ pulumi, node }: { pulumi: string; node: string }): Promise<string> {
  const packaged = process.platform === "linux" && node !== process.versions.node;
  const name = `node-linux-${process.arch}`;
  const packages = [archive, `@pulumi/pulumi@${pulumi}`, ...(packaged ? [`${name}@${node}`] : [])];
  const quietly = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await execute("npm", ["install", ...quietly, ...packages], { cwd: folder });
  return packaged ? join(folder, "node_modules", name, "bin/node") : process.execPath;
}

test("who takes the client or the emulator alone installs 40 MB at most", async () => {
  const alone = await freshFolder();
  try {
    await writeFile(join(alone, "package.json"), files["package.json"]);
    const quietly = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
    await execute("npm", ["install", ...quietly, join(folder, archive)], { cwd: alone });
    const { stdout } = await execute("du", ["-sk", "node_modules"], { cwd: alone });
    expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(40_000);
    expect(existsSync(join(alone, "node_modules/@pulumi"))).toBe(false);
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
});

const state = (): Promise<string> => readFile(join(folder, ".pulumi/stacks/crew/dev.json"), "utf8");

test.each([
  { pulumi: oldest(own.peerDependencies["@pulumi/pulumi"]), node: oldest(own.engines.node) },
  { pulumi: newest, node: process.versions.node },
])("a program comes up, has nothing to do and goes away: @pulumi/pulumi $pulumi, Node $node", async (versions) => {
  const node = await installed(versions);
  const microapps = async (words: string, more: Record<string, string> = {}): Promise<string> => {
    const executable = join(folder, "node_modules/pulumi-microapps/dist/bundle/microapps.js");
    const environment = {
      PATH: `${join(node, "..")}:${process.env["PATH"] ?? ""}`,
      PULUMI_CONFIG_PASSPHRASE: "dev",
      PULUMI_HOME: join(folder, ".pulumi-home"),
      XDG_STATE_HOME: join(folder, ".state"),
      MICROAPPS_ENDPOINT: "emulator:platform.db?seed=platform.yaml",
      MICROAPPS_EMAIL: "admin@example.com",
      MICROAPPS_PASSWORD: "change-me-first",
      NO_COLOR: "1",
      ...more,
    };
    const options = { cwd: folder, env: environmentOf(environment) };
    const { stdout, stderr } = await execute(node, [executable, ...words.split(" ")], options).catch(
      (error: unknown) => {
        const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
        throw new Error(`${words} failed:\n${stdout}${stderr}`);
      },
    );
    expect(stderr).toBe("");
    return stdout;
  };
  expect(await microapps("stack init dev")).toContain("Created stack");
  expect(await microapps("up --yes --skip-preview --stack dev")).toContain("+ 5 created");
  expect(await microapps("stack output name --stack dev")).toBe("Crew\n");
  expect(await state()).not.toMatch(/Makes everything|Euro/);
  expect(await microapps("preview --expect-no-changes --stack dev")).toContain("5 unchanged");
  const plugin = { MICROAPPS_PROVIDER_KIND: "plugin" };
  expect(await microapps("preview --expect-no-changes --stack dev", plugin)).toContain("5 unchanged");
  expect(await microapps("destroy --yes --skip-preview --stack dev")).toContain("- 5 deleted");
  await microapps("stack rm dev --yes");
});

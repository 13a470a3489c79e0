import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "../harness/project.ts";
import type { Cli } from "./cli.ts";

const program = `import * as microapps from "@pulumi/microapps";

const acme = new microapps.Organization("acme", { name: "Acme", description: "Makes everything." });
const crew = new microapps.Team("crew", { organizationID: acme.id, name: "Crew", description: "Runs the place." });
new microapps.TeamMember("ada", { teamID: crew.id, email: "ada@example.com", role: microapps.TeamMemberRole.Admin });
const currencies = new microapps.SeedRows("currencies", {
  table: "currencies",
  key: "Code",
  source: "../examples/environment/data/currencies.csv",
  types: { Decimals: "number" },
});
export const rows = currencies.rowCount;
export const found = microapps.getTeamOutput({ teamID: crew.id }).name;
`;

/** Folder of the project, from the copy of the repository: npm would count one among the examples as ours. */
export const nodeSdkFolder = "generated-nodejs";

/**
 * Writes a project in TypeScript, with the SDK that Pulumi generates for Node, and compiles both. Nothing is downloaded:
 * what they need besides is installed here.
 * @param root the copy of the examples
 */
export async function writeNodeSdkProject(root: string, cli: Cli): Promise<void> {
  const folder = join(root, nodeSdkFolder);
  const sdk = join(folder, "sdks/nodejs");
  await mkdir(join(folder, "node_modules/@pulumi"), { recursive: true });
  const files = {
    "Pulumi.yaml": {
      name: "microapps-nodejs",
      runtime: { name: "nodejs", options: { typescript: false } },
      main: "index.js",
      backend: { url: "file://." },
      plugins: { providers: [{ name: "microapps", path: "../plugin" }] },
    },
    "package.json": { type: "commonjs", dependencies: { "@pulumi/microapps": "file:sdks/nodejs" } },
    "tsconfig.json": { compilerOptions: { strict: true, module: "nodenext", target: "es2022" }, files: ["index.ts"] },
  };
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), JSON.stringify(content));
  await writeFile(join(folder, "index.ts"), program);
  // Its paths are relative to a project in a folder of its own, beside the others.
  await cp(join(root, "examples/yaml-resources/Pulumi.dev.yaml"), join(folder, "Pulumi.dev.yaml"));
  await cp(join(root, "examples/environment/platform.yaml"), join(root, "environment/platform.yaml"));
  await cli.succeed(folder, "package", "gen-sdk", "../plugin/schema.json", "--language", "nodejs", "--out", "sdks");
  await symlink(sdk, join(folder, "node_modules/@pulumi/microapps"));
  await compile(sdk, "--outDir", sdk);
  await compile(folder, "--outDir", folder);
}

async function compile(folder: string, ...words: readonly string[]): Promise<void> {
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  try {
    await promisify(execFile)(process.execPath, [tsc, "-p", folder, ...words]);
  } catch (error) {
    throw new Error(`tsc -p ${folder}: ${(error as { stdout?: string }).stdout ?? String(error)}`, { cause: error }); // of execFile
  }
}

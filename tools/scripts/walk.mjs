// How much of provider/ runs for one small change: the files with a named function that ran, and these functions, by coverage
// of `microapps up --skip-preview` of a project of files alone.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** The functions of provider/ that a command runs, by file. */
function walked(folder, ...words) {
  const coverage = join(folder, ".coverage");
  rmSync(coverage, { recursive: true, force: true });
  const environment = { PULUMI_CONFIG_PASSPHRASE: "walk", XDG_STATE_HOME: join(folder, ".state") };
  const env = { ...process.env, ...environment, NODE_V8_COVERAGE: coverage };
  execFileSync(process.execPath, ["--no-warnings", join(dist, "cli/commands/microapps.js"), ...words], {
    cwd: folder,
    env,
  });
  const ran = new Map();
  for (const name of readdirSync(coverage))
    for (const { url, functions } of JSON.parse(readFileSync(join(coverage, name), "utf8")).result) {
      const [, path] = url.split("/dist/provider/");
      const called = functions
        .slice(1)
        .filter(({ ranges, functionName }) => ranges[0].count > 0 && functionName !== "");
      if (path !== undefined && called.length > 0)
        ran.set(path, new Set([...(ran.get(path) ?? []), ...called.map(({ ranges }) => ranges[0].startOffset)]));
    }
  return ran;
}

/** Tells of each change how many files and functions run for it; with `--names`, which. */
export function walk() {
  const folder = mkdtempSync(join(tmpdir(), "microapps-walk-"));
  const write = (name, text) => writeFileSync(join(folder, name), text);
  const declare = ({ people = "member", organization = "" } = {}) =>
    write(
      "dev.yaml",
      `organizations:\n  acme:\n    name: Acme\n    teams:\n      crew: { name: Crew, members: { ada@example.com: ${people} } }\n${organization}`,
    );
  const seeds = (cell) => {
    write("dev.yaml", "seeds:\n  countries: { table: countries, key: Code, source: countries.csv }\n");
    write("countries.csv", `Code,Name\nAT,${cell}\nPT,Portugal\n`);
  };
  const changes = {
    "one changed cell": [() => seeds("Austira"), () => seeds("Austria")],
    "a TeamMember's role": [() => declare(), () => declare({ people: "admin" })],
    "a new organization": [() => declare(), () => declare({ organization: "  other: { name: Other }\n" })],
  };
  const up = ["up", "--yes", "--skip-preview", "--stack", "dev"];
  try {
    cpSync(new URL("../../examples/environment/platform.yaml", import.meta.url), join(folder, "platform.yaml"));
    console.log("provider/ that runs for   files  functions");
    for (const [change, [before, after]] of Object.entries(changes)) {
      for (const left of [".pulumi", ".state", "platform.db"])
        rmSync(join(folder, left), { recursive: true, force: true });
      write(
        "Pulumi.yaml",
        "name: walk\nruntime: yaml\nbackend: { url: file://. }\nresources:\n  environment: { type: microapps:Environment, properties: { file: dev.yaml } }\n",
      );
      write(
        "Pulumi.dev.yaml",
        `config:\n  microapps:endpoint: emulator:platform.db?seed=platform.yaml\n  microapps:email: admin@example.com\n  microapps:password: change-me-first\n`,
      );
      before();
      walked(folder, "stack", "init", "dev");
      walked(folder, ...up);
      after();
      const ran = walked(folder, ...up);
      const functions = [...ran.values()].reduce((sum, { size }) => sum + size, 0);
      console.log(`${change.padEnd(24)}${String(ran.size).padStart(7)}${String(functions).padStart(11)}`);
      if (process.argv.includes("--names"))
        for (const [path, { size }] of [...ran].sort(([a], [b]) => (a < b ? -1 : 1)))
          console.log(`  ${path.replace(/\.js$/, ".ts")}: ${size}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

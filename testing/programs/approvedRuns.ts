import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { changeSet } from "../../cli/changes/model/changeSet.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { sealDigest } from "../../provider/approval/seal.ts";
import { createClient } from "../../provider/client/index.ts";
import { environment as environmentFile, programs, rows } from "../gitops/approvalFiles.ts";
import type { Backend } from "./backends.ts";
import { Cli } from "./cli.ts";
import { repository } from "./schema.ts";

// The story of an approval with the real CLI, wherever its state is, against the embedded engine's calls: report without the
// state, approval by digest, run, a second use, a program that changed since, and a row that was edited by hand.

const login = { email: "admin@example.com", password: "correct-horse" };
const changed = {
  "dev.yaml": environmentFile.replace("name: Crew", "name: Crew 2").replace(", bob@example.com: member", ""),
  "regions.csv": rows.replace("North", "Far north").replace("E,East", "W,West"),
};

const microapps = join(repository, "dist/bundle/microapps.js");

/** Where and how a story is run. */
export interface Telling {
  /** The CLI's file. */
  program: string;
  /** A folder with the package. */
  root: string;
  /** Where the state is; undefined for a folder. */
  backend: Backend | undefined;
  /** The kind of provider. */
  providerKind: keyof typeof programs;
}

/** Runs the story with a CLI whose state is in a place. Throws where something is otherwise. */
export async function runApproved(telling: Telling): Promise<void> {
  const fields = { Code: "text", Name: "text" } as const;
  const tables = { regions: { fields }, offices: { fields } };
  const emulator = await createEmulator({ seed: { administrator: login, tables } });
  const story = await Story.begin(telling, emulator);
  try {
    await story.tell();
  } finally {
    await story.end();
    await emulator.close();
  }
}

class Story {
  readonly #folder: string;
  readonly #outside: string;
  readonly #cli: Cli;
  readonly #emulator: Emulator;
  /** The stack's own file and the exported state, from when everything was as declared at first. */
  #begun = { settings: "", state: "" };

  readonly #environment: Readonly<Record<string, string>>;

  readonly #files: Readonly<Record<string, string>>;

  private constructor(
    outside: string,
    { program, providerKind }: Telling,
    environment: Readonly<Record<string, string>>,
    emulator: Emulator,
  ) {
    this.#files = { "index.js": programs[providerKind], "dev.yaml": environmentFile, "regions.csv": rows };
    this.#outside = outside;
    this.#folder = join(outside, "project");
    this.#environment = environment;
    this.#cli = new Cli(program, join(outside, "home"), environment);
    this.#emulator = emulator;
  }

  static async begin(telling: Telling, emulator: Emulator): Promise<Story> {
    const { root, backend, providerKind } = telling;
    const outside = await mkdtemp(join(root, "approval-"));
    for (const name of ["project", "states", "notes"]) await mkdir(join(outside, name));
    const environment = {
      XDG_STATE_HOME: join(outside, "notes"),
      MICROAPPS_APPROVAL_KEY: "a key that the apply job alone knows",
      PULUMI_BACKEND_URL: `file://${join(outside, "states")}`,
      ...backend?.environment,
    };
    const story = new Story(outside, telling, environment, emulator);
    const config = Object.entries({ endpoint: emulator.url, ...login }).map(([key, value]) => [
      `microapps:${key}`,
      value,
    ]);
    await story.#write("Pulumi.dev.yaml", JSON.stringify({ config: Object.fromEntries(config) as object }));
    const runtime = { name: "nodejs", options: { typescript: false } };
    const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
    const own = providerKind === "plugin" ? { plugins } : {};
    await story.#write("Pulumi.yaml", JSON.stringify({ name: "tests", runtime, main: "index.js", ...own }));
    return story;
  }

  async end(): Promise<void> {
    await rm(this.#outside, { recursive: true, force: true });
  }

  #write(file: string, text: string): Promise<void> {
    return writeFile(join(this.#folder, file), text);
  }

  async tell(): Promise<void> {
    await this.#prepare();
    const asEmbedded = await this.#embedded();
    await this.#cli.succeed(this.#folder, "stack", "init", "dev");

    await this.#begin();
    const report = await this.#approved("first");
    const { calls, output } = await this.#up(report, 0);
    same("the calls of both engines", calls, asEmbedded, output);
    await this.#cli.succeed(this.#folder, "preview", "--stack", "dev", "--expect-no-changes");

    await this.#begin();
    const again = await this.#up(report, "refused");
    same("the calls of a second use", again.calls, [], again.output);
    if (!again.output.includes("a run was made with this approval already"))
      throw new Error(`no reason is given:\n${again.output}`);

    await this.#begin();
    const read = await this.#approved("read");
    await this.#write("index.js", `${this.#files["index.js"] ?? ""}console.log("more");\n`);
    const other = await this.#up(read, "refused");
    same("the calls of another program", other.calls, [], other.output);
    if (!other.output.includes("what runs (index.js) is not as it was"))
      throw new Error(`no file is named:\n${other.output}`);
    await this.#write("index.js", this.#files["index.js"] ?? "");

    await this.#begin();
    const seen = await this.#approved("late");
    await this.#editRow("N");
    const late = await this.#up(seen, "refused");
    if (!late.output.includes("left alone: 1 row of table regions"))
      throw new Error(`no row is named:\n${late.output}`);
    const rest = await this.#up(await this.#approved("rest"), 0);
    if (!rest.calls.some((call) => call.startsWith("updatemicroapprow")))
      throw new Error(`no row is written:\n${rest.output}`);
    await this.#cli.succeed(this.#folder, "preview", "--stack", "dev", "--expect-no-changes");
  }

  /** Declares everything as at first, by the embedded engine with its state in a file. */
  async #prepare(): Promise<void> {
    await this.#write("environments.yaml", "dev: { file: dev.yaml }\n");
    for (const [file, text] of Object.entries(this.#files)) await this.#write(file, text);
    const own = this.#own;
    for (const words of ["stack init dev", "config set --secret tests:motto we-hide-this", "up --yes --skip-preview"])
      await this.#microapps(words.split(" "), own);
    const git = (...words: string[]): Buffer => execFileSync("git", words, { cwd: this.#folder });
    git("init", "--quiet", "--initial-branch=main");
    git("add", ...Object.keys(this.#files), "environments.yaml", "Pulumi.yaml", "Pulumi.dev.yaml");
    git("-c", "user.name=Tests", "-c", "user.email=tests@example.com", "commit", "--quiet", "-m", "first");
    const exported = join(this.#outside, "state.json");
    await this.#microapps(["stack", "export", "--file", exported], own);
    this.#begun = { settings: await readFile(join(this.#folder, "Pulumi.dev.yaml"), "utf8"), state: exported };
    this.#emulator.saveSnapshot("begun");
    for (const [file, text] of Object.entries(changed)) await this.#write(file, text);
  }

  /** Calls of the embedded engine with an approval that was made without the state. */
  async #embedded(): Promise<string[]> {
    const report = await this.#approved("embedded", { PULUMI_BACKEND_URL: "s3://elsewhere" });
    const own = this.#own;
    const since = this.#emulator.lastCall();
    await this.#microapps(["up", "--stack", "dev", "--yes", "--skip-preview", "--approved", report], own);
    return this.#calls(since);
  }

  /** A report of this tree that is approved by the digest that it shows. */
  async #approved(name: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    await this.#write("Pulumi.dev.yaml", this.#begun.settings);
    const file = join(this.#outside, `${name}.json`);
    await this.#microapps(["report", "dev", "--format", "json", "--output", file], more);
    const [dev] = changeSet.parse(JSON.parse(await readFile(file, "utf8"))).environments;
    if (!dev?.seal || "why" in dev.seal) throw new Error(`there is no seal: ${JSON.stringify(dev?.seal)}`);
    if (name === "first" && dev.seal.state !== "unknown" && this.#isElsewhere) throw new Error("the state was read");
    await this.#microapps(["approve", file, "--expect", sealDigest(dev.seal)], more);
    return file;
  }

  /** Where the embedded engine has its state. */
  get #own(): Record<string, string> {
    return { PULUMI_BACKEND_URL: `file://${this.#folder}` };
  }

  get #isElsewhere(): boolean {
    return !(this.#environment["PULUMI_BACKEND_URL"] ?? "").startsWith("file:");
  }

  /** Platform and state of the CLI as they were at first. */
  async #begin(): Promise<void> {
    this.#emulator.loadSnapshot("begun");
    await this.#cli.succeed(this.#folder, "stack", "import", "--stack", "dev", "--file", this.#begun.state);
  }

  /** An approved run of the CLI. */
  async #up(report: string, expected: 0 | "refused"): Promise<Run> {
    await this.#write("Pulumi.dev.yaml", this.#begun.settings);
    const since = this.#emulator.lastCall();
    const words = ["up", "--stack", "dev", "--yes", "--skip-preview"];
    const { status, output } = await this.#cli.run(this.#folder, words, { MICROAPPS_APPROVED: report });
    if ((status === 0) !== (expected === 0)) throw new Error(`up ended with ${String(status)}:\n${output}`);
    return { calls: this.#calls(since), output };
  }

  #calls(since: number): string[] {
    return this.#emulator
      .calls({ since, mutating: true })
      .map(({ endpoint, request }) => `${endpoint} ${JSON.stringify(request)}`)
      .toSorted();
  }

  async #editRow(code: string): Promise<void> {
    const client = createClient({ endpoint: this.#emulator.url, ...login });
    const searchFilter = [{ skip: 0, limit: 100 }];
    const { microAppRows } = await client.microappdata({ microAppID: "regions", searchFilter });
    const rowID = microAppRows.find((row) => row["Code"] === code)?._id ?? "";
    await client.updatemicroapprow({ rowID, microAppID: "regions", rowData: { Name: "By hand" } });
    await client.close();
  }

  async #microapps(words: string[], more: Readonly<Record<string, string>>): Promise<void> {
    const own = new Cli(process.execPath, join(this.#outside, "home"), { ...this.#environment, ...more });
    await own.succeed(this.#folder, "--no-warnings", microapps, ...words);
  }
}

interface Run {
  calls: string[];
  output: string;
}

function same(what: string, is: readonly string[], was: readonly string[], output: string): void {
  if (JSON.stringify(is) === JSON.stringify(was)) return;
  throw new Error(`${what} are not those expected:\n${is.join("\n")}\nbut expected\n${was.join("\n")}\n${output}`);
}

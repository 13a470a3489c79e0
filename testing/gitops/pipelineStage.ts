import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { createEmulator } from "../../cli/commands/emulator/createEmulator.ts";
import type { Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { runCommand } from "../harness/commands.ts";
import { freshFolder, repository } from "../harness/project.ts";
import { Runner } from "./runner.ts";

/** Environments of examples/gitops under names of their own, in the order in which they are applied. */
export const environments = ["lab", "pre-live", "live.eu"] as const;
/** Their names in those of jobs. */
export const jobs = ["lab", "pre-live", "live_eu"] as const;
export const passphrase = "the passphrase of the stacks";
const account = { email: "admin@example.com", password: "admin" };

/** examples/gitops in a repository with a remote: an emulator for each environment, and what runs its pipelines' jobs. */
export class PipelineStage {
  readonly folder: string;
  /** The clone of the person who writes branches. */
  readonly author: string;
  readonly #platforms = new Map<string, Emulator>();
  #runner: Runner | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    this.author = join(folder, "author");
  }

  static async open(): Promise<PipelineStage> {
    const stage = new PipelineStage(await freshFolder());
    await stage.#write();
    await stage.#configure();
    return stage;
  }

  async close(): Promise<void> {
    for (const platform of this.#platforms.values()) await platform.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  get runner(): Runner {
    if (!this.#runner) throw new Error("the stage is not open yet");
    return this.#runner;
  }

  /** Where the states are. */
  get own(): Readonly<Record<string, string>> {
    return { PULUMI_BACKEND_URL: `file://${join(this.folder, "states")}` };
  }

  async #write(): Promise<void> {
    cpSync(join(repository, "examples/gitops"), this.author, {
      recursive: true,
      filter: (path) => !/^\.(github|gitlab.*|microapps|pulumi)$/.test(basename(path)),
    });
    for (const [at, name] of environments.entries()) {
      const file = `${["dev", "staging", "prod"][at] ?? ""}.yaml`;
      renameSync(join(this.author, file), join(this.author, `${name}.yaml`));
      const data = join(this.folder, `${name}.db`);
      this.#platforms.set(name, await createEmulator({ data, seed: join(this.author, "platform.yaml") }));
    }
    const lines = environments.map((name, at) => {
      const after = at === 0 ? "" : `, after: ${environments[at - 1] ?? ""}`;
      return `${name}: { file: ${name}.yaml, endpoint: ${this.platform(name).url}${after} }\n`;
    });
    this.write("environments.yaml", lines.join(""));
    this.write(".gitignore", "node_modules\n.microapps\n.pulumi\n");
    this.write("package-lock.json", '{ "lockfileVersion": 3, "version": "of the base" }\n');
    const remote = join(this.folder, "remote.git");
    execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", remote]);
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("remote", "add", "origin", remote);
  }

  /** Makes the stacks and pipelines, and gives the jobs their variables and secrets. */
  async #configure(): Promise<void> {
    mkdirSync(join(this.folder, "states"));
    const { own } = this;
    for (const name of environments)
      await this.command(["stack", "init", name], { ...own, PULUMI_CONFIG_PASSPHRASE: passphrase });
    await this.command(["ci", "github", "--engine", "embedded"]);
    await this.command(["ci", "gitlab", "--engine", "embedded"]);
    const secrets = { MICROAPPS_PASSWORD: account.password, PULUMI_CONFIG_PASSPHRASE: passphrase };
    const protectedOnes = environments.flatMap((name) => [name, `${name}-read`]);
    const vars = { ...own, MICROAPPS_EMAIL: account.email };
    this.#runner = new Runner(this.folder, join(this.folder, "remote.git"), {
      "": { vars: own, secrets: {} },
      ...Object.fromEntries(protectedOnes.map((name) => [name, { vars, secrets }])),
    });
  }

  platform(name: string): Emulator {
    const found = this.#platforms.get(name);
    if (!found) throw new Error(name);
    return found;
  }

  git(...words: string[]): string {
    return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], {
      cwd: this.author,
      encoding: "utf8",
    }).trim();
  }

  /** Commits everything, pushes the branch and returns the commit. */
  commit(message: string): string {
    this.git("add", "--all");
    this.git("commit", "--quiet", `--message=${message}`);
    this.git("push", "--quiet", "origin", "HEAD");
    return this.git("rev-parse", "HEAD");
  }

  read(file: string): string {
    return readFileSync(join(this.author, file), "utf8");
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.author, file), text);
  }

  edit(file: string, piece: string, instead: string): void {
    const text = this.read(file);
    if (text.split(piece).length !== 2) throw new Error(`"${piece}" is not in ${file} exactly once`);
    this.write(
      file,
      text.replace(piece, () => instead),
    );
  }

  async command(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const own = { PATH: process.env["PATH"], HOME: this.folder, NO_COLOR: "1", ...environment };
    const { status, output } = await runCommand({ words, folder: this.author, environment: own });
    if (status !== 0) throw new Error(output);
    return output;
  }

  /** Variables with which the command reaches the platform of an environment. */
  login(name: string): Readonly<Record<string, string>> {
    return {
      MICROAPPS_ENDPOINT: this.platform(name).url,
      MICROAPPS_EMAIL: account.email,
      MICROAPPS_PASSWORD: account.password,
    };
  }

  /** Somebody changes a platform by hand. */
  async byHand<Answer>(name: string, work: (client: Client) => Promise<Answer>): Promise<Answer> {
    const client = createClient({ endpoint: this.platform(name).url, ...account });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  workflow(name: string): string {
    return this.read(`.github/workflows/microapps-${name}.yml`);
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { variableOf } from "../provider/pulumi/configuration/keys.ts";
import type { Platform } from "./platform.ts";

const repository = path.join(import.meta.dirname, "../..");
const description = (name: string): string =>
  `name: ${name}\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.mjs\nbackend: { url: "file://." }\n`;

/** A program with a stack of its own, run by the embedded engine against a platform. */
export class Project {
  readonly #folder: string;
  readonly #variables: Record<string, string>;

  private constructor(folder: string, variables: Record<string, string>) {
    this.#folder = folder;
    this.#variables = variables;
  }

  static async of(name: string, program: string, { configuration }: Platform): Promise<Project> {
    const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
    await writeFile(path.join(folder, "Pulumi.yaml"), description(name));
    await writeFile(path.join(folder, "index.mjs"), program);
    await symlink(path.join(repository, "node_modules"), path.join(folder, "node_modules"));
    const settings = Object.entries(configuration).map(
      ([key, value]) => [variableOf(key.replace("microapps:", "")), value] as const,
    );
    const project = new Project(folder, Object.fromEntries<string>(settings));
    await project.run("stack", "init");
    return project;
  }

  async run(...words: string[]): Promise<void> {
    const command = ["--no-warnings", path.join(repository, "dist/bundle/microapps.js"), ...words, "--stack", "dev"];
    const child = spawn(process.execPath, command, {
      cwd: this.#folder,
      env: { ...process.env, HOME: this.#folder, PULUMI_CONFIG_PASSPHRASE: "bench", ...this.#variables },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [status] = (await once(child, "exit")) as [number | null]; // the event's first argument
    if (status !== 0) throw new Error(`${words.join(" ")} ended with ${String(status)}`);
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}

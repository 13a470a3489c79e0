import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { spawned, type Ended } from "../harness/project.ts";

const searched = (process.env["PATH"] ?? "").split(delimiter);
const endings = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];

/** Finds a program's file in one of these folders (default: those of PATH). */
export function executable(program: string, folders: readonly string[] = searched): string | undefined {
  const files = folders.flatMap((folder) => endings.map((ending) => join(folder, program + ending)));
  return files.find((file) => existsSync(file));
}

/** A Pulumi CLI, or the embedded engine, that runs in a folder on the stack `dev`, with a home of its own. */
export class Cli {
  readonly #program: string;
  readonly #first: readonly string[];
  readonly #environment: Record<string, string | undefined>;

  /**
   * @param program the CLI's file
   * @param home folder for what it keeps: plugins, credentials
   * @param own more for its environment
   * @param first words before those of each command
   */
  constructor(
    program: string,
    home: string,
    own: Readonly<Record<string, string>> = {},
    first: readonly string[] = [],
  ) {
    this.#program = program;
    this.#first = first;
    const inherited = Object.entries(process.env).filter(([name]) => !/^(MICROAPPS|NODE)_/.test(name));
    this.#environment = {
      ...Object.fromEntries(inherited),
      PULUMI_HOME: home,
      XDG_STATE_HOME: home,
      PULUMI_CONFIG_PASSPHRASE: "dev",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true", // all that is needed is here
      NO_COLOR: "1",
      ...own,
    };
  }

  /** True when it has the host of a language, beside itself or on PATH. */
  hasHost(language: string): boolean {
    return executable(`pulumi-language-${language}`, [dirname(realpathSync(this.#program)), ...searched]) !== undefined;
  }

  /** Runs a command that must succeed, and returns its output. */
  async succeed(folder: string, ...args: readonly string[]): Promise<string> {
    const { status, output } = await this.run(folder, args);
    if (status !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${String(status)}:\n${output}`);
    return output;
  }

  /** Runs a command. @param more for its environment */
  run(folder: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const words = [...this.#first, ...args, "--non-interactive"];
    return spawned(this.#program, words, folder, { ...this.#environment, ...more }).ended;
  }
}

import { expect } from "@jest/globals";
import { parse, stringify } from "yaml";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { leftRunning } from "../harness/processes.ts";
import { Project, runsInPulumi } from "../harness/project.ts";

const imports = 'import { Organization, Provider, Team, TeamMember, TeamRoster } from "pulumi-microapps";\n';

/** Password of the configured account. It is not part of any sentence: an engine hides it wherever it is printed. */
export const password = "correct-horse";

/** A program that is right. */
export const program = 'new Organization("acme", { name: "Acme" });\n';

/** An environment that is right. */
const organization = "organizations: { acme: { name: Acme } }\n";

export interface Mistake {
  /** The environment file (default: one that is right). */
  declared?: string;
  /** A program instead of the file. */
  program?: string;
  files?: Readonly<Record<string, string>>;
  environment?: Readonly<Record<string, string | undefined>>;
  /** More of the stack's configuration, in clear. */
  config?: Readonly<Record<string, string>>;
  command: readonly [string, ...string[]];
  /** Endpoints of the changing calls that are made before the mistake can be known (default: none). */
  sent?: string[];
  /** The exit status (default: 1). */
  status?: number;
  /** Why the Pulumi CLI can't say the same; both engines do without a reason. */
  embeddedOnly?: string;
}

/** Mistakes for which the engine that runs the tests prints the same: the embedded one, or the CLI of TEST_PULUMI. */
export const sayable = <Entry extends readonly [string, Mistake, ...unknown[]]>(entries: readonly Entry[]): Entry[] =>
  entries.filter(([, { embeddedOnly }]) => !runsInPulumi || embeddedOnly === undefined);

/** Mistakes found by a preview: nothing has been sent for it. */
export const known = ["up", "--yes"] as const;
/** Mistakes found on the way. */
export const later = ["up", "--yes", "--skip-preview"] as const;

/** A project of its own with a platform, in which people make mistakes. */
export class MistakeBench {
  readonly project: Project;
  readonly emulator: Emulator;
  /** The state of the stack before anything is done. */
  readonly #empty: string;
  /** An address where nobody answers any more. */
  readonly #nobody: string;

  private constructor(project: Project, emulator: Emulator, { empty, nobody }: { empty: string; nobody: string }) {
    this.project = project;
    this.emulator = emulator;
    this.#empty = empty;
    this.#nobody = nobody;
  }

  static async start(): Promise<MistakeBench> {
    const emulator = await createEmulator({
      seed: {
        administrator: { email: "admin@example.com", password },
        tables: { regions: { fields: { Code: "text", Name: "text" } } },
      },
    });
    const config = { "microapps:endpoint": emulator.url, "microapps:email": "admin@example.com" };
    const project = await Project.declaring(config);
    await project.succeed("stack init dev");
    await project.succeed(`config set microapps:password --secret ${password}`);
    const gone = await createEmulator();
    await gone.close();
    return new MistakeBench(project, emulator, { empty: await project.stateText(), nobody: gone.url });
  }

  async close(): Promise<void> {
    const left = await leftRunning(this.project.folder);
    await this.project.remove();
    await this.emulator.close();
    expect(left).toEqual([]);
  }

  async reset(): Promise<void> {
    await this.emulator.reset();
    await this.project.write(".pulumi/stacks/tests/dev.json", this.#empty);
  }

  /** Makes a mistake, and returns the output. */
  async outputOf(mistake: Mistake): Promise<string> {
    const {
      declared = organization,
      program,
      files = {},
      environment = {},
      config = {},
      command,
      sent = [],
      status = 1,
    } = mistake;
    const { project, emulator } = this;
    await project.write("dev.yaml", declared);
    const filesAlone = await project.read("Pulumi.yaml");
    if (program !== undefined) {
      await project.write("index.js", imports + program);
      const runtime = { name: "nodejs", options: { typescript: false } };
      await project.write(
        "Pulumi.yaml",
        stringify({ ...(parse(filesAlone) as object), runtime, main: "index.js", resources: undefined }),
      );
    }
    const settings = await project.read("Pulumi.dev.yaml");
    if (Object.keys(config).length > 0) {
      const stack = parse(settings) as { config: object }; // written by `start`
      await project.write("Pulumi.dev.yaml", stringify({ ...stack, config: { ...stack.config, ...config } }));
    }
    for (const [file, text] of Object.entries(files))
      await project.write(file, text.replace("<4 MB>", "x".repeat(4 * 2 ** 20)));
    const set = Object.entries(environment).map(([name, value]) => [
      name,
      value?.replace("<nobody>", this.#nobody).replace("<platform>", emulator.url),
    ]);
    const before = { ...project.environment };
    Object.assign(project.environment, Object.fromEntries(set));
    const since = emulator.lastCall();
    const ended = await project.run(...command);
    for (const [name = ""] of set) project.environment[name] = before[name];
    await project.write("Pulumi.dev.yaml", settings);
    await project.write("Pulumi.yaml", filesAlone);
    expect(ended).toMatchObject({
      status,
      output: expect.not.stringMatching(/^\s+at |node:internal|\.js:\d/m) as unknown,
    }); // no stack trace
    expect(emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint)).toEqual(sent);
    return ended.output.replaceAll(this.#nobody, "<nobody>").replaceAll(project.folder, "<folder>");
  }

  /** Makes a mistake, and returns its errors: those under the last Diagnostics, or all output. */
  async errorsOf(mistake: Mistake): Promise<string[]> {
    const output = await this.outputOf(mistake);
    const [last = ""] = output.split("Diagnostics:\n").slice(-1);
    const [told = ""] = last.split(/\n\n(?:Resources|Outputs):/);
    const lines = told
      .slice(Math.max(0, told.indexOf("error: ")))
      .trimEnd()
      .replaceAll("pulumi:providers:microapps resource 'default' has a problem: ", "")
      .split(/\n\s*/);
    return runsInPulumi ? unframed(lines) : lines;
  }
}

/** Without what the Pulumi CLI puts around our sentences: a line for the run, the name of each resource, a list of one. */
const unframed = (lines: readonly string[]): string[] =>
  lines
    .filter((line) => !/^error: (update|preview) failed$|^\S+:\S+ \(.*\):$|^error: 1 error occurred:$/.test(line))
    .map((line) => line.replace(/^\* /, "error: resource partially created but not ready: "));

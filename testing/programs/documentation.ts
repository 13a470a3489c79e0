import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { presentSchema } from "../../tools/packageSchema.ts";
import { allSnippets } from "../../tools/snippets/snippets.ts";
import { found, type Cli } from "./cli.ts";

/** The examples of the documentation in a language, which are run or compiled with the SDK that a CLI generates. */
export interface Documented {
  name: string;
  language: "python" | "go";
  runtime: string;
}

export const documented: readonly Documented[] = [
  { name: "documentation-python", language: "python", runtime: "python3" },
  { name: "documentation-go", language: "go", runtime: "go" },
];

/** Why the examples of a language can't be tried here, if they can't. */
export function obstacleOf({ language, runtime }: Documented, cli: Cli): string | undefined {
  if (!cli.hasHost(language)) return `this Pulumi CLI comes without pulumi-language-${language}`;
  return found(runtime) === undefined ? `there is no ${runtime} on PATH` : undefined;
}

/** Tries all examples of a language. @param root a copy of the repository's examples and plugin */
export async function runDocumented({ name, language }: Documented, cli: Cli, root: string): Promise<void> {
  const folder = join(root, name);
  await mkdir(folder);
  const schema = join(root, "plugin/schema.json");
  await cli.succeed(folder, "package", "gen-sdk", schema, "--language", language, "--out", folder);
  const snippets = allSnippets(presentSchema("0.0.0")).filter(({ snippet }) => snippet.mark === language);
  await (language === "python" ? python : go)(
    folder,
    root,
    new Map(snippets.map(({ of, snippet }) => [of, snippet.code])),
  );
}

const execute = promisify(execFile);

/** Resources and answers without a platform: each has the inputs that it was given. */
const mocks = `import runpy, sys, pulumi
class Mocks(pulumi.runtime.Mocks):
    def new_resource(self, args): return [args.name, args.inputs]
    def call(self, args): return {}
for file in sys.argv[1:]:
    pulumi.runtime.set_mocks(Mocks())
    runpy.run_path(file)
`;

async function python(folder: string, _: string, snippets: ReadonlyMap<string, string>): Promise<void> {
  const files = [...snippets].map(([of, code]) => ({ file: join(folder, `${of}.py`), code }));
  for (const { file, code } of [...files, { file: join(folder, "mocks.py"), code: mocks }]) await writeFile(file, code);
  await execute("python3", ["-m", "venv", join(folder, "venv")]);
  const own = join(folder, "venv/bin/python");
  await execute(own, ["-m", "pip", "install", "--quiet", join(folder, "python")]);
  await execute(own, [join(folder, "mocks.py"), ...files.map(({ file }) => file)]);
}

async function go(folder: string, root: string, snippets: ReadonlyMap<string, string>): Promise<void> {
  for (const [of, code] of snippets) {
    await mkdir(join(folder, "programs", of), { recursive: true });
    await writeFile(join(folder, "programs", of, "main.go"), code);
  }
  // The modules of the example, with the SDK in another place.
  const modules = await readFile(join(root, "examples/go/go.mod"), "utf8");
  await writeFile(join(folder, "programs/go.mod"), modules.replace(/=> \.\/sdks\/\S+/, "=> ../go"));
  await cp(join(root, "examples/go/go.sum"), join(folder, "programs/go.sum"));
  await writeFile(join(folder, "go/go.mod"), "module example.com/pulumi-microapps/sdk/go\n\ngo 1.22\n");
  await execute("go", ["build", "./..."], { cwd: join(folder, "programs") });
}

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { examplesIn, programsOf, repository, type Language } from "./files.ts";

/** What came of a language's own tools: problems, or why there is less to say. */
export interface Verdict {
  problems: string[];
  /** What was not checked, and why. */
  note?: string;
}

const missing = (program: string): boolean => spawnSync(program, ["--version"]).error !== undefined;

function run(folder: string, program: string, args: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: join(repository, folder),
    encoding: "utf8",
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return error?.message ?? (status === 0 ? stdout : stdout + stderr || `${program} ended with ${status ?? "a signal"}`);
}

const lines = (folder: string, output: string): string[] =>
  output
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => `${folder}: ${line}`);

/** Python reads each program, and writes nothing. */
function python(folder: string): Verdict {
  if (missing("python3"))
    return { problems: [], note: "Python is not installed: its programs are held against the schema alone" };
  const read = "import sys\nfor file in sys.argv[1:]: compile(open(file, encoding='utf-8').read(), file, 'exec')";
  const files = programsOf(folder, "python").map((file) => join(repository, file));
  return { problems: lines(folder, run(folder, "python3", ["-c", read, ...files])) };
}

/** gofmt reads each program; where the SDK has been generated, Go compiles it too. */
function go(folder: string): Verdict {
  if (missing("gofmt") && missing("go")) {
    return { problems: [], note: "Go is not installed: its programs are held against the schema alone" };
  }
  const files = programsOf(folder, "go").map((file) => join(repository, file));
  const formatted = lines(folder, run(folder, "gofmt", ["-l", "-e", ...files]));
  if (formatted.length > 0) return { problems: formatted.map((line) => `${line} (gofmt -d shows what it wants)`) };
  if (!existsSync(join(repository, folder, "sdks/microapps"))) {
    return { problems: [], note: `${folder} is not compiled: there is no SDK; "pulumi install" makes it` };
  }
  return { problems: lines(folder, run(folder, "go", ["vet", "."])) };
}

/** What the tools of the languages say of the examples, where they are installed. */
export const verdicts = (): Verdict[] =>
  (
    [
      ["python", python],
      ["go", go],
    ] as const satisfies [Language, unknown][]
  ).flatMap(([language, judge]) => examplesIn(language).map((folder) => judge(folder)));

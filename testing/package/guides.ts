import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sampleOf } from "../harness/drawn.ts";
import { repository } from "../harness/project.ts";

/** The guides, in the order in which they go on from each other: all of them use one folder. */
const all = [
  ...["start", "seeds", "people", "environments", "between", "testing", "platform", "reliance", "scaling"],
  "client",
];

/** Guides that `make test` runs: the first one. */
const drawn = sampleOf(all, 1);

/** A code block, such as ```` ```sh ````: what it is, what else stands there, and where. */
interface Block {
  at: string;
  language: string;
  mark: string;
  code: string;
}

/**
 * Blocks that are run are marked `sh`, in one shell from the first guide to the last; `sh pulumi-cli`, `sh s3` and
 * `sh postgresql` where there is a Pulumi CLI. `elsewhere: …` gives the reason why no machine of ours can run it. Another
 * block with a file's name is that file, and `text` has lines that the block before it prints.
 */
const optional = ["pulumi-cli", "s3", "postgresql"];

/** Marks of blocks that can be run, each with the address in place of the store that such a block names; empty where it names none. */
export type Able = Readonly<Record<string, string>>;

const folder = join(repository, "docs/guides");

function blocksOf(guide: string): Block[] {
  const text = readFileSync(join(folder, `${guide}.md`), "utf8");
  return [...text.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms)].map(
    ({ index, 1: language = "", 2: mark = "", 3: code = "" }) => ({
      at: `docs/guides/${guide}.md:${text.slice(0, index).split("\n").length}`,
      language,
      mark,
      code,
    }),
  );
}

const isRun = ({ language, mark }: Block, able: Able): boolean =>
  language === "sh" && (mark === "" || Object.hasOwn(able, mark));

/** Blocks that nobody would run: a mark with no meaning, or a file that a reader can't name. */
function problemOf({ at, language, mark }: Block): string[] {
  const isKnown =
    mark.startsWith("elsewhere: ") ||
    (language === "sh" ? ["", ...optional].includes(mark) : language === "text" || mark.includes("."));
  return isKnown ? [] : [`${at}: nobody knows how to run "${language} ${mark}"`];
}

/**
 * Runs the guides in a folder, in one shell, and returns the failures. `make test` runs some of them.
 * @param limitMs a guide that hangs ends then
 */
export async function runGuides(
  own: string,
  environment: Readonly<Record<string, string>>,
  able: Able = {},
  limitMs = 540_000,
): Promise<string[]> {
  const missing = readdirSync(folder).filter((file) => !all.includes(file.replace(/\.md$/, "")));
  const run = Object.keys(able).length > 0 ? all : drawn;
  const blocks = run.flatMap(blocksOf);
  const script = ["set -e", ...blocks.map((block, index) => stepOf(block, index, able))].join("\n");
  await writeFile(join(own, "../guides.sh"), script);
  const { status, output } = await shell(join(own, "../guides.sh"), own, environment, limitMs);
  const printed = new Map(
    [...output.matchAll(/^::(\d+)\n(.*?)(?=^::\d+\n|$(?![^]))/gms)].map(([, index, text]) => [
      Number(index),
      text ?? "",
    ]),
  );
  const problems = [
    ...missing.map((file) => `docs/guides/${file} is in no order`),
    ...all.flatMap(blocksOf).flatMap(problemOf),
  ];
  const last = Math.max(...printed.keys());
  if (status !== 0) return [`${blocks[last]?.at ?? ""} ended with ${String(status)}:\n${printed.get(last) ?? output}`];
  let said: string | undefined;
  for (const [index, block] of blocks.entries()) {
    if (block.language === "sh") said = isRun(block, able) ? (printed.get(index) ?? "") : undefined;
    if (block.language !== "text" || said === undefined) continue;
    for (const line of block.code.trim().split("\n")) {
      if (!said.includes(line.trim())) problems.push(`${block.at}: "${line}" was not said:\n${said}`);
    }
  }
  return problems;
}

/** The shell's commands for a block. */
function stepOf(block: Block, index: number, able: Able): string {
  const { language, mark, code } = block;
  if (isRun(block, able)) {
    const store = able[mark] ?? "";
    return `echo '::${index}'\n${code.replace(/(?:s3|postgres):\/\/[^\s']+/, store)}`;
  }
  return language !== "sh" && mark.includes(".")
    ? `cat > ${mark} <<'END OF FILE'\n${code}END OF FILE`
    : `: ${language}`;
}

async function shell(
  script: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<{ status: number | null; output: string }> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(MICROAPPS|PULUMI)_/.test(name));
  const child = spawn("bash", [script], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // Whatever hangs ends before the test does, with all that it started.
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), limitMs);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => void (output += data.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  return { status, output };
}

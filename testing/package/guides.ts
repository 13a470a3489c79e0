import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repository } from "../harness/project.ts";

/** The guides, in the order in which they go on from each other: all of them use one folder. */
const order = ["start", "seeds", "people", "environments", "testing", "platform", "reliance", "scaling"];

/** A code block, such as ```` ```sh ````: what it is, what else stands there, and where. */
interface Block {
  at: string;
  language: string;
  mark: string;
  code: string;
}

/**
 * Blocks that are run are marked `sh`; those that this machine can't run say what they need: the Pulumi CLI, or somebody's
 * account. `sh platform` runs with an emulator in place of the platform. Another block with a file's name is that file, and
 * `text` has lines that the block before it prints.
 */
const unrun = ["pulumi-cli", "elsewhere"];

const standIn =
  "MICROAPPS_ENDPOINT='emulator:platform.db?seed=dev.yaml' MICROAPPS_EMAIL=admin@example.com MICROAPPS_PASSWORD=admin";

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

const isRun = ({ language, mark }: Block): boolean => language === "sh" && !unrun.includes(mark);

/** Runs the guides in a folder, in one shell, and tells what did not go as they say. */
export async function runGuides(own: string, environment: Readonly<Record<string, string>>): Promise<string[]> {
  const missing = readdirSync(folder).filter((file) => !order.includes(file.replace(/\.md$/, "")));
  const blocks = order.flatMap(blocksOf);
  const script = ["set -e", ...blocks.map((block, index) => stepOf(block, index))].join("\n");
  await writeFile(join(own, "../guides.sh"), script);
  const { status, output } = await shell(join(own, "../guides.sh"), own, environment);
  const printed = new Map(
    [...output.matchAll(/^::(\d+)\n(.*?)(?=^::\d+\n|$(?![^]))/gms)].map(([, index, text]) => [
      Number(index),
      text ?? "",
    ]),
  );
  const problems = missing.map((file) => `docs/guides/${file} is in no order`);
  const last = Math.max(...printed.keys());
  if (status !== 0) return [`${blocks[last]?.at ?? ""} ended with ${String(status)}:\n${printed.get(last) ?? output}`];
  let said = "";
  for (const [index, block] of blocks.entries()) {
    if (isRun(block)) said = printed.get(index) ?? "";
    if (block.language !== "text") continue;
    for (const line of block.code.trim().split("\n")) {
      if (!said.includes(line.trim())) problems.push(`${block.at}: "${line}" was not said:\n${said}`);
    }
  }
  return problems;
}

/** What the shell does about a block. */
function stepOf(block: Block, index: number): string {
  const { language, mark, code, at } = block;
  if (isRun(block)) {
    const mine =
      mark === "platform" ? [`export ${standIn}`, code, `unset ${standIn.replaceAll(/='?[^' ]*'?/g, "")}`] : [code];
    if (mark !== "" && mark !== "platform") throw new Error(`${at}: nobody knows how to run "sh ${mark}"`);
    return [`echo '::${index}'`, ...mine].join("\n");
  }
  return mark.includes(".") ? `cat > ${mark} <<'END OF FILE'\n${code}END OF FILE` : `: ${language}`;
}

async function shell(
  script: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ status: number | null; output: string }> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(MICROAPPS|PULUMI)_/.test(name));
  const child = spawn("bash", [script], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // Whatever hangs ends before the test does, with all that it started.
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), 540_000);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => void (output += data.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  return { status, output };
}

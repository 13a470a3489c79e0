import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Figure, figure, runs } from "../measure.ts";
import { runMicroapps, runNode } from "./command.ts";

const list = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

const files = (rows: number, people: number, role: string, note: string): Record<string, string> => ({
  "Pulumi.yaml": "name: bench\nruntime: nodejs\nbackend: { url: file://. }\n",
  "environments.yaml": "prod: { file: prod.yaml }\n",
  "prod.yaml": `organizations:
  acme:
    name: Acme
    teams:
      crew:
        name: Crew
        members:
${list(people, (at) => `          p${at}@example.com: ${role}\n`)}seeds:
  cities: { table: cities, key: Code, source: cities.csv }
`,
  "cities.csv": `Code,Name,Note\n${list(rows, (at) => `K${at},Name ${at},${note} ${at}\n`)}`,
});

/** A report in which every row and every person changes, beyond the time that Node takes to start. */
export async function reports(rows: number, people: number): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const write = async (contents: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(contents)) await writeFile(path.join(folder, name), text);
  };
  const git = (...words: string[]): Buffer =>
    execFileSync("git", ["-c", "user.name=b", "-c", "user.email=b@example.com", ...words], { cwd: folder });
  try {
    git("init", "--quiet");
    await write(files(rows, people, "member", "before"));
    git("add", "--all");
    git("commit", "--quiet", "--message=first");
    await write(files(rows, people, "admin", "after"));
    const beyond: number[] = [];
    for (let round = 0; round < 5; round++) {
      const bare = await runNode(folder, ["-e", "0"]);
      const words = ["report", "--format", "md", "--output", "report.md"];
      beyond.push((await runMicroapps(folder, words)).time - bare.time);
    }
    const named = `report of ${rows.toLocaleString("en")} changed rows and ${people} people`;
    const { length } = await readFile(path.join(folder, "report.md"), "utf8");
    return [
      figure(`${named}: beyond Node's start`, runs(beyond), "ms", 3_000),
      figure(`${named}: length of its Markdown`, length, "characters", 60_000),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

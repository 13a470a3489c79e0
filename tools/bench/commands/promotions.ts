import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Figure, figure } from "../measure.ts";
import { runMicroapps, runNode } from "./command.ts";

const layer = (name: string): string =>
  `seeds: { places: { table: places, key: Code, source: ${name}/places.csv, maxRemovals: 1 } }\n`;

/** Rows of an environment: of a hundred ones two are its own, so that two environments differ in one of a hundred. */
async function writeRows(file: string, count: number, own: number | undefined): Promise<void> {
  const output = createWriteStream(file);
  output.write("Code,Name,Area,Population,Capital,Note\n");
  for (let at = 0; at < count; at++) {
    const name = at % 100 === own ? `Changed ${at}` : `Name ${at}`;
    const line = `K${at},${name},${at * 3},${at * 7_919},Capital ${at % 977},a remark of some length\n`;
    if (!output.write(line)) await once(output, "drain");
  }
  output.end();
  await once(output, "close");
}

/** Two environments of so many rows of six labels, one of a hundred different, each in a file of its own. */
export async function measurePromotions(count: number, most: { ms: number; MB: number }): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const git = (...words: string[]): Buffer =>
    execFileSync("git", ["-c", "user.name=b", "-c", "user.email=b@example.com", ...words], { cwd: folder });
  const commit = (): void => {
    git("add", "--all");
    git("commit", "--quiet", "--message=more");
  };
  try {
    git("init", "--quiet");
    await writeFile(path.join(folder, "Pulumi.yaml"), "name: bench\nruntime: nodejs\nbackend: { url: file://. }\n");
    await writeFile(path.join(folder, "environments.yaml"), "dev: { file: dev.yaml }\nprod: { file: prod.yaml }\n");
    for (const name of ["dev", "prod"]) {
      await mkdir(path.join(folder, name));
      await writeFile(path.join(folder, `${name}.yaml`), layer(name));
      await writeRows(path.join(folder, name, "places.csv"), count, undefined);
    }
    commit();
    await writeRows(path.join(folder, "dev/places.csv"), count, 7);
    commit();
    const bare = await runNode(folder, ["-e", "0"]);
    const named = `of two environments of ${count.toLocaleString("en")} rows`;
    const figures: Figure[] = [];
    for (const words of [
      ["report", "--from", "dev", "--to", "prod", "--format", "json", "--output", "report.json"],
      ["promote", "dev", "prod"],
      ["promote", "dev", "prod", "--write"],
    ]) {
      const { time, memory } = await runMicroapps(folder, words);
      const what = words.filter((word) => /^(report|promote|--write)$/.test(word)).join(" ");
      const isWriting = words.includes("--write");
      figures.push(
        figure(`${what} ${named}: beyond Node's start`, time - bare.time, "ms", isWriting ? most.ms * 2 : most.ms),
        figure(`${what} ${named}: peak memory`, memory, "MB", most.MB),
      );
      await rm(path.join(folder, "report.json"), { force: true });
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

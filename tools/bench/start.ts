import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { parse } from "yaml";
import { type Figure, figure, measurePair, runs, timeWork } from "./measure.ts";
import { BenchPlatform } from "./platform.ts";
import { findPulumiVersion, BenchProject, run } from "./project.ts";

const pulumi = createRequire(import.meta.url).resolve("@pulumi/pulumi");

/** Tables of the example's platform, which the interface can't make. */
const seed = path.join(import.meta.dirname, "../../../examples/environment/platform.yaml");

/** The same beside the Pulumi CLI, where there is one. */
async function throughPulumi(platform: BenchPlatform, project: BenchProject): Promise<Figure[]> {
  const version = await findPulumiVersion();
  if (version === undefined) return [];
  const other = await BenchProject.make(platform, { example: "environment" }, ["pulumi"]);
  try {
    await other.up();
    const ratio = await measurePair(
      5,
      () => project.run("preview"),
      () => other.run("preview"),
    );
    return [
      figure(`unchanged preview of examples/environment: time to that of Pulumi ${version}`, ratio, "ratio", 0.6),
    ];
  } finally {
    await other.remove();
  }
}

/** Measures how soon an unchanged preview of the example prints its first and its last line. */
export async function starting(): Promise<Figure[]> {
  const platform = await BenchPlatform.start((parse(readFileSync(seed, "utf8")) as { tables: object }).tables);
  const project = await BenchProject.make(platform, { example: "environment" });
  try {
    await project.up();
    await project.run("preview"); // what is compiled now is not compiled again
    const first: number[] = [];
    const ratios: number[] = [];
    for (let round = 0; round < 7; round++) {
      const bare = await run([process.execPath, "-e", "console.log(1)"]);
      const loads = await timeWork(() =>
        Promise.all([1, 2].map(() => run([process.execPath, "-e", `require(${JSON.stringify(pulumi)})`]))),
      );
      const preview = await project.run("preview");
      first.push(preview.first - bare.first);
      ratios.push(preview.whole / loads);
    }
    const cli = await throughPulumi(platform, project);
    return [
      ...cli,
      figure("first line of a preview: later than that of a bare Node", runs(first), "ms", 200),
      figure(
        "unchanged preview of examples/environment: time to two loads of the SDK at once",
        runs(ratios),
        "ratio",
        1.6,
      ),
    ];
  } finally {
    await project.remove();
    await platform.stop();
  }
}

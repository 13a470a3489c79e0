import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runGuides, type Able } from "../package/guides.ts";
import { environmentOfGuides, installPackage } from "../package/installed.ts";
import { backends, type Backend } from "./backends.ts";

/** Milliseconds: there is another engine than in the test of the package, and places for states. */
const limitMs = 1_800_000;

/** Runs all guides from the packed package with the Pulumi CLI on PATH, and gives why what names a place for states is left out. */
export async function runGuidesWithCli(): Promise<string[]> {
  const installed = await installPackage();
  const places = new Map<string, Backend>();
  const left: string[] = [];
  try {
    for (const [mark, start] of Object.entries(backends)) {
      const backend = await start();
      if (typeof backend === "string") left.push(`sh ${mark}: ${backend}`);
      else places.set(mark, backend);
    }
    const own = join(installed.folder, "guides");
    await mkdir(own);
    const quiet = { PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" };
    const able: Able = {
      "pulumi-cli": {},
      ...Object.fromEntries([...places].map(([mark, { environment }]) => [mark, environment])),
    };
    const problems = await runGuides(own, { ...(await environmentOfGuides(installed)), ...quiet }, able, limitMs);
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return left;
  } finally {
    for (const { stop } of places.values()) await stop();
    await rm(installed.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

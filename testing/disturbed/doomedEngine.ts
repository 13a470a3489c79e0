import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as testedKinds from "../harness/kinds.ts";
import { ProviderHost } from "../harness/providerHost.ts";

// An engine in a process of its own, which a test kills: it prints the provider's folder and writes rows through it.
const [, , providerKind = "dynamic", shells = "0", config = "{}", count = "0"] = process.argv;

const settings = JSON.parse(config) as Record<string, string>; // as the test gives it
const host = await ProviderHost.start(
  providerKind === "plugin" ? testedKinds.plugin : testedKinds.dynamic,
  settings,
  Number(shells),
);
process.stdout.write(`${host.folder}\n`);
const lines = Array.from({ length: Number(count) }, (_, index) => `c${index},City ${index}`);
await writeFile(join(host.folder, "cities.csv"), ["ID,Name", ...lines].join("\n"));
const { inputs } = await host.check("SeedRows", { table: "cities", key: "ID", source: "cities.csv" });
const ended = await host.create("SeedRows", inputs).then(
  () => "done",
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
process.stdout.write(`${ended}\n`);

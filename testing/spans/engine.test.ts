import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { testInLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { eventually } from "../harness/processes.ts";
import { Project, repository } from "../harness/project.ts";
import { found, texts } from "../security/searching.ts";
import { Collector, silentServer, type Received } from "./collector.ts";

const account = { email: "admin@example.com", password: "correct-horse" };
const header = "Basic header-of-the-collector";

const program = `
import * as pulumi from "@pulumi/pulumi";
import * as sdk from "pulumi-microapps";

const { id } = new sdk.Organization("acme", { name: "Acme" });
new sdk.Team("crew", { organizationID: id, name: "Crew" });
new pulumi.CustomResource("microapps:index:Team", "support", { organizationID: id, name: "Support" });
`;

let project: Project;
let emulator: Emulator;
beforeAll(async () => {
  emulator = await createEmulator({ seed: { administrator: account } });
  project = await Project.running(
    program,
    { "microapps:endpoint": emulator.url, "microapps:email": account.email },
    { plugins: { providers: [{ name: "microapps", path: join(repository, "plugin") }] } },
  );
  project.environment["MICROAPPS_PASSWORD"] = account.password;
  project.environment["MICROAPPS_ENDPOINT"] = emulator.url;
  project.environment["OTEL_EXPORTER_OTLP_HEADERS"] = `authorization=${encodeURIComponent(header)}`;
  await project.succeed("stack init dev");
});
afterAll(() => endedCleanly(project, emulator));

/** Runs a command in a process of its own, which is over when it ends. */
async function succeed(command: string, environment: Readonly<Record<string, string>>): Promise<string> {
  Object.assign(project.environment, environment);
  const { status, output } = await project.start(command, "--yes", "--skip-preview").ended;
  for (const name of Object.keys(environment)) Reflect.deleteProperty(project.environment, name);
  if (status !== 0) throw new Error(`${command} ended with ${String(status)}:\n${output}`);
  return output;
}

test("a run is one trace with both kinds of provider, below the span that the environment names", async () => {
  const collector = await Collector.start();
  const [trace, outer] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  // A program with a span above it loads what Pulumi's own spans need.
  const whole = { NODE_OPTIONS: "", TRACEPARENT: `00-${trace}-${outer}-01` };
  const output = await succeed("up", { ...collector.environment, ...whole });
  const root = await eventually("the run", () => collector.spans.find(({ name }) => name === "microapps update"));
  const { spans } = collector;
  const below = ({ id }: Received): Received[] => spans.filter(({ parent }) => parent === id);
  expect(new Set(spans.map((span) => span.trace))).toEqual(new Set([trace]));
  expect([root.parent, root.service]).toEqual([outer, "microapps"]);
  const created = below(root).filter(({ name }) => name.startsWith("create "));
  expect(created.map(({ facts }) => facts["microapps.name"]).toSorted()).toEqual(["acme", "crew", "support"]);
  expect(created.flatMap(below).map(({ name }) => name)).toEqual(
    expect.arrayContaining(["insertorganization", "insertteam", "insertteam"]),
  );
  collector.stop();
  const places = new Map((await texts(join(project.folder, ".pulumi"))).map(([file, text]) => [text, file]));
  expect(found(places.set(output, "output"), [header])).toEqual([]);
});

testInLong("a collector that is not there, is silent, or is killed in the middle changes nothing", async () => {
  const silent = await silentServer();
  const doomed = await Collector.start();
  doomed.stopAfterFirst = true;
  const shown = (output: string): string[] => output.split("\n").filter((line) => /unchanged|warning|error/.test(line));
  const without = shown(await succeed("refresh", {}));
  expect(without).toHaveLength(1);
  for (const { environment } of [
    { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } },
    silent,
    doomed,
    { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "no address at all:" } },
  ]) {
    const output = shown(await succeed("refresh", environment));
    expect(output.filter((line) => !line.includes("no spans are sent"))).toEqual(without);
  }
  expect(doomed.spans.length).toBeGreaterThan(0);
  silent.close();
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { testInLong } from "../harness/drawn.ts";
import { changingCalls } from "../harness/platform.ts";
import type { Project } from "../harness/project.ts";
import { record } from "./record.ts";
import { providerKinds, restored, versions, type TestedKind } from "./recorded.ts";

// A case runs the program several times.

// `make record-states`, once for each version that is released.
if (process.env["RECORD_STATES"] !== undefined)
  test.each(providerKinds)("records what this version leaves, %s", record);

const recordings = versions().flatMap((version) => providerKinds.map((providerKind) => ({ version, providerKind })));
const all = "21 unchanged";

let project: Project;
afterEach(() => project.remove());

const callsOf = (work: () => Promise<unknown>): Promise<string[]> => changingCalls(project.platform, work);
const up = async () => expect(await project.succeed("up --yes --skip-preview --expect-no-changes")).toContain(all);
const through = (providerKind: TestedKind): void =>
  void (project.environment["MICROAPPS_PROVIDER_KIND"] = providerKind);

/** The first run with this version: what is gone is forgotten, and the platform stays as it is. */
const forget = async (): Promise<void> => {
  let told = "";
  expect(await callsOf(async () => (told = await project.succeed("up --yes --skip-preview")))).toEqual([]);
  expect(told).toContain("forgotten: grace@example.com stays in all teams, and UserTeams is gone");
  expect(told).toMatch(/- 1 deleted/);
};

describe.each(recordings)(
  "what version $version left, with the $providerKind provider:",
  ({ version, providerKind }) => {
    test("this version forgets UserTeams, and the next up has nothing to do", async () => {
      project = await restored(version, providerKind);
      await forget();
      expect(await callsOf(up)).toEqual([]);
    });
  },
);

test("aliases alone take a program from dynamic resources to the plugin", async () => {
  project = await restored(versions().at(-1) ?? "", "dynamic");
  await forget();
  through("plugin");
  expect(await callsOf(up)).toEqual([]);
  expect(await project.stateText()).not.toContain('"type": "pulumi-nodejs:dynamic');
});

testInLong("aliases alone take a program back, with updates that change nothing", async () => {
  project = await restored(versions().at(-1) ?? "", "plugin");
  await forget();
  through("dynamic");
  // 18 resources and a provider of the program's own.
  const back = async () => expect(await project.succeed("up --yes --skip-preview")).toContain("~ 19 updated");
  expect(await callsOf(back)).toEqual([]);
});

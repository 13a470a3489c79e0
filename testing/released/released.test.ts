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
const other = (providerKind: TestedKind): TestedKind => (providerKind === "dynamic" ? "plugin" : "dynamic");
const all = "22 unchanged";

let project: Project;
afterEach(() => project.remove());

/** The changing calls that commands of the stack make. */
const callsOf = (...commands: (() => Promise<unknown>)[]): Promise<string[]> =>
  changingCalls(project.platform, async () => {
    for (const command of commands) await command();
  });
const preview = async () => expect(await project.succeed("preview --expect-no-changes")).toContain(all);
const up = async () => expect(await project.succeed("up --yes --skip-preview --expect-no-changes")).toContain(all);
const through = (providerKind: TestedKind): void => void (project.environment["MICROAPPS_DOOR"] = providerKind);

describe.each(recordings)(
  "what version $version left, with the $providerKind provider:",
  ({ version, providerKind }) => {
    test("this version has nothing to do, neither after an up nor with the other kind, and the way back is exact", async () => {
      project = await restored(version, providerKind);
      expect(await callsOf(preview, up, preview)).toEqual([]);

      const before = await project.stateText();
      expect(await project.succeed(`state door ${other(providerKind)}`)).toContain("19 resources moved");
      through(other(providerKind));
      expect(await callsOf(preview)).toEqual([]);
      await project.succeed(`state door ${providerKind}`);
      expect(await project.stateText()).toBe(before);
    });
  },
);

test("aliases alone take a program from dynamic resources to the plugin", async () => {
  project = await restored(versions().at(-1) ?? "", "dynamic");
  through("plugin");
  expect(await callsOf(up)).toEqual([]);
});

testInLong("aliases alone take a program back, with updates that change nothing", async () => {
  project = await restored(versions().at(-1) ?? "", "plugin");
  through("dynamic");
  // 19 resources and a provider of the program's own.
  const back = async () => expect(await project.succeed("up --yes --skip-preview")).toContain("~ 20 updated");
  // Nobody tells which teams a user is in: each update of UserTeams enforces them.
  expect(await callsOf(back)).toEqual(["enforceteammembership"]);
});

import { expect, test } from "@jest/globals";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import { setImmediate as turn } from "node:timers/promises";
import { decide, type Difference, type ResourceProvider } from "../decide.ts";

test("a resource is checked once those before it are compared, as Pulumi does: what their diffs find counts for it", async () => {
  const calls: string[] = [];
  /** Notes a call when it has ended, which takes some turns. */
  const called = async <Answer>(method: string, urn: string, answer: Answer): Promise<Answer> => {
    for (let left = 20; left > 0; left--) await turn();
    calls.push(`${method} ${urn.slice(urn.lastIndexOf("::") + 2)}`);
    return answer;
  };
  const made = { id: "1", outputs: {}, refreshBeforeUpdate: false };
  const compared: Difference = { changes: "none", replaces: [], changed: [], deleteBeforeReplace: false };
  const provider: Partial<ResourceProvider> = {
    checkConfig: () => Promise.resolve({ inputs: {}, failures: [] }),
    diffConfig: () => Promise.resolve(compared),
    configure: () => Promise.resolve(),
    check: (urn) => called("check", urn, { inputs: {}, failures: [] }),
    diff: ({ urn }) => called("diff", urn, compared),
    create: () => Promise.resolve(made),
  };
  const run = (state: Parameters<typeof decide>[0]["state"], applies: boolean) =>
    decide({
      ...{ project: "tests", stack: "dev", package: "t", state, applies },
      provider: provider as ResourceProvider, // all that is called
      goals: async ({ registerResource }) => {
        const request = (name: string) =>
          new resourceProto.RegisterResourceRequest().setType("t:index:It").setName(name).setCustom(true);
        await Promise.all(["a", "b"].map((name) => registerResource(request(name))));
      },
    });
  const { state } = await run([], true);
  calls.length = 0;
  expect((await run(state, false)).refusals).toEqual([]);
  expect(calls).toEqual(["check a", "diff a", "check b", "diff b"]);
});

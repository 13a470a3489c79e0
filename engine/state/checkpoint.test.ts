import { expect, test } from "@jest/globals";
import { Secret } from "../values/values.ts";
import { type Deployment, encodeDeployment } from "./checkpoint.ts";
import { CheckpointText } from "./checkpoint.ts";
import { newCrypter } from "./crypter.ts";
import { newState, type ResourceState } from "./resourceState.ts";

const urn = (name: string): string => `urn:pulumi:s::p::t:t:t::${name}`;
const team = (at: number): ResourceState =>
  newState({
    ...{ urn: urn(`team ${at}`), type: "t:t:t", custom: true, id: String(at) },
    inputs: { name: `"metadata": ${at}\n`, password: new Secret(`secret ${at}`) },
    dependencies: at > 0 ? [urn("team 0")] : [],
  });
const deploymentOf = (resources: ResourceState[], operations: ResourceState[] = []): Deployment => ({
  resources,
  operations: operations.map((resource) => ({ type: "creating", resource })),
  metadata: { note: { metadata: [] } },
});

/** Checkpoints written piece by piece, and the whole text for comparison. */
async function texts(): Promise<(deployment: Deployment) => { written: string; whole: string; pieces: Buffer[] }> {
  const crypter = await newCrypter("test");
  const text = new CheckpointText("p", "s", crypter);
  const time = new Date(0);
  return (deployment) => {
    const pieces = text.render(deployment, time);
    const seal = (place: string, plain: string) => ({ ciphertext: crypter.encryptAt(place, plain) });
    const latest = encodeDeployment(deployment, seal, crypter.salt, time);
    const whole = { version: 3, checkpoint: { stack: "organization/p/s", latest } };
    return { written: Buffer.concat(pieces).toString(), whole: `${JSON.stringify(whole, null, 4)}\n`, pieces };
  };
}

test("the text is that of the whole state, whatever has changed since the last one", async () => {
  const of = await texts();
  const resources = Array.from({ length: 300 }, (_, at) => team(at));
  const [first, second] = resources as [ResourceState, ResourceState, ...ResourceState[]];
  const next = team(300);
  const states: (() => Deployment)[] = [
    () => deploymentOf([]),
    () => deploymentOf([], [first]),
    () => deploymentOf([first], [second]),
    () => deploymentOf(resources, [next]),
    () => {
      Object.assign(next, { id: "made", outputs: { name: "made" } });
      second.outputs = { changed: new Secret("since") };
      first.delete = true;
      return deploymentOf([...resources, next]);
    },
    () => deploymentOf(resources.filter((state) => state !== second)),
    () => deploymentOf(resources.toReversed()),
  ];
  for (const state of states) {
    const { written, whole } = of(state());
    expect(written).toBe(whole);
  }
});

test("what has not changed is not made again", async () => {
  const of = await texts();
  const resources = Array.from({ length: 300 }, (_, at) => team(at));
  const before = new Set(of(deploymentOf(resources)).pieces.filter(({ length }) => length > 10_000));
  const after = of(deploymentOf([...resources, team(300)])).pieces;
  expect(after.filter((piece) => before.has(piece))).toHaveLength(before.size - 1); // the last one has grown
  expect(before.size).toBe(3);
});

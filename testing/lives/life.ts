import { expect } from "@jest/globals";
import type { Scene } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

/** Where a life takes place. */
export type Stage = Pick<Scene, "host" | "client" | "emulator" | "calls" | "organization" | "team">;

/** An operation: what is declared, the changing calls that it makes, and what the platform has afterwards. */
export interface Operation {
  /** An edit by hand before it. */
  before?: () => Promise<unknown>;
  /** Inputs; those of a change stand over those before. */
  news: Properties;
  calls: unknown;
  live: unknown;
  /** Outputs, or some of them. */
  outputs?: Properties;
  /** The message of the preview. */
  preview?: string;
  /** The last message. */
  message?: string;
}

/** The life of a resource, as its row of the table has it. */
export interface Life {
  /** Reads the thing from the platform. */
  live: (id: string) => Promise<unknown>;
  create: Operation;
  /** Changes that keep it, one after the other. */
  changes: Operation[];
  /** The changing calls of an update that changes nothing. */
  repeated?: string[];
  /** Inputs, over those of the last change, that mean the same. */
  same?: Properties[];
  /** Inputs of which some are not known yet: it changes then and is not replaced. */
  later: Properties[];
  /** Inputs that make another one of it, with the properties that are replaced. */
  replaces: [news: Properties, ...names: string[]][];
  /** An edit by hand, what a refresh finds, and what repairs it. */
  drift?: { edit: (id: string) => Promise<unknown>; found: Properties; calls: unknown };
  /** Result of an import, which is declared with these `additions`, or the reason for having none. */
  imported: { id?: string; inputs: Properties; additions?: Properties } | string;
  deleted: { calls: unknown; live: unknown; message?: string };
  /** Removes what its deletion leaves, so that a refresh finds nothing; null where it finds it all the same. */
  remove?: ((id: string) => Promise<unknown>) | null;
}

/** A resource from its creation to its end, with every question that an engine asks on the way. */
export async function live(scene: Stage, type: string, life: Life): Promise<void> {
  const { host } = scene;
  host.resource = `its${type}`;
  let made = { id: "", inputs: {} as Properties, outputs: {} as Properties };
  const check = async (news: Properties): Promise<Properties> => {
    const { inputs, problems } = await host.check(type, news, made.inputs);
    expect(problems).toEqual([]);
    return inputs;
  };
  const diff = (inputs: Properties) => host.diff(type, made.id, made.outputs, inputs);
  const changed = { changes: true, replaces: [], deleteBeforeReplace: false };
  const update = (inputs: Properties) => async (): Promise<void> => {
    made = { ...made, inputs, outputs: await host.update(type, made.id, made.outputs, inputs) };
  };
  const compare = async ({ live, outputs, message }: Partial<Operation>): Promise<void> => {
    expect(await life.live(made.id)).toEqual(live);
    expect(made.outputs).toMatchObject(outputs ?? {});
    if (message !== undefined) expect(host.told).toContain(message);
  };

  const inputs = await check(life.create.news);
  const create = async () => (made = { inputs, ...(await host.create(type, inputs)) });
  expect(await scene.calls(create)).toEqual(life.create.calls);
  await compare(life.create);
  expect(await diff(await check(life.create.news))).toMatchObject({ changes: false });
  const read = await host.read(type, made.id, made.outputs);
  expect(read).toMatchObject({ id: made.id, outputs: made.outputs });

  let { news } = life.create;
  for (const change of life.changes) {
    await change.before?.();
    const inputs = await check((news = { ...news, ...change.news }));
    host.told.length = 0;
    expect(await scene.calls(async () => expect(await diff(inputs)).toEqual(changed))).toEqual([]);
    if (change.preview !== undefined) expect(host.told).toEqual([change.preview]);
    expect(await scene.calls(update(inputs))).toEqual(change.calls);
    await compare(change);
    expect(await scene.calls(update(inputs))).toEqual(life.repeated ?? []);
  }
  for (const same of life.same ?? []) {
    expect([same, await diff(await check({ ...news, ...same }))]).toMatchObject([same, { changes: false }]);
  }
  for (const later of life.later)
    expect([later, await diff(await check({ ...news, ...later }))]).toEqual([later, changed]);
  for (const [other, ...replaces] of life.replaces) {
    expect(await diff(await check({ ...news, ...other }))).toEqual({ ...changed, replaces });
  }

  if (life.drift) {
    const before = await life.live(made.id);
    await life.drift.edit(made.id);
    const found = await host.read(type, made.id, made.outputs);
    expect(found).toMatchObject({ id: made.id, outputs: life.drift.found });
    made.outputs = found.outputs;
    expect(await diff(made.inputs)).toEqual(changed);
    expect(await scene.calls(update(made.inputs))).toEqual(life.drift.calls);
    expect(await life.live(made.id)).toEqual(before);
  }
  if (typeof life.imported === "string") await expect(host.import(type, made.id)).rejects.toThrow(life.imported);
  else {
    const { id = made.id, inputs, additions } = life.imported;
    const found = await host.import(type, id);
    expect(found).toMatchObject({ id: made.id, inputs });
    const checked = await host.check(type, { ...found.inputs, ...additions }, found.inputs);
    expect(checked.problems).toEqual([]);
    expect(await host.diff(type, made.id, found.outputs, checked.inputs)).toMatchObject({ changes: false });
  }

  expect(await scene.calls(() => host.destroy(type, made.id, made.outputs))).toEqual(life.deleted.calls);
  expect(await life.live(made.id)).toEqual(life.deleted.live);
  if (life.deleted.message !== undefined) expect(host.told.join("\n")).toContain(life.deleted.message);
  await life.remove?.(made.id);
  await host.delete(type, made.id, made.outputs); // which is not there any more
  expect((await host.read(type, made.id, made.outputs)).id).toBe(life.remove === null ? made.id : "");
}

import { expect } from "@jest/globals";
import type { Scene } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

/** A seed as the state has it. */
export interface Made {
  id: string;
  inputs: Properties;
  outputs: Properties;
}

/** Checks, previews and updates one seed as engines do; `table` are the inputs that all steps share. */
export function seedStory(scene: Scene, table: Properties) {
  const check = (news: Properties, old?: Properties) => scene.host.check("SeedRows", { ...table, ...news }, old);
  /** Messages of the preview, and if there is anything to do. */
  const preview = async (state: Made, news: Properties) => {
    scene.host.told.length = 0;
    const { inputs, problems } = await check(news, state.inputs);
    expect(problems).toEqual([]);
    const { changes } = await scene.host.diff("SeedRows", state.id, state.outputs, inputs);
    return { inputs, changes, told: scene.host.told.map((text) => text.replace(/^info: /, "")) };
  };
  const up = async (state: Made, news: Properties): Promise<Made & { told: string[] }> => {
    const { inputs } = await preview(state, news);
    scene.host.told.length = 0;
    const outputs = await scene.host.update("SeedRows", state.id, state.outputs, inputs);
    return { id: state.id, inputs, outputs, told: [...scene.host.told] };
  };
  const make = (news: Properties): Promise<Made> => scene.create("SeedRows", { ...table, ...news });
  return { check, preview, up, make };
}

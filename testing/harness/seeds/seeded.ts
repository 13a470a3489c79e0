import { InitFailed, type Properties } from "../providerHost.ts";
import type { Stage } from "../stage.ts";

/** A seed in a state; `failed` is the message when a part of it failed. */
export interface Seeded {
  id: string;
  inputs: Properties;
  outputs: Properties;
  failed?: string;
}

/** Makes the declared seed, from any earlier state; returns the new state and the failure. */
export async function applied({ host }: Stage, news: Properties, made?: Seeded): Promise<Seeded> {
  const { inputs, problems } = await host.check("SeedRows", news, made?.inputs);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  try {
    if (made) return { id: made.id, inputs, outputs: await host.update("SeedRows", made.id, made.outputs, inputs) };
    return { inputs, ...(await host.create("SeedRows", inputs)) };
  } catch (error) {
    if (!(error instanceof InitFailed)) throw error;
    return { id: error.id, outputs: error.properties, inputs, failed: error.message };
  }
}

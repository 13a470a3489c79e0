import { compareEngines } from "./compare.ts";
import { options } from "./options.ts";
import { stories } from "./stories.ts";

/** Programs that both engines run, as jobs under a CLI. */
export const comparisons = [...options, ...stories].map((program) => ({
  name: `both-${program.name}`,
  run: async (cli: string): Promise<string | undefined> => {
    await compareEngines(program, cli);
    return undefined;
  },
}));

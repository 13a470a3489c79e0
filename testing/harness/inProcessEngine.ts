import { hostPlugin } from "../../cli/commands/hosted/providers.ts";
import type { Declared } from "../../cli/report/environments.ts";
import { decide, type Step as EngineStep, type ResourceState } from "../../engine/decide.ts";
import { startInProcess } from "../../engine/providers/starting.ts";
import { mapProperties, revealSecrets } from "../../engine/values/values.ts";
import { topName, things } from "../../provider/environment/things.ts";
import type { Configuration } from "../../provider/pulumi/configuration.ts";
import { environmentOf, registerEnvironment } from "../../provider/pulumi/plugin/environment.ts";

export type Step = "create" | "update" | "replace" | "delete";

/** A run that was refused, in the provider's words. */
export class Refused extends Error {}

const root = "environment";
const steps: Readonly<Partial<Record<EngineStep["op"], Step>>> = {
  ...{ create: "create", update: "update", delete: "delete", replace: "replace" },
};

/** Previews an Environment and brings it up with the engine and the plugin, in this process, with a state in memory. */
export class InProcessEngine {
  readonly #configuration: Configuration;
  state: readonly ResourceState[] = [];
  told: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
  }

  async run({ declaration, folder }: Declared, acts: boolean): Promise<Map<string, Step>> {
    const told = new Map<string, string[]>();
    const log = ({ message, urn = "" }: { message: string; urn?: string }): void =>
      void told.set(keyOf(urn), [...(told.get(keyOf(urn)) ?? []), message]);
    const recall = (kind: string) =>
      this.state
        .filter(({ type }) => type.endsWith(`:${kind}`))
        .map(({ urn, id, outputs }) => ({ urn, id, outputs: mapProperties(outputs, revealSecrets) }));
    const settings = { project: { workdir: folder }, engineAddress: "", log, recall };
    const provider = startInProcess(
      (hosting) => ({ provider: hostPlugin(undefined, hosting.log, hosting.recall), servesCode: () => true }),
      "microapps",
      settings as unknown as Parameters<typeof startInProcess>[2], // all that one in this process asks for
    );
    const config = Object.entries(this.#configuration).map(([name, value]) => [
      `microapps:${name}`,
      { text: typeof value === "string" ? value : JSON.stringify(value), secret: name === "password" },
    ]);
    const from = process.cwd();
    process.chdir(folder);
    try {
      const all = things(declaration, topName(root));
      const decided = await decide({
        ...{ project: "tests", stack: "dev", package: "microapps", state: this.state, provider, applies: acts },
        config: Object.fromEntries(config) as Parameters<typeof decide>[0]["config"],
        goals: async (monitor) => void (await registerEnvironment(monitor, environmentOf(root, all))),
      });
      if (acts) this.state = decided.state;
      this.told = told;
      if (decided.refusals.length > 0)
        throw new Refused(decided.refusals.map(({ message }) => wordsOf(message)).join("\n"));
      const taken = decided.steps.flatMap(({ op, urn }) => {
        const step = /index:(?!Environment::)\w+::/.test(urn) ? steps[op] : undefined;
        return step ? [[keyOf(urn), step] as const] : [];
      });
      return new Map(taken);
    } finally {
      await provider.close();
      process.chdir(from);
    }
  }
}

const wordsOf = (message: string): string =>
  message.replace(/^(Preview failed: |\S+ resource '[^']*'( property '[^']*')? has a problem: )/, "");

export function keyOf(urn: string): string {
  const [, , types = "", ...name] = urn.split("::");
  return `${types.slice(types.lastIndexOf(":") + 1)} ${name.join("::").slice(root.length + 1)}`;
}

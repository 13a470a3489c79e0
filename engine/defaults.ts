import { providerProperties } from "./config.ts";
import { EngineError } from "./errors.ts";
import type { Generator } from "./generate.ts";
import { providerGoal } from "./goal.ts";
import { defaultName, versionsIn, withVersion } from "./packages.ts";
import type { Run } from "./run.ts";
import { makeReference, providerTypePrefix } from "./urns.ts";

/** The providers that the engine makes by itself, out of the stack's configuration: one for each package and version. */
export class DefaultProviders {
  readonly #run: Run;
  readonly #generator: Generator;
  readonly #references = new Map<string, Promise<string>>();
  readonly #versions: ReadonlyMap<string, string>;

  constructor(run: Run, generator: Generator) {
    this.#run = run;
    this.#generator = generator;
    this.#versions = versionsIn(run.resources);
  }

  /** The version of a provider: the one that is asked for, or the one that was used so far; empty where there is none. */
  version(name: string, asked: string): string {
    return asked || (this.#versions.get(name) ?? "");
  }

  /** The reference of a default provider, which is made when it is asked for first. */
  reference(name: string, asked: string): Promise<string> {
    const version = this.version(name, asked);
    const key = `${name} ${version}`;
    const known = this.#references.get(key) ?? this.#make(name, version);
    this.#references.set(key, known);
    return known;
  }

  async #make(name: string, version: string): Promise<string> {
    const { config } = this.#run;
    const denied = config["pulumi:disable-default-providers"]?.text ?? "";
    if (denied.includes(`"${name}"`) || denied.includes(`"*"`)) {
      throw new EngineError(
        `the default provider for '${name}' is disabled by pulumi:disable-default-providers: name a provider`,
      );
    }
    const inputs = withVersion(providerProperties(config, name), version);
    const goal = providerGoal(`${providerTypePrefix}${name}`, defaultName(version), inputs);
    const state = await this.#generator.register(goal);
    return makeReference(state.urn, state.id);
  }
}

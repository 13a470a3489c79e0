import type {
  ReadResourceRequest,
  RegisterResourceRequest,
  ResourceInvokeRequest,
} from "@pulumi/pulumi/proto/resource_pb.js";
import { type Goal, providerGoal } from "../deployment/goal.ts";
import type { Run } from "../deployment/run.ts";
import type { StepGenerator } from "../deployment/stepGenerator.ts";
import { EngineError } from "../errors.ts";
import { defaultName, versionsIn, withVersion } from "../providers/packageVersions.ts";
import { makeReference, packageOf, parseReference, providerTypePrefix, typeOf } from "../values/urns.ts";
import { providerProperties } from "../workspace/config.ts";

/**
 * Finds the provider for what a program asks for. Makes the default ones, one for each package and version, from the
 * stack's configuration.
 */
export class DefaultProviders {
  readonly #run: Run;
  readonly #generator: StepGenerator;
  /** The `providers` of components, which children inherit by package. */
  readonly #ofComponents = new Map<string, Map<string, string>>();
  readonly #references = new Map<string, Promise<string>>();
  readonly #versions: ReadonlyMap<string, string>;

  constructor(run: Run, generator: StepGenerator) {
    this.#run = run;
    this.#generator = generator;
    this.#versions = versionsIn(run.resources);
  }

  /** Chooses the version of a provider: the requested one, or the one in the state; empty where there is none. */
  version(name: string, requested: string): string {
    return requested || (this.#versions.get(name) ?? "");
  }

  /** Remembers the providers that a component passes to its children. */
  rememberComponent(component: string, request: RegisterResourceRequest): void {
    const own = new Map(request.getProvidersMap().toArray());
    for (const [name, reference] of this.#ofComponents.get(request.getParent()) ?? []) {
      if (!own.has(name)) own.set(name, reference);
    }
    this.#ofComponents.set(component, own);
  }

  /** Finds the provider of a resource: its own, its parent's, one of a parent component, or the default one. */
  ofResource(request: RegisterResourceRequest, parent: Goal | undefined): Promise<string> {
    const name = packageOf(request.getType());
    const inherited =
      parent !== undefined && parent.provider !== "" && packageOf(typeOf(parseReference(parent.provider).urn)) === name
        ? parent.provider
        : undefined;
    const reference =
      request.getProvider() ||
      inherited ||
      request.getProvidersMap().get(name) ||
      this.#ofComponents.get(request.getParent())?.get(name);
    return reference ? Promise.resolve(reference) : this.#default(name, request.getVersion());
  }

  ofRead(request: ReadResourceRequest): Promise<string> {
    const reference = request.getProvider();
    return reference === ""
      ? this.#default(packageOf(request.getType()), request.getVersion())
      : Promise.resolve(reference);
  }

  ofFunction(request: ResourceInvokeRequest): Promise<string> {
    const name = packageOf(request.getTok());
    const reference = request.getProvider() || this.#ofComponents.get(request.getParent())?.get(name);
    return reference ? Promise.resolve(reference) : this.#default(name, request.getVersion());
  }

  /** Finds the default provider, which is made on first use. */
  #default(name: string, requested: string): Promise<string> {
    const version = this.version(name, requested);
    const key = `${name} ${version}`;
    const known = this.#references.get(key) ?? this.#make(name, version);
    this.#references.set(key, known);
    return known;
  }

  async #make(name: string, version: string): Promise<string> {
    const { config } = this.#run;
    const disabled = config["pulumi:disable-default-providers"]?.text ?? "";
    if (disabled.includes(`"${name}"`) || disabled.includes(`"*"`)) {
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

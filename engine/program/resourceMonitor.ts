import type { Alias as ProtoAlias } from "@pulumi/pulumi/proto/alias_pb.js";
import providerProto, { type CheckFailure } from "@pulumi/pulumi/proto/provider_pb.js";
import resourceProto, {
  type DeploymentInfo,
  type ReadResourceRequest,
  type ReadResourceResponse,
  type RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  type RegisterResourceResponse,
  type ResourceInvokeRequest,
  type ResourceInvokeResponse,
} from "@pulumi/pulumi/proto/resource_pb.js";
import { type Goal, type ReadGoal, providerGoal } from "../deployment/goal.ts";
import type { StackOutputs } from "../deployment/result.ts";
import type { Run } from "../deployment/run.ts";
import type { StepGenerator } from "../deployment/stepGenerator.ts";
import { toPropertyChange } from "../deployment/steps.ts";
import { EngineError, messageOf, Refusal, ReportedError } from "../errors.ts";
import { withVersion, defaultName, versionsIn } from "../providers/packageVersions.ts";
import { ProviderError } from "../providers/provider.ts";
import type { Timeouts } from "../state/resourceState.ts";
import type { Alias } from "../values/aliases.ts";
import { parsePath } from "../values/paths.ts";
import { changesBetween } from "../values/propertyChanges.ts";
import { fromStruct, toStruct } from "../values/structs.ts";
import {
  isProviderType,
  isStackUrn,
  packageOf,
  makeReference,
  parseReference,
  providerTypePrefix,
  typeOf,
} from "../values/urns.ts";
import {
  equal,
  isProperties,
  mapProperties,
  type PropertyMap,
  Secret,
  toShown,
  type PropertyValue,
  containsUnknown,
} from "../values/values.ts";
import { providerProperties } from "../workspace/config.ts";
import { hasUncreated } from "./invokeDependencies.ts";
import { refusePackage, refuseRegistration } from "./unsupported.ts";

/**
 * Features that this engine has, or refuses by name: without an answer for these the SDK would call the Pulumi CLI too old.
 * Without alias specifications an SDK would compute former URNs by itself, but not those of a resource whose parent's
 * parent had an alias.
 */
const { ResourceMonitorFeature: known } = resourceProto;
const features = [
  known.RESOURCE_MONITOR_FEATURE_SECRETS,
  known.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
  known.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
  known.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
  known.RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON,
  known.RESOURCE_MONITOR_FEATURE_TRANSFORMS,
  known.RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS,
  known.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS,
  known.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
  known.RESOURCE_MONITOR_FEATURE_STATE_MIGRATIONS,
];

/** Answers the registrations of a program: turns them into goals, gives them their providers, and brings them about. */
export class ResourceMonitor {
  readonly #run: Run;
  readonly #generator: StepGenerator;
  readonly #goals = new Map<string, Goal>();
  readonly #providers: DefaultProviders;
  #stackOutputs: { urn: string; outputs: PropertyMap } | undefined;
  /** The components whose outputs are registered, which happens once. */
  readonly #completed = new Set<string>();
  readonly aborted: Promise<void>;

  constructor(run: Run, generator: StepGenerator) {
    this.#run = run;
    this.#generator = generator;
    this.#providers = new DefaultProviders(run, generator);
    this.aborted = new Promise((resolve) => {
      run.onAbort(resolve);
    });
  }

  deploymentInfo(): DeploymentInfo {
    const run = this.#run;
    const info = new resourceProto.DeploymentInfo();
    info.setProject(run.project).setStack(run.stack).setOrganization("organization");
    info.setDryrun(run.preview).setParallel(run.parallel);
    // No configuration: the program has it already, and others of this machine may ask too.
    return info.setSupportedfeaturesList(features);
  }

  /** Reports something that this engine does not do, and ends the run. */
  refuse(message: string, urn?: string): ReportedError {
    const failure = this.#run.fail(message, urn);
    this.#run.abort();
    return failure;
  }

  async register(request: RegisterResourceRequest): Promise<RegisterResourceResponse> {
    let goal: Goal;
    try {
      refuseRegistration(request, this.#run.packages);
      goal = await this.#goalOf(request);
    } catch (error) {
      if (error instanceof ReportedError) throw error;
      throw this.#refused(error, request);
    }
    const state = await this.#generator.register(goal);
    this.#goals.set(state.urn, goal);
    if (!goal.custom) this.#providers.rememberComponent(state.urn, request);
    // The outputs of a component come later, and old ones may refer to resources that are not registered yet.
    return responseOf(request, state, goal.custom ? state.outputs : {});
  }

  #refused(error: unknown, request: RegisterResourceRequest | ReadResourceRequest): ReportedError {
    const where = `resource '${request.getName()}' (${request.getType()})`;
    return this.refuse(error instanceof Refusal ? error.message : `${where}: ${messageOf(error)}`);
  }

  /** Reads an existing resource that this stack does not manage: the `get` of a resource. */
  async read(request: ReadResourceRequest): Promise<ReadResourceResponse> {
    const type = request.getType();
    let goal: ReadGoal;
    try {
      refusePackage(request, `resource '${request.getName()}' (${type})`, packageOf(type), this.#run.packages);
      goal = {
        type,
        name: request.getName(),
        id: request.getId(),
        inputs: fromStruct(request.getProperties()),
        parent: request.getParent(),
        provider: await this.#providers.ofRead(request),
        dependencies: request.getDependenciesList(),
        additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      };
    } catch (error) {
      if (error instanceof ReportedError) throw error;
      throw this.#refused(error, request);
    }
    const state = await this.#generator.read(goal);
    const accepted = {
      secrets: request.getAcceptsecrets(),
      resources: request.getAcceptresources(),
      unknowns: true,
    };
    return new resourceProto.ReadResourceResponse().setUrn(state.urn).setProperties(toStruct(state.outputs, accepted));
  }

  /** Calls a function of a package. Throws a ProviderError when the function fails. */
  async invoke(request: ResourceInvokeRequest): Promise<ResourceInvokeResponse> {
    const token = request.getTok();
    const name = packageOf(token);
    let reference: string;
    try {
      refusePackage(request, `the function '${token}'`, name, this.#run.packages);
      reference = await this.#providers.ofFunction(request);
    } catch (error) {
      throw error instanceof ReportedError ? error : this.refuse(messageOf(error));
    }
    const provider = this.#run.providers.get(reference);
    if (!provider) throw new ProviderError(`unknown provider '${reference}' of the function '${token}'`);
    if (hasUncreated(this.#generator.news, request.getDependsonList()))
      return new resourceProto.ResourceInvokeResponse().setUnknown(true);
    try {
      const args = fromStruct(request.getArgs());
      const { outputs, failures } = await provider.invoke(token, args, this.#run.preview);
      const accepted = { secrets: true, resources: request.getAcceptresources(), unknowns: true };
      const response = new resourceProto.ResourceInvokeResponse().setReturn(toStruct(outputs, accepted));
      return response.setFailuresList(failures.map(({ property, reason }) => failureOf(property, reason)));
    } catch (error) {
      throw new ProviderError(`invocation of ${token} returned an error: ${messageOf(error)}`);
    }
  }

  async registerOutputs(request: RegisterResourceOutputsRequest): Promise<void> {
    const urn = request.getUrn();
    try {
      const outputs = mapProperties(
        fromStruct(request.getOutputs()),
        this.#run.preview ? withoutMarks : (value) => value,
      );
      if (isStackUrn(urn)) this.#stackOutputs = { urn, outputs };
      else await this.#setOutputs(urn, outputs);
    } catch (error) {
      throw error instanceof ReportedError ? error : this.refuse(messageOf(error), urn);
    }
  }

  /** Saves the outputs of the stack at the end, when it is known whether the run failed. */
  async finish(): Promise<StackOutputs | undefined> {
    if (!this.#stackOutputs) return undefined;
    const { urn, outputs } = this.#stackOutputs;
    // After a failure an output that is not there may only not have been reached.
    return this.#setOutputs(urn, this.#run.failed ? { ...this.#run.olds.get(urn)?.outputs, ...outputs } : outputs);
  }

  async #setOutputs(urn: string, outputs: PropertyMap): Promise<StackOutputs> {
    const run = this.#run;
    const state = this.#generator.news.get(urn);
    if (!state || this.#completed.has(urn))
      throw new EngineError(`cannot complete a resource '${urn}' whose registration isn't pending`);
    const old = run.olds.get(urn)?.outputs ?? {};
    this.#completed.add(urn);
    state.outputs = outputs;
    const changes = changesBetween(old, outputs).map(toPropertyChange);
    const shownOutputs = toShownProperties(outputs);
    run.emit({ type: "outputs", urn, outputs: shownOutputs, changes, preview: run.preview });
    if (!run.preview && !(run.olds.has(urn) && equal(old, outputs))) await run.snapshot.persist();
    return { outputs: shownOutputs, outputChanges: changes };
  }

  async #goalOf(request: RegisterResourceRequest): Promise<Goal> {
    const type = request.getType();
    const custom = request.getCustom();
    const parentGoal = this.#goals.get(request.getParent());
    const properties = fromStruct(request.getObject());
    const inputs = isProviderType(type)
      ? withVersion(properties, this.#providers.version(packageOf(type), request.getVersion()))
      : properties;
    const dependencies = request.getDependenciesList();
    const written = request.getPropertydependenciesMap();
    const propertyDependencies: Record<string, string[]> = {};
    for (const name of Object.keys(properties))
      propertyDependencies[name] = written.getLength() === 0 ? dependencies : [];
    for (const [name, { urnsList }] of written.toObject(false, (_, message) => message.toObject())) {
      propertyDependencies[name] = urnsList;
    }
    return {
      type,
      name: request.getName(),
      custom,
      inputs,
      parent: request.getParent(),
      provider: custom && !isProviderType(type) ? await this.#providers.ofResource(request, parentGoal) : "",
      dependencies,
      propertyDependencies,
      protect: request.hasProtect() ? request.getProtect() : parentGoal?.protect,
      retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : parentGoal?.retainOnDelete,
      deletedWith: request.getDeletedwith() === "" ? (parentGoal?.deletedWith ?? "") : request.getDeletedwith(),
      deleteBeforeReplace:
        request.getDeletebeforereplacedefined() || request.getDeletebeforereplace()
          ? request.getDeletebeforereplace()
          : undefined,
      ignoreChanges: request.getIgnorechangesList(),
      replaceOnChanges: request.getReplaceonchangesList(),
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      aliases: [...request.getAliasurnsList(), ...request.getAliasesList().map(fromProtoAlias)].filter(
        (alias) => alias !== "",
      ),
      customTimeouts: timeoutsOf(request),
      hideDiff: request.getHidediffsList().map(parsePath),
    };
  }
}

function timeoutsOf(request: RegisterResourceRequest): Timeouts {
  const { create = "", update = "", pb_delete = "", read = "" } = { ...request.getCustomtimeouts()?.toObject() };
  const texts = Object.entries({ create, update, delete: pb_delete, read }).filter(([, text]) => text !== "");
  return Object.fromEntries(texts.map(([name, text]) => [name, parseDuration(text, `customTimeouts.${name}`)]));
}

/** Removes the marks that the SDK puts on resources in previews: no state has them, so they would look like changes. */
function withoutMarks(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return new Secret(withoutMarks(value.value));
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isProperties(value)) return value;
  const { "@isPulumiResource": _mark, ...rest } = value;
  return mapProperties(rest, withoutMarks);
}

/** Properties as plain JSON. */
export function toShownProperties(properties: PropertyMap): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, toShown(value)]));
}

/** Answers a registration. */
function responseOf(
  request: RegisterResourceRequest,
  { urn, id = "" }: { urn: string; id?: string },
  outputs: PropertyMap,
): RegisterResourceResponse {
  const known = request.getSupportspartialvalues()
    ? outputs
    : Object.fromEntries(Object.entries(outputs).filter(([, value]) => !containsUnknown(value)));
  const accepted = { secrets: request.getAcceptsecrets(), resources: request.getAcceptresources(), unknowns: true };
  const response = new resourceProto.RegisterResourceResponse().setUrn(urn).setObject(toStruct(known, accepted));
  return response.setId(id).setResult(resourceProto.Result.SUCCESS);
}

/** Reads an alias; an empty text where it has neither a URN nor parts. */
function fromProtoAlias(alias: ProtoAlias): Alias {
  const parts = alias.getSpec()?.toObject();
  if (!parts) return alias.getUrn();
  const { name, type, stack, project, parenturn: parent, noparent: noParent } = parts;
  return { name, type, stack, project, parent, noParent };
}

/** Answers a call with a reason why it failed, of one property or of all of it. */
const failureOf = (property: string, reason: string): CheckFailure =>
  new providerProto.CheckFailure().setProperty(property).setReason(reason);

const seconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Reads a duration as Go writes it, such as `1h30m` or `0.5s`; in seconds. `where` names the option in errors. */
function parseDuration(text: string, where: string): number {
  const parts = [...text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (read !== text.length || read === 0) {
    throw new EngineError(`${where}: '${text}' is not a duration such as '30s', '5m' or '1h30m'`);
  }
  return parts.reduce((total, [, count, unit]) => total + Number(count) * (seconds[unit ?? ""] ?? 0), 0);
}

/**
 * Finds the provider for what a program asks for. Makes the default ones, one for each package and version, from the
 * stack's configuration.
 */
class DefaultProviders {
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

import { createHash } from "node:crypto";
import { checkJsonBounds, ofStates } from "../../machine/bounds.ts";
import { EngineError, messageOf, Refusal } from "../errors.ts";
import { goJson, isObject, isStrings, type JsonValue } from "../values/json.ts";
import { formatPath, parsePath } from "../values/paths.ts";
import { fromPlain, referenceSignature, secretSignature, signature } from "../values/plain.ts";
import { unknownId } from "../values/urns.ts";
import { type PropertyMap, ResourceReference, Secret, Unknown, type PropertyValue } from "../values/values.ts";
import type { Crypter } from "./crypter.ts";
import { newState, type Operation, type OperationType, type ResourceState, type Timeouts } from "./resourceState.ts";

/** Written into each state as the version of the engine that wrote it; Pulumi checks the hash of it. */
const version = "v0.1.0-pulumi-microapps";
const magic = createHash("sha256").update(version).digest("hex");

/**
 * Features that a state of version 4 may list. Each is the name of a resource's field; the order is that of a state.
 */
const knownFeatures = ["refreshBeforeUpdate", "taint"] as const;

/** The fields of a resource, in the order in which Pulumi writes them. */
const fields = [
  ...(["urn", "custom", "delete", "id", "type", "inputs", "outputs", "parent", "protect", "taint"] as const),
  ...(["external", "dependencies", "initErrors", "provider", "propertyDependencies", "pendingReplacement"] as const),
  ...(["additionalSecretOutputs", "customTimeouts", "importID", "retainOnDelete", "deletedWith", "created"] as const),
  ...(["modified", "ignoreChanges", "hideDiff", "replaceOnChanges", "refreshBeforeUpdate"] as const),
] satisfies (keyof ResourceState)[];

/** The content of a checkpoint, decrypted. */
export interface Deployment {
  resources: ResourceState[];
  operations: Operation[];
  metadata: unknown;
}

/** A checkpoint as read, secrets still encrypted. */
export interface Checkpoint {
  /** `encryptionsalt` of the stack at the time of writing. */
  salt: string | undefined;
  latest: Record<string, unknown>;
}

/** Refuses a field of the state that belongs to a feature this engine lacks. */
export function refuseStateField(field: string, where: string): never {
  throw new Refusal(
    `the state of ${where} has '${field}', which the embedded engine does not know: use the Pulumi CLI`,
  );
}

export function parseCheckpoint(text: string, file: string): Checkpoint {
  let raw: unknown;
  try {
    checkJsonBounds(text, ofStates);
    raw = JSON.parse(text);
  } catch (error) {
    throw new EngineError(`${file} is not a state file: ${messageOf(error)}`);
  }
  if (!isObject(raw)) throw new EngineError(`${file} is not a state file`);
  const features: unknown[] = Array.isArray(raw["features"]) ? raw["features"] : [];
  const foreign = features.filter((feature) => !knownFeatures.some((known) => known === feature));
  if (foreign.length > 0 || !(raw["version"] === 3 ? features.length === 0 : raw["version"] === 4)) {
    const what = foreign.length > 0 ? ` with features ${foreign.join(", ")}` : "";
    throw new Refusal(
      `${file} has version ${String(raw["version"])}${what} of the state format; the embedded engine reads version 3, and ` +
        `4 with the features ${knownFeatures.join(" and ")}: use the Pulumi CLI`,
    );
  }
  const checkpoint = isObject(raw["checkpoint"]) ? raw["checkpoint"] : {};
  const latest = isObject(checkpoint["latest"]) ? checkpoint["latest"] : {};
  for (const section of ["snippets", "extensions"]) {
    const value = latest[section];
    if (value !== undefined && value !== null && Object.keys(value).length > 0) refuseStateField(section, file);
  }
  const provider = latest["secrets_providers"];
  if (!isObject(provider)) return { salt: undefined, latest };
  const kind: unknown = provider["type"] ?? "";
  if (kind !== "passphrase" && kind !== "") {
    throw new Refusal(
      `${file}: the secrets provider '${typeof kind === "string" ? kind : "?"}' is not served by the embedded engine, only 'passphrase': use the Pulumi CLI`,
    );
  }
  const salt = isObject(provider["state"]) ? provider["state"]["salt"] : undefined;
  return { salt: typeof salt === "string" ? salt : undefined, latest };
}

export function decodeDeployment({ latest }: Checkpoint, crypter: Crypter): Deployment {
  const resources = Array.isArray(latest["resources"]) ? latest["resources"] : [];
  const operations = Array.isArray(latest["pending_operations"]) ? latest["pending_operations"] : [];
  return {
    resources: resources.map((raw) => decodeResource(raw, crypter)),
    operations: operations.filter(isObject).map((raw) => ({
      // The five words of the format; another one would be carried along unchanged.
      type: String(raw["type"]) as OperationType,
      resource: decodeResource(raw["resource"], crypter),
    })),
    metadata: latest["metadata"] ?? {},
  };
}

/** Reads a resource of a checkpoint, or of an export. */
export function decodeResource(raw: unknown, crypter: Pick<Crypter, "decryptAt">): ResourceState {
  if (!isObject(raw)) throw new EngineError("the state holds something that is not a resource");
  const urn = typeof raw["urn"] === "string" ? raw["urn"] : "";
  for (const field of ["replaceWith", "replacementTrigger", "resourceHooks", "viewOf", "extensionRef", "snippetID"]) {
    const value = raw[field];
    if (value !== undefined && value !== null && value !== false && value !== "") refuseStateField(field, urn);
  }
  const properties = (name: string): PropertyMap =>
    isObject(raw[name]) ? decodeProperties(raw[name], `${urn} ${name}`, crypter) : {};
  const state = newState({ urn, type: "", custom: false });
  // A field that holds another kind of value than it should is taken for one that is not there.
  const plain = fields.filter((name) => {
    const value = raw[name];
    return Array.isArray(state[name]) ? isStrings(value) : typeof value === typeof state[name] && !isObject(value);
  });
  return {
    ...state,
    ...Object.fromEntries(plain.map((name) => [name, raw[name]])),
    inputs: properties("inputs"),
    outputs: properties("outputs"),
    propertyDependencies: isObject(raw["propertyDependencies"])
      ? Object.fromEntries(
          Object.entries(raw["propertyDependencies"]).map(([name, urns]) => [name, isStrings(urns) ? urns : []]),
        )
      : {},
    customTimeouts: decodeTimeouts(raw["customTimeouts"]),
    hideDiff: isStrings(raw["hideDiff"]) ? raw["hideDiff"].map(parsePath) : [],
  };
}

function decodeTimeouts(raw: unknown): Timeouts {
  if (!isObject(raw)) return {};
  return Object.fromEntries(Object.entries(raw).filter(([, seconds]) => typeof seconds === "number" && seconds > 0));
}

function decodeProperties(
  raw: Record<string, unknown>,
  place: string,
  crypter: Pick<Crypter, "decryptAt">,
): PropertyMap {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [name, decode(value, `${place}.${name}`, crypter)]),
  );
}

function decode(raw: unknown, place: string, crypter: Pick<Crypter, "decryptAt">): PropertyValue {
  if (Array.isArray(raw)) return raw.map((element, i) => decode(element, `${place}[${i}]`, crypter));
  if (!isObject(raw)) return fromPlain(raw, place);
  if (raw[signature] === undefined) return decodeProperties(raw, place, crypter);
  if (raw[signature] !== secretSignature) return fromPlain(raw, place);
  const sealed = raw["ciphertext"];
  const plaintext = raw["plaintext"];
  if (typeof sealed !== "string" && typeof plaintext !== "string")
    throw new EngineError(`${place}: a secret without its text`);
  const text = typeof sealed === "string" ? crypter.decryptAt(place, sealed) : String(plaintext);
  return new Secret(decode(JSON.parse(text), place, crypter));
}

/** The lowest version of the format that can hold a state, as Pulumi chooses it for older readers. */
export function formatOf({ resources, operations }: Deployment): { version: number; features?: string[] } {
  const all = [...resources, ...operations.map(({ resource }) => resource)];
  const features = knownFeatures.filter((feature) => all.some((state) => state[feature]));
  return features.length > 0 ? { version: 4, features } : { version: 3 };
}

/** Writes the text of a secret: encrypted in the state, encrypted or plain in an export. */
export type SecretSeal = (place: string, text: string) => { ciphertext: string } | { plaintext: string };

export function encodeDeployment(
  deployment: Deployment,
  seal: SecretSeal,
  salt: string,
  time: Date,
): Record<string, unknown> {
  const operations = deployment.operations.map(({ type, resource }) => ({
    resource: encodeResource(resource, seal),
    type,
  }));
  return {
    manifest: { time: time.toISOString(), magic, version },
    secrets_providers: { type: "passphrase", state: { salt } },
    ...(deployment.resources.length > 0
      ? { resources: deployment.resources.map((resource) => encodeResource(resource, seal)) }
      : {}),
    ...(operations.length > 0 ? { pending_operations: operations } : {}),
    metadata: deployment.metadata,
  };
}

export function encodeResource(state: ResourceState, seal: SecretSeal): Record<string, unknown> {
  const encoded = {
    ...state,
    inputs: encodeProperties(state.inputs, `${state.urn} inputs`, seal),
    outputs: encodeProperties(state.outputs, `${state.urn} outputs`, seal),
    hideDiff: state.hideDiff.map(formatPath),
  };
  // Only what is set is written, but for one field that always is.
  const isSet = (value: unknown): boolean =>
    typeof value === "object" && value !== null ? Object.keys(value).length > 0 : value !== "" && value !== false;
  const written = fields.filter((name) => name === "custom" || isSet(encoded[name]));
  return Object.fromEntries(written.map((name) => [name, encoded[name]]));
}

const encodeProperties = (properties: PropertyMap, place: string, seal: SecretSeal): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, encode(value, `${place}.${name}`, seal)]),
  );

function encode(value: PropertyValue, place: string, seal: SecretSeal): unknown {
  if (value instanceof Secret) {
    // The plain text is JSON in Go's spelling, so that an unchanged value keeps its ciphertext.
    const text = goJson(encode(value.value, place, seal) as JsonValue);
    return { [signature]: secretSignature, ...seal(place, text) };
  }
  if (value instanceof Unknown) return unknownId;
  if (value instanceof ResourceReference) {
    return {
      [signature]: referenceSignature,
      urn: value.urn,
      ...(value.id === undefined ? {} : { id: value.id instanceof Unknown ? "" : value.id }),
      packageVersion: value.packageVersion ?? "",
    };
  }
  if (Array.isArray(value)) return value.map((element, i) => encode(element, `${place}[${i}]`, seal));
  if (typeof value === "object" && value !== null) return encodeProperties(value, place, seal);
  return value;
}

/** The text of a resource, and its fields at that time. */
interface Rendered {
  fields: ResourceState;
  text: Buffer;
}

/** How many resources are joined into one piece. */
const joined = 128;

/**
 * Writes the texts of a stack's checkpoint, in pieces. A run writes one after nearly every step: what has not changed since
 * is neither rendered nor copied again. Fields of a resource get other values, which never change in place.
 */
export class CheckpointText {
  readonly #stack: string;
  readonly #salt: string;
  readonly #seal: SecretSeal;
  readonly #rendered = new WeakMap<ResourceState, Rendered>();
  /** The pieces of the last text, with the texts that each one joins. */
  #pieces: { of: readonly Buffer[]; piece: Buffer }[] = [];

  constructor(project: string, stack: string, crypter: Crypter) {
    this.#stack = `organization/${project}/${stack}`;
    this.#salt = crypter.salt;
    this.#seal = (place, text) => ({ ciphertext: crypter.encryptAt(place, text) });
  }

  render(deployment: Deployment, time: Date): Buffer[] {
    const { resources, operations, metadata } = deployment;
    const latest = encodeDeployment({ resources: [], operations: [], metadata }, this.#seal, this.#salt, time);
    const text = JSON.stringify({ ...formatOf(deployment), checkpoint: { stack: this.#stack, latest } }, null, 4);
    // The only key of that name so deep, since no text in JSON has a line break.
    const end = text.lastIndexOf(`${line(3)}"metadata": `);
    const pending = operations.map(({ type, resource }) =>
      element({ resource: encodeResource(resource, this.#seal), type }),
    );
    return [
      Buffer.from(text.slice(0, end)),
      ...list("resources", this.#joined(resources)),
      ...list("pending_operations", pending),
      Buffer.from(`${text.slice(end)}\n`),
    ];
  }

  #joined(resources: readonly ResourceState[]): Buffer[] {
    const pieces = Array.from({ length: Math.ceil(resources.length / joined) }, (_, at) => {
      const of = resources.slice(at * joined, (at + 1) * joined).map((state) => this.#textOf(state));
      const last = this.#pieces[at];
      const isSame = last?.of.length === of.length && of.every((text, index) => text === last.of[index]);
      return isSame ? last : { of, piece: Buffer.concat(of) };
    });
    this.#pieces = pieces;
    return pieces.map(({ piece }) => piece);
  }

  #textOf(state: ResourceState): Buffer {
    const known = this.#rendered.get(state);
    if (known && isSame(known.fields, state)) return known.text;
    const text = element(encodeResource(state, this.#seal));
    this.#rendered.set(state, { fields: { ...state }, text });
    return text;
  }
}

const line = (depth: number): string => `\n${" ".repeat(4 * depth)}`;

/** Writes an element of a list of the checkpoint, with the comma after it. */
const element = (value: unknown): Buffer =>
  Buffer.from(`${line(4)}${JSON.stringify(value, null, 4).replaceAll("\n", line(4))},`);

/** Writes a list of the checkpoint; an empty one is left out. */
function list(name: string, elements: readonly Buffer[]): Buffer[] {
  const last = elements.at(-1);
  if (last === undefined) return [];
  const [begin, end] = [`${line(3)}"${name}": [`, `${line(3)}],`];
  return [Buffer.from(begin), ...elements.slice(0, -1), last.subarray(0, -1), Buffer.from(end)];
}

function isSame(before: ResourceState, now: ResourceState): boolean {
  for (const name in before) {
    const field = name as keyof ResourceState; // its own keys
    if (before[field] !== now[field]) return false;
  }
  return true;
}

import { BoundError, checkJsonBounds, ofStates } from "../../machine/bounds.ts";
import { toShownNames } from "../../provider/pulumi/providerKinds.ts";
import { secretSignature, signature } from "../../provider/pulumi/secrets.ts";
import { secretText } from "./changeSet.ts";

/** A secret of a state: its value is known only where the state was exported in clear. */
class Sealed {
  readonly value: unknown;
  readonly isKnown: boolean;
  constructor(isKnown: boolean, value?: unknown) {
    this.isKnown = isKnown;
    this.value = value;
  }
  toJSON(): string {
    return secretText;
  }
}

/** A resource as a state has it. */
export interface StateResource {
  /** The last part of its type, such as Team. */
  kind: string;
  /** The last part of its URN. */
  name: string;
  id: string;
  /** Applied values, inputs included. */
  values: Readonly<Record<string, unknown>>;
  /** Its outputs alone. */
  outputs?: Readonly<Record<string, unknown>>;
  /** True if its last creation or update failed in part: an engine updates it in any case. */
  isUnfinished?: boolean;
  /** True if it stays on the platform when it leaves the program. */
  isRetained?: boolean;
  /** True if the plugin made it, and no dynamic provider. */
  isOfPlugin?: boolean;
}

/** A state without secrets. */
export interface StackState {
  resources: StateResource[];
  /** Resources that a run was working on when it was interrupted. */
  interrupted: number;
}

/** Why a text is no state. */
export class StateError extends Error {}

/** Reads a state file of a backend, or what `stack export` prints. Ciphertext stays what it is. */
export function stateOf(text: string): StackState {
  const raw = objectOf(parsed(text));
  const latest = objectOf(raw["deployment"] ?? objectOf(raw["checkpoint"])["latest"]);
  if (raw["deployment"] === undefined && raw["checkpoint"] === undefined) {
    throw new StateError("it is neither a state file nor what 'stack export' prints");
  }
  const resources = listOf(latest["resources"]).flatMap((each) => resourceOf(objectOf(each)));
  return { resources, interrupted: listOf(latest["pending_operations"]).length };
}

function parsed(text: string): unknown {
  try {
    checkJsonBounds(text, ofStates);
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new StateError(error instanceof BoundError ? `it ${error.message}` : "it is not JSON");
  }
}

function resourceOf(raw: Record<string, unknown>): StateResource[] {
  const { urn, type, id } = raw;
  if (typeof urn !== "string" || typeof type !== "string" || raw["delete"] === true) return [];
  const [inputs, outputs] = [objectOf(raw["inputs"]), objectOf(revived(toShownNames(objectOf(raw["outputs"]))))];
  return [
    {
      kind: type.split(":").at(-1) ?? "",
      name: urn.split("::").slice(3).join("::"),
      id: typeof id === "string" ? id : "",
      values: { ...objectOf(revived(toShownNames(inputs))), ...outputs },
      outputs,
      isUnfinished: listOf(raw["initErrors"]).length > 0,
      isRetained: raw["retainOnDelete"] === true,
      isOfPlugin: type.startsWith("microapps:"),
    },
  ];
}

/** A value with its secrets marked. */
function revived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== "object" || value === null) return value;
  const raw = objectOf(value);
  if (raw[signature] === secretSignature) {
    const { plaintext } = raw;
    return typeof plaintext === "string" ? new Sealed(true, parsed(plaintext)) : new Sealed(false);
  }
  return Object.fromEntries(Object.entries(raw).map(([name, inner]) => [name, revived(inner)]));
}

/** A value of which every secret is known, in clear; undefined where one is not. */
export function openValue(value: unknown): { value: unknown } | undefined {
  if (value instanceof Sealed) return value.isKnown ? { value: value.value } : undefined;
  return holdsSealed(value) ? undefined : { value };
}

/** A value with its secrets in clear, as far as they are known. */
export function clear(value: unknown): unknown {
  if (value instanceof Sealed) return clear(value.value);
  if (Array.isArray(value)) return value.map(clear);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, clear(inner)]));
}

/** True if a value is, or holds, a secret. */
export const holdsSealed = (value: unknown): boolean =>
  value instanceof Sealed || (typeof value === "object" && value !== null && Object.values(value).some(holdsSealed));

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

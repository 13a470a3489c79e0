import { digestOf } from "../../../provider/approval/canonical.ts";
import type { Seal } from "../../../provider/approval/seal.ts";
import { signature } from "../../../provider/pulumi/secrets.ts";
import { StateError } from "../state/state.ts";

/**
 * Which state a text is, of a backend or of `stack export`: the time of its last change, and the digest of what is in it.
 * Leaves out secrets, since each export encrypts them again, or not at all; a changed secret changes that time.
 */
export function stateVersion(text: string): Exclude<Seal["state"], "unknown"> {
  const raw = objectOf(JSON.parse(text));
  const latest = objectOf(raw["deployment"] ?? objectOf(raw["checkpoint"])["latest"]);
  const { resources, pending_operations: operations } = latest;
  if (resources !== undefined && resources !== null && !Array.isArray(resources))
    throw new StateError("it has no resources");
  const all: unknown[] = Array.isArray(resources) ? resources : [];
  const times = all.flatMap((each) => {
    const { modified } = objectOf(each);
    return typeof modified === "string" ? [modified] : [];
  });
  return { serial: times.sort().at(-1) ?? "", hash: digestOf([withoutSecrets(all), withoutSecrets(operations ?? [])]) };
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  const raw = objectOf(value);
  if (raw[signature] !== undefined) return { [signature]: raw[signature] };
  // Exports differ in whether they write null for what is not there.
  const all = Object.entries(raw).filter(([, inner]) => inner !== null);
  return Object.fromEntries(all.map(([name, inner]) => [name, withoutSecrets(inner)]));
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

import { sealDigest, type Seal, type SealedOperation } from "../../../provider/approval/seal.ts";
import type { EnvironmentChanges } from "../model/changeSet.ts";

const words: Record<SealedOperation, string> = {
  delete: "delete",
  replace: "replace",
  update: "change",
  create: "create",
  same: "leave",
};

/** Lines of a seal: the digest for its approval, then an operation each; empty without a seal. */
export function sealLines({ seal }: EnvironmentChanges): string[] {
  if (!seal) return [];
  if ("why" in seal) return [`can't be approved: ${seal.why}`];
  const resources = Object.entries(seal.resources);
  return [
    `digest: ${sealDigest(seal)}`,
    `approved, a run of stack ${seal.stack} may, at ${seal.endpoint ?? "an unknown endpoint"} as ${seal.account ?? "an unknown account"}:`,
    ...operationLines(resources),
    ...resources.flatMap(([key, { except = [] }]) =>
      except.length === 0 ? [] : [`no digest covers ${except.join(", ")} of ${key}: compared by file alone`],
    ),
    "what runs is the code as it is here, by its digest",
    ...(seal.state === "unknown"
      ? ["made without the state: what is there already may stay, and nothing else goes"]
      : []),
  ];
}

function operationLines(resources: readonly [string, Seal["resources"][string]][]): string[] {
  const grouped = new Map<string, string[]>();
  for (const [key, { operations }] of resources) {
    const allowed = operations.filter((one) => one !== "same");
    if (allowed.length === 0) continue;
    const name = allowed.map((one) => words[one]).join(" or ");
    grouped.set(name, [...(grouped.get(name) ?? []), key]);
  }
  if (grouped.size === 0) return ["change nothing"];
  return [...grouped].map(([name, keys]) => `${name} ${keys.join(", ")}`);
}

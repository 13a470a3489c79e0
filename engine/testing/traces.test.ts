import { afterEach, describe, expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseDocument } from "yaml";
import { partOf, sampleOf } from "../../testing/harness/drawn.ts";
import { hasChanges } from "../deployment/result.ts";
import type { RunKind } from "../events.ts";
import { encodeDeployment } from "../state/checkpoint.ts";
import { removeConfig, setConfig } from "../workspace/configEdits.ts";
import type { Stack } from "../workspace/workspace.ts";
import { Sandbox } from "./sandbox.ts";

interface Step {
  name: string;
  config?: Record<string, string | null>;
  command: "up" | "preview" | "refresh" | "destroy";
  flags?: string[];
  allowDelete?: boolean;
  exit: number;
  providerCalls: unknown[][];
  resources: Record<string, unknown>[];
  pendingOperations: unknown[];
  cloud: Record<string, unknown>;
}

const kinds: Record<Step["command"], RunKind> = {
  up: "update",
  preview: "update",
  refresh: "refresh",
  destroy: "destroy",
};
/** Hand edits are recorded by their outcome: a refresh changes nothing in the cloud. */
const isHandEdited = (step: Step): boolean => step.command === "refresh";

const text = (value: unknown): string => JSON.stringify(value, (_, inner: unknown) => sorted(inner));
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Calls that run beside each other may swap; everything else about them is fixed. */
const unordered = (calls: unknown[][]): string[] => calls.map(text).sort();

const isRecorded = (call: unknown[], step: Step): boolean =>
  step.providerCalls.some((other) => text(other) === text(call));
const looksOnly = ([method]: unknown[]): boolean => method === "check" || method === "diff";

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const leftOut = new Set(["created", "modified", "sourcePosition", "stackTrace"]);
/** The state as the recordings have it: no times, no positions, no random IDs, secrets in clear. */
function normalized(resources: unknown): unknown {
  const plain = JSON.stringify(resources, (name, value: unknown) => {
    if (leftOut.has(name)) return undefined;
    if (name === "dependencies" && Array.isArray(value)) return (value as unknown[]).toSorted();
    if (typeof value === "object" && value !== null && "plaintext" in value)
      return { secret: JSON.parse(String(value.plaintext)) as unknown };
    return value;
  });
  const parsed: unknown = JSON.parse(plain.replace(uuid, "<uuid>"));
  // Parallel calls may stand in either order; every write checks that the order is a valid one.
  return Array.isArray(parsed) ? parsed.toSorted((a, b) => (text(a) < text(b) ? -1 : 1)) : parsed;
}

async function stateOf(sandbox: Sandbox): Promise<{ resources: unknown; operations: unknown }> {
  const deployment = await (await sandbox.stack()).read();
  const plain = encodeDeployment(deployment, (_, secret) => ({ plaintext: secret }), "", new Date(0));
  return { resources: normalized(plain["resources"] ?? []), operations: normalized(plain["pending_operations"] ?? []) };
}

/** Writes into the stack's file what the CLI wrote there for a path such as `obj.a`. */
function setAtPath({ file }: Stack, place: string, value: string): void {
  const document = parseDocument(readFileSync(file.file, "utf8"));
  const [name = "", ...rest] = place.split(".");
  document.setIn(["config", `spike:${name}`, ...rest], /^\d+$/.test(value) ? Number(value) : value);
  writeFileSync(file.file, document.toString());
}

describe.each(partOf(["broken", "life"], 0, 2))("the recording %s", (name) => {
  let sandbox: Sandbox | undefined;
  afterEach(() => sandbox?.remove());

  test("gives the same calls, states, pending operations, cloud and exit statuses", async () => {
    sandbox = new Sandbox();
    await sandbox.init();
    const file = path.resolve(import.meta.dirname, `../../../engine/testdata/traces/${name}.json`);
    const { steps } = JSON.parse(readFileSync(file, "utf8")) as { steps: Step[] };
    // Each is a run of a program; the first ones have each kind of failure.
    for (const [i, step] of sampleOf(steps, 5).entries()) {
      for (const [written, value] of Object.entries(step.config ?? {})) {
        const [, kind, key = ""] = /^(?:(secret|path):)?(.*)$/.exec(written) ?? [];
        const stack = await sandbox.stack();
        if (value === null) await removeConfig(stack, key);
        else if (kind === "path") setAtPath(stack, key, value);
        else await setConfig(stack, key, value, kind === "secret" ? stack.crypter : undefined);
      }
      if (isHandEdited(step)) sandbox.setCloud(step.cloud);
      const ran = await sandbox.run(
        { kind: kinds[step.command], preview: step.command === "preview" },
        step.allowDelete ? { ALLOW_DELETE: "1" } : {},
      );
      const unexpected = step.flags?.includes("--expect-no-changes") === true && hasChanges(ran);
      const where = `step ${i}, ${step.command}: ${step.name}`;
      const errors = ran.events.filter((event) => event.type === "log" && event.severity === "error");
      const exit = ran.succeeded && !unexpected ? 0 : 1;
      expect({ where, exit, failed: errors.length > 0 }).toEqual({ where, exit: step.exit, failed: step.exit !== 0 });
      // Checks that ran beside a failure, before it was known, differ by chance on both engines.
      const calls =
        step.exit === 0 ? ran.calls : ran.calls.filter((call) => isRecorded(call, step) || !looksOnly(call));
      const expected =
        step.exit === 0
          ? step.providerCalls
          : step.providerCalls.filter((call) => !looksOnly(call) || calls.some((made) => text(made) === text(call)));
      expect({ where, calls: unordered(calls) }).toEqual({ where, calls: unordered(expected) });
      expect({ where, ...(await stateOf(sandbox)) }).toEqual({
        where,
        resources: normalized(step.resources),
        operations: normalized(step.pendingOperations),
      });
      expect({ where, cloud: sandbox.cloud() }).toEqual({ where, cloud: step.cloud });
    }
  });
});

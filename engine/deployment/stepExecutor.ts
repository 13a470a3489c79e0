import { messageOf, ReportedError } from "../errors.ts";
import type { Op } from "../events.ts";
import { type Created, InitError, ProviderError, type Updated } from "../providers/provider.ts";
import type { Operator } from "../providers/registry.ts";
import type { OperationType, ResourceState } from "../state/resourceState.ts";
import { isProviderType, unknownId } from "../values/urns.ts";
import { copyProperties, equal, property, Secret, toShown } from "../values/values.ts";
import type { Run } from "./run.ts";
import { describeStep, type Step } from "./steps.ts";

/** A step did not begin, because the run was aborted. */
export class Aborted extends ReportedError {}

/** The steps that are counted; the others are parts of them. */
const counted: ReadonlySet<Op> = new Set<Op>(["same", "create", "update", "delete", "replace", "read-discard"]);
const operations: Partial<Record<Op, OperationType>> = {
  create: "creating",
  "create-replacement": "creating",
  update: "updating",
  read: "reading",
  "read-replacement": "reading",
  delete: "deleting",
  "delete-replaced": "deleting",
  "read-discard": "deleting",
  "discard-replaced": "deleting",
};

/** Runs steps one after the other. The first failure ends the run, unless it is a refused deletion. */
export async function runChain(run: Run, steps: readonly Step[]): Promise<void> {
  await run.slots.use(async (leave) => {
    for (const step of steps) {
      if (run.aborted) throw new Aborted("aborted");
      // The next step may begin while the last one is saved: both then share one write.
      await runStep(run, step, step === steps.at(-1) ? leave : undefined);
    }
  });
}

async function runStep(run: Run, step: Step, leave?: () => void): Promise<void> {
  run.taken?.(step);
  const refusal = await plannedDeparture(run, step);
  const info = describeStep(step);
  run.emit({ type: "step", preview: run.preview, ...info });
  const started = Date.now();
  const type = operations[step.op];
  const subject = step.new ?? step.old;
  try {
    const operation =
      type !== undefined && subject !== undefined && !run.preview ? await run.snapshot.begin(type, subject) : undefined;
    let failure = refusal;
    try {
      if (!failure) await apply(run, step);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(messageOf(error));
    }
    if (step.new && step.op !== "replace") markOutputs(step.new);
    const done = failure === undefined || failure instanceof InitError;
    if (done && failure !== undefined && step.op === "update" && step.new && step.old) {
      // The existing resource was not made from the new inputs, so the next run must see a difference.
      step.new.inputs = copyProperties(step.old.inputs);
    }
    if (operation) run.snapshot.end(operation);
    if (done) record(run, step);
    if (failure === undefined) leave?.();
    if (!run.preview && (type !== undefined || (done && mustWrite(step)))) await run.snapshot.persist();
    if (failure !== undefined) throw failure;
  } catch (error) {
    if (error instanceof ReportedError) throw error;
    run.emit({ type: "stepFailed", preview: run.preview, ...info });
    const failed = run.fail(describeFailure(error, step.op, run.preview), info.internal ? undefined : step.urn);
    if (!(error instanceof ProtectedError)) run.abort();
    throw failed;
  }
  // A deletion that an earlier run left is a change of its own, and no part of a replacement.
  if (!info.internal && (counted.has(step.op) || (step.old && step.op !== "replace" && run.left.has(step.old))))
    run.count(step.op);
  const after = describeStep(step);
  run.emit({ type: "stepDone", preview: run.preview, seconds: (Date.now() - started) / 1000, ...after });
}

/** Asks the provider in a preview what a deletion will do, where it can say so; answers its refusal. */
async function plannedDeparture(run: Run, step: Step): Promise<Error | undefined> {
  const { op, old } = step;
  if (op !== "delete" || !old?.custom || old.protect || isProviderType(old.type)) return undefined;
  if (old.retainOnDelete) {
    step.departure = { size: "stays: retainOnDelete", kept: {}, gone: 0 };
    return undefined;
  }
  const provider = run.providers.get(old.provider);
  try {
    step.departure = await provider?.departs?.({ urn: old.urn, id: old.id }, old);
    return undefined;
  } catch (error) {
    if (!run.preview) return undefined; // the deletion itself says so
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

function describeFailure(error: unknown, op: Step["op"], preview: boolean): string {
  if (error instanceof InitError) {
    const how = op === "update" ? "resource updated in part only" : "resource partially created but not ready";
    return `${how}: ${error.reasons.join("; ")}`;
  }
  return preview && error instanceof ProviderError ? `Preview failed: ${error.message}` : messageOf(error);
}

/** A refused deletion; the run goes on with what does not depend on it. */
class ProtectedError extends Error {
  constructor(urn: string) {
    super(
      `resource '${urn}' cannot be deleted because it is protected: remove the 'protect' option from it in the program ` +
        `and run 'up', or unprotect it with the Pulumi CLI ('pulumi state unprotect')`,
    );
  }
}

const timestamp = (): string => new Date().toISOString();

async function apply(run: Run, step: Step): Promise<void> {
  switch (step.op) {
    case "same":
      return applySame(run, step);
    case "create":
    case "create-replacement":
      return applyCreate(run, step);
    case "update":
      return applyUpdate(run, step);
    case "read":
    case "read-replacement":
      return applyRead(run, step);
    case "delete":
    case "delete-replaced":
    case "read-discard":
    case "discard-replaced":
      return applyDelete(run, step);
    default:
      return;
  }
}

/** Finds the provider of a resource; the registry is the one of provider resources. */
export function operatorOf(run: Run, state: ResourceState): Operator {
  if (isProviderType(state.type)) return run.providers;
  const provider = run.providers.get(state.provider);
  if (provider === undefined)
    throw new ProviderError(`unknown provider '${state.provider}' of resource '${state.urn}'`);
  return provider;
}

async function applySame(run: Run, { old, new: next }: Step): Promise<void> {
  if (!old || !next) return;
  next.id = old.id;
  next.outputs = old.outputs;
  next.created = old.created;
  next.modified = old.modified;
  if (isProviderType(next.type)) await run.providers.same({ ...next, inputs: old.inputs });
}

async function applyCreate(run: Run, step: Step): Promise<void> {
  const { new: next, old } = step;
  if (!next) return;
  const finish = ({ id, outputs, refreshBeforeUpdate }: Created): void => {
    next.id = id;
    next.outputs = outputs;
    next.refreshBeforeUpdate = refreshBeforeUpdate;
    next.created = next.modified = timestamp();
    if (step.deleteLater && old) old.delete = true;
  };
  if (!next.custom) {
    finish({ id: "", outputs: {}, refreshBeforeUpdate: false });
    return;
  }
  try {
    finish(await operatorOf(run, next).create(next.urn, next.inputs, next.customTimeouts.create ?? 0, run.preview));
  } catch (error) {
    if (error instanceof InitError) {
      next.initErrors = error.reasons;
      finish(error.found);
    }
    throw error;
  }
}

async function applyUpdate(run: Run, { old, new: next }: Step): Promise<void> {
  if (!old || !next) return;
  next.id = old.id;
  next.created = old.created;
  next.modified = old.modified;
  if (!next.custom) return;
  const finish = ({ outputs, refreshBeforeUpdate }: Updated): void => {
    next.outputs = outputs;
    next.refreshBeforeUpdate = refreshBeforeUpdate;
    next.modified = timestamp();
  };
  const options = {
    ignoreChanges: next.ignoreChanges,
    timeout: next.customTimeouts.update ?? 0,
    preview: run.preview,
  };
  try {
    const identity = { urn: next.urn, id: old.id };
    finish(await operatorOf(run, next).update(identity, old, next.inputs, options));
  } catch (error) {
    if (error instanceof InitError) {
      next.initErrors = error.reasons;
      finish(error.found);
    }
    throw error;
  }
}

/** Reads an existing resource, in previews too unless its ID is not known yet. */
async function applyRead(run: Run, { op, old, new: next }: Step): Promise<void> {
  if (!next) return;
  if (next.id !== unknownId) {
    const known = { inputs: next.inputs, outputs: next.inputs };
    const found = await operatorOf(run, next).read({ urn: next.urn, id: next.id }, known, 0);
    if (found.id === "") throw new ProviderError(`resource '${next.id}' does not exist`);
    next.id = found.id;
    next.outputs = found.outputs;
  }
  if (!old) return;
  if (op === "read-replacement") old.delete = true;
  const changed = !equal(next.inputs, old.inputs) || !equal(next.outputs, old.outputs);
  next.created = old.created;
  next.modified = changed ? timestamp() : old.modified;
}

async function applyDelete(run: Run, step: Step): Promise<void> {
  const { old } = step;
  if (!old) return;
  const replacing = step.op === "delete-replaced" || step.op === "discard-replaced";
  if (!replacing && old.protect) throw new ProtectedError(old.urn);
  const isKept = old.external || old.retainOnDelete || (old.deletedWith !== "" && step.deletions?.has(old.deletedWith));
  if (!run.preview && !isKept && old.custom) {
    await operatorOf(run, old).delete({ urn: old.urn, id: old.id }, old, old.customTimeouts.delete ?? 0);
  }
  if (step.recreate) old.pendingReplacement = true;
}

/** Marks outputs as secret whose inputs are secret, and those in `additionalSecretOutputs`. */
export function markOutputs(state: ResourceState): void {
  const marked = { ...state.outputs };
  for (const name of Object.keys(marked)) {
    const value = property(marked, name);
    if (value === undefined || value instanceof Secret) continue;
    const isRequested = name !== "id" && state.additionalSecretOutputs.includes(name);
    if (isRequested || property(state.inputs, name) instanceof Secret) {
      marked[name] = new Secret(value);
    }
  }
  state.outputs = marked;
}

/** Records in the snapshot what a step has done. */
function record(run: Run, { op, old, new: next }: Step): void {
  const { snapshot } = run;
  if (run.preview) return;
  switch (op) {
    case "same":
    case "update":
    case "read":
      if (old) snapshot.markDone(old);
      if (next) snapshot.markNew(next);
      return;
    case "read-replacement":
      // The old one is marked for deletion and stays until then.
      if (next) snapshot.markNew(next);
      return;
    case "create":
    case "create-replacement":
      if (next) snapshot.markNew(next);
      if (old?.pendingReplacement) snapshot.markDone(old);
      return;
    case "delete":
    case "delete-replaced":
    case "read-discard":
    case "discard-replaced":
      if (old && !old.pendingReplacement) snapshot.markDone(old);
      return;
    case "remove-pending-replace":
      if (old) snapshot.markDone(old);
      return;
    default:
      return;
  }
}

/** True if a step without a call has changed something that the state records. */
function mustWrite({ op, old, new: next }: Step): boolean {
  if (op === "remove-pending-replace") return true;
  if (op !== "same" || !old || !next) return false;
  const essence = (state: ResourceState): string => {
    const { aliases: _aliases, inputs, outputs, initErrors: _errors, ...rest } = state;
    return JSON.stringify({
      ...rest,
      dependencies: rest.dependencies.toSorted(),
      inputs: toShown(inputs, true),
      outputs: toShown(outputs, true),
    });
  };
  return essence(old) !== essence(next);
}

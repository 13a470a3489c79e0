/**
 * Loaded into the processes that tests start by the hundred: what @pulumi/pulumi needs only to serialize functions and
 * to trace runs is loaded when it is used. It takes a third of a short run.
 */
import module from "node:module";

type Load = (request: string, parent: { filename?: string } | null | undefined, isMain: boolean) => unknown;
const loader = module as unknown as { _load: Load };
const load = loader._load;

/** Modules of which nothing is used while they are loaded; `__esModule` keeps compiled code from copying them. */
const late = /^(@npmcli\/arborist|typescript)$/;
/** The inspector knows all scripts whenever it is asked; from the start on it slows down the loading of each. */
const inspector = /\/closure\/v8Hooks$/;
/** Traces of the SDK itself go nowhere: no run here has a tracer for them. */
const tracing = /^@opentelemetry\/(?!api$)/;

loader._load = (request, parent, isMain) => {
  const real = (): object => load(request, parent, isMain) as object;
  const from = parent?.filename ?? "";
  if (!from.includes("/@pulumi/pulumi/")) return real();
  if (late.test(request))
    return new Proxy({}, { get: (_, name) => name === "__esModule" || (Reflect.get(real(), name) as unknown) });
  if (inspector.test(request) && from.includes("/cmd/")) return { isInitializedAsync: () => Promise.resolve() };
  if (tracing.test(request) && !from.endsWith("/package.json")) return {}; // our own spans ask from there
  return real();
};

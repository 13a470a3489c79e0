/**
 * Loads late what @pulumi/pulumi needs only to serialize functions and to send spans to Zipkin: a third of the time of a
 * short run. Loaded before the program and the provider host. Where the SDK has other files, all of them load as usual.
 */
import inspector from "node:inspector";
import { createRequire, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** Modules that are only used through properties, none of them read while the requiring module loads. */
const late = /^(@npmcli\/arborist|\.\.\/\.\.\/typescript-shim)$/;
/** A function by itself. */
const lateFunction = /^normalize-package-data$/;
/** `pulumi.automation`, which programs hardly ever use. */
const sdk = /\/@pulumi\/pulumi\/index\.js$/;
const serializing = /\/@pulumi\/pulumi\/(runtime\/closure|provider\/experimental)\/\w+\.js$/;
const hooks = /\/@pulumi\/pulumi\/runtime\/closure\/v8Hooks\.js$/;
/** Used for --tracing alone, which the engine does not have. */
const tracing = /\/@pulumi\/pulumi\/cmd\/run\/tracing\.js$/;
/** Notes for each promise where it was made, several for each property of a resource, in case that promises leak. */
const promises = /(^|\/)debuggable$/;
const own = /\/@pulumi\/pulumi\/(?!node_modules)/;
const runner = /\/@pulumi\/pulumi\/cmd\/\w[\w-]*\/index\.js$/;
/** Sends messages for debugging, three for each resource and each by a call of its own, which the engine drops. */
const log = "../log";
const runtime = /\/@pulumi\/pulumi\/runtime\/\w+\.js$/;
/** Reads the source maps of all files of a stack, of which each resource notes one: a tenth of the time of a short run. */
const sourceMaps = "source-map-support";

/** Makes what stands for a module; `real` loads the module itself. */
type Substitute = (real: () => unknown, from: string) => unknown;

/** The substitute for a module that another one requires; undefined for none. */
function substituteFor(request: string, from: string): Substitute | undefined {
  if (late.test(request) && serializing.test(from)) return (real) => lateModule(real as () => object);
  if (lateFunction.test(request) && serializing.test(from)) return lateDefault;
  if (request === "./automation" && sdk.test(from)) return (real) => lateModule(real as () => object);
  if (request === "inspector" && hooks.test(from)) return () => ({ ...inspector, Session: LateSession });
  // From the start on, an inspector slows down the loading of each script.
  if (request.endsWith("/closure/v8Hooks") && runner.test(from))
    return () => ({ isInitializedAsync: () => Promise.resolve() });
  if (/^@opentelemetry\/(?!api$)/.test(request) && tracing.test(from)) return () => ({});
  if (request === `${sourceMaps}/register` && runner.test(from)) return registerUnmapped;
  if (request === log && runtime.test(from)) return (real) => withoutDebugging(real() as object);
  if (promises.test(request) && own.test(from) && !process.env["PULUMI_DEBUG_PROMISE_LEAKS"])
    return (real) => unnoted(real());
  return undefined;
}

// A substitute is a module of one line under an address of its own, which asks for it here.
const scheme = "microapps-late:";
const asked = Symbol.for("pulumi-microapps.late");
const made = new Map<string, () => unknown>();
Object.defineProperty(globalThis, asked, { value: (address: string) => made.get(address)?.() });

registerHooks({
  resolve: (request, context, next) => {
    const from = context.parentURL ?? "";
    const substitute = from.includes("/@pulumi/pulumi/") ? substituteFor(request, from) : undefined;
    const found = next(request, context);
    if (!substitute) return found;
    const real = (): unknown =>
      createRequire(from)(found.url.startsWith("file:") ? fileURLToPath(found.url) : found.url) as unknown;
    const address = `${scheme}${encodeURIComponent(request)}?${from}`;
    made.set(address, () => substitute(real, from));
    return { url: address, format: "commonjs", shortCircuit: true };
  },
  load: (address, context, next) =>
    made.has(address)
      ? {
          format: "commonjs",
          source: `module.exports = globalThis[Symbol.for("pulumi-microapps.late")](${JSON.stringify(address)});`,
          shortCircuit: true,
        }
      : next(address, context),
});

interface SourceMaps {
  install: (options: { retrieveSourceMap: (source: string) => { url: string; map: object } | null }) => void;
}

/** Leaves places in the SDK as they are: nobody has the sources that its source maps lead to. */
function registerUnmapped(real: () => unknown, from: string): unknown {
  const { install } = createRequire(from)(sourceMaps) as SourceMaps;
  install({
    retrieveSourceMap: (source) =>
      own.test(source.replaceAll("\\", "/"))
        ? { url: source, map: { version: 3, sources: [], names: [], mappings: "" } }
        : null,
  });
  return real();
}

/** The module without messages for debugging: those of the program itself go through another one. */
const withoutDebugging = (real: object): object =>
  Object.create(real, { debug: { value: () => Promise.resolve() } }) as object;

interface Debuggable {
  debuggablePromise: <Value>(promise: Promise<Value>, context: unknown) => Promise<Value>;
}
const changed = new WeakSet<object>();

/** The notes of promises without stacks, which are looked up in source maps, and texts: both are shown to nobody. */
function unnoted(loaded: unknown): unknown {
  const debuggable = loaded as Debuggable;
  if (changed.has(debuggable)) return debuggable;
  changed.add(debuggable);
  const { debuggablePromise } = debuggable;
  debuggable.debuggablePromise = (promise) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return debuggablePromise(promise, "");
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
  return debuggable;
}

/** Stands for a module until a property of it is read; `__esModule` keeps compiled code from copying it. */
const lateModule = (real: () => object): object =>
  new Proxy(
    {},
    {
      get: (_, name) => name === "__esModule" || (Reflect.get(real(), name) as unknown),
      has: (_, name) => Reflect.has(real(), name),
      ownKeys: () => Reflect.ownKeys(real()),
      getOwnPropertyDescriptor: (_, name) => {
        const found = Reflect.getOwnPropertyDescriptor(real(), name);
        return found && { ...found, configurable: true }; // what a proxy's target does not have must be so
      },
    },
  );

/** Stands for a module that is a function, as compiled code reads it. */
const lateDefault = (real: () => unknown): object => ({
  __esModule: true,
  get default() {
    return real();
  },
});

/** Reports earlier scripts to its listener: without their names no message can give the place of a function. */
class LateSession extends inspector.Session {
  constructor() {
    super();
    const parsed: unknown[] = [];
    const keep = (script: unknown): void => void parsed.push(script);
    this.on("Debugger.scriptParsed", keep);
    this.on("newListener", (event: string, listener: (script: unknown) => void) => {
      if (event !== "Debugger.scriptParsed") return;
      this.off("Debugger.scriptParsed", keep);
      for (const script of parsed.splice(0)) listener(script);
    });
  }
}

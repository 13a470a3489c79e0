/**
 * Loads late what @pulumi/pulumi needs only to serialize functions and to send spans to Zipkin: a third of the time of a
 * short run. Loaded before the program and the provider host.
 */
import inspector from "node:inspector";
import module from "node:module";

type Load = (request: string, parent: { filename?: string } | null | undefined, isMain: boolean) => unknown;
const loader = module as unknown as { _load: Load };
const load = loader._load;

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
/** Reads the source maps of all files of a stack, of which each resource notes one: a tenth of the time of a short run. */
const sourceMaps = "source-map-support";

loader._load = (request, parent, isMain) => {
  const real = (): unknown => load(request, parent, isMain);
  const from = (parent?.filename ?? "").replaceAll("\\", "/");
  if (late.test(request) && serializing.test(from)) return lateModule(real as () => object);
  if (lateFunction.test(request) && serializing.test(from)) return lateDefault(real);
  if (request === "./automation" && sdk.test(from)) return lateModule(real as () => object);
  if (request === "inspector" && hooks.test(from)) return { ...inspector, Session: LateSession };
  // From the start on, an inspector slows down the loading of each script.
  if (request.endsWith("/closure/v8Hooks") && runner.test(from)) return { isInitializedAsync: () => Promise.resolve() };
  if (/^@opentelemetry\/(?!api$)/.test(request) && tracing.test(from)) return {};
  if (request === `${sourceMaps}/register` && runner.test(from)) unmapped(load(sourceMaps, parent, false));
  if (promises.test(request) && own.test(from) && !process.env["PULUMI_DEBUG_PROMISE_LEAKS"]) return unnoted(real());
  return real();
};

interface SourceMaps {
  install: (options: { retrieveSourceMap: (source: string) => { url: string; map: object } | null }) => void;
}

/** Leaves places in the SDK as they are: nobody has the sources that its source maps lead to. */
const unmapped = (loaded: unknown): void =>
  (loaded as SourceMaps).install({
    retrieveSourceMap: (source) =>
      own.test(source.replaceAll("\\", "/"))
        ? { url: source, map: { version: 3, sources: [], names: [], mappings: "" } }
        : null,
  });

interface Debuggable {
  debuggablePromise: <Value>(promise: Promise<Value>, context: unknown) => Promise<Value>;
}
const changed = new WeakSet<object>();

/** The notes of promises without their stacks, which are looked up in source maps and shown to nobody. */
function unnoted(loaded: unknown): unknown {
  const debuggable = loaded as Debuggable;
  if (changed.has(debuggable)) return debuggable;
  changed.add(debuggable);
  const { debuggablePromise } = debuggable;
  debuggable.debuggablePromise = (promise, context) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return debuggablePromise(promise, context);
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

/**
 * Loads late what @pulumi/pulumi needs only to serialize functions and to send spans to Zipkin: a third of the time of a
 * short run. Loaded before the program and the provider host.
 */
import inspector from "node:inspector";
import module from "node:module";

type Load = (request: string, parent: { filename?: string } | null | undefined, isMain: boolean) => unknown;
const loader = module as unknown as { _load: Load };
const load = loader._load;

/** Of these modules only properties are read, and none while what requires them is loaded. */
const late = /^(@npmcli\/arborist|\.\.\/\.\.\/typescript-shim)$/;
const serializing = /\/@pulumi\/pulumi\/(runtime\/closure|provider\/experimental)\/\w+\.js$/;
const hooks = /\/@pulumi\/pulumi\/runtime\/closure\/v8Hooks\.js$/;
/** Used for --tracing alone, which the engine does not have. */
const tracing = /\/@pulumi\/pulumi\/cmd\/run\/tracing\.js$/;
const runner = /\/@pulumi\/pulumi\/cmd\/\w[\w-]*\/index\.js$/;

loader._load = (request, parent, isMain) => {
  const real = (): unknown => load(request, parent, isMain);
  const from = (parent?.filename ?? "").replaceAll("\\", "/");
  if (late.test(request) && serializing.test(from)) return lateModule(real as () => object);
  if (request === "inspector" && hooks.test(from)) return { ...inspector, Session: LateSession };
  // From the start on, an inspector slows down the loading of each script.
  if (request.endsWith("/closure/v8Hooks") && runner.test(from)) return { isInitializedAsync: () => Promise.resolve() };
  if (/^@opentelemetry\/(?!api$)/.test(request) && tracing.test(from)) return {};
  return real();
};

/** Stands for a module until a property of it is read; `__esModule` keeps compiled code from copying it. */
const lateModule = (real: () => object): object =>
  new Proxy({}, { get: (_, name) => name === "__esModule" || (Reflect.get(real(), name) as unknown) });

/** Tells its listener of the scripts that were there before it: without their names no message says where a function is. */
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

import { systemLabels } from "../../provider/contract/values.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { RecordedExchange } from "./exchange.ts";

/** Parameters that hold what users write, not what the interface means. */
export const written: ReadonlySet<string> = new Set(
  "rowData rows value optViewFilters optVectorSearchString message appPrompt attachments content currentRow microAppRows".split(
    " ",
  ),
);

/** Values that differ at each call. */
const volatile =
  /^(_id|authToken|userI[dD]|teamMemberID|childID|submitted|clientSubmitted|(created|updated)(At)?|expiredAt|signedUrl|url|fileKey)$/;

/** Properties that a thing may lack, as the sandbox's may. */
const optional = /^description$/;

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "list" : typeof value);

/** The outline of a value: of what users write only which types there are. */
function shapeOf(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    const items = new Set((value as unknown[]).map((item) => JSON.stringify(shapeOf(item, key))));
    return [...items].sort();
  }
  if (!isObject(value)) return typeOf(value);
  const entries = Object.entries(value).map(([name, inner]) => {
    const known = name.startsWith("$") ? name : /^sortVal\d*$/.test(name) ? "sortVal" : "label";
    return [written.has(key) && !systemLabels.has(name) ? known : name, shapeOf(inner, written.has(key) ? key : name)];
  });
  return [...new Set(entries.map((entry) => JSON.stringify(entry)))].sort();
}

/** A key that is equal for exchanges with the same information. */
export function signatureOf({ name, sent, headers, refused, status, answer, wire }: RecordedExchange): string {
  const outcome =
    refused === undefined ? shapeOf(answer ?? wire) : [status, refused.replaceAll(/["'“].*?["'”]|\S*\d\S*/g, "…")];
  return JSON.stringify([name, headers["x-auth-token"] !== undefined, shapeOf(sent), outcome]);
}

/** A step of a fact that is known already. */
export interface KnownStep {
  call?: string | undefined;
  with?: unknown;
  /** The step is tried with each of these put over `with`. */
  each?: readonly object[] | undefined;
  refused?: unknown;
}

/** Requests of a known step, in the outline used to compare exchanges with it. */
export const asksOf = ({ call, with: sent, each = [{}], refused }: KnownStep): string[] =>
  each.map((variant) => askOf(call, { ...(isObject(sent) ? sent : {}), ...variant }, refused !== undefined));

/** The outline of a request, and if it was refused. Values are left out: they teach nothing. */
export const askOf = (name: string | undefined, sent: Json, isRefused: boolean): string =>
  JSON.stringify([name, shapeOf(sent), isRefused]);

/** The answer that must come back, and paths of it that only have to exist. */
export interface Expected {
  answer: Json;
  volatile: string[];
}

/** Describes the expected answer: exact values that this fact knows itself, and types for the rest. */
export function describeExpected(answer: Json, knows: (value: unknown, label: string) => unknown): Expected {
  const volatiles: string[] = [];
  const outline = (value: unknown, path: string[]): unknown => {
    const label = path.at(-1) ?? "";
    const known = knows(value, label);
    if (known !== undefined) return known;
    if (value === null || value === undefined || value === "" || optional.test(label)) return undefined;
    if (volatile.test(label) && !Array.isArray(value)) {
      volatiles.push(path.join("."));
      return "$any";
    }
    if (Array.isArray(value)) return "$list";
    if (!isObject(value)) return { string: "$text", number: "$number", boolean: "$boolean" }[typeof value as "string"];
    if ("crossAppRowID" in value || path.length > 3) return "$object";
    const parts = Object.entries(value).map(([key, inner]) => [key, outline(inner, [...path, key])] as const);
    // Labels with dots would be paths.
    const entries = parts.filter(([key, inner]) => inner !== undefined && !/[.$*]/.test(key));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const made = outline(answer, []);
  return { answer: isObject(made) ? made : {}, volatile: volatiles.filter((path) => !/[$*]/.test(path)) };
}

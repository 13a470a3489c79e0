import type { KeyPath } from "../layers/grammar.ts";

/** Maps whose entries are things with names, `*` for any key, and what each is called in the singular. */
export const namedMaps: readonly { steps: readonly string[]; kind: string }[] = [
  { steps: ["organizations"], kind: "organization" },
  { steps: ["organizations", "*", "teams"], kind: "team" },
  { steps: ["organizations", "*", "teams", "*", "members"], kind: "member" },
  { steps: ["organizations", "*", "teams", "*", "roster", "members"], kind: "member" },
  { steps: ["seeds"], kind: "seed" },
  { steps: ["seeds", "*", "references"], kind: "reference" },
  { steps: ["apps"], kind: "app" },
];

/** True for a path that the steps match. */
export const leadsTo = (path: KeyPath, steps: readonly string[]): boolean =>
  path.length === steps.length && steps.every((step, at) => step === "*" || step === path[at]);

type Json = Record<string, unknown>;

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Adds to the JSON Schema of a file the properties of a file that extends another one. */
export function withVerbs(schema: Json): Json {
  addListVerbs(schema);
  for (const { steps } of namedMaps) {
    for (const map of mapsAt(schema, steps)) {
      const { additionalProperties: entry } = map;
      if (isMap(entry)) map["additionalProperties"] = { anyOf: [entry, { type: "null" }] };
    }
  }
  return schema;
}

/** Lists that each layer extends without a verb. */
const gathered = ["rules", "removed", "formerly"];

/** `name+` and `name-` beside each list of a map with fixed keys. */
function addListVerbs(schema: unknown): void {
  if (Array.isArray(schema)) schema.forEach(addListVerbs);
  if (!isMap(schema)) return;
  const { properties, additionalProperties } = schema;
  for (const [key, value] of Object.entries(schema)) if (key !== "properties") addListVerbs(value);
  if (!isMap(properties)) return;
  for (const [name, value] of Object.entries(properties)) if (!gathered.includes(name)) addListVerbs(value);
  if (additionalProperties !== false) return;
  for (const [name, value] of Object.entries(properties)) {
    const list = formsOf(value).find(({ type }) => type === "array");
    if (!list || gathered.includes(name) || /[+~-]$/.test(name)) continue;
    const items = { type: "array", items: list["items"] };
    properties[`${name}+`] ??= { ...items, description: `Added to ${name} of the files that this one extends.` };
    properties[`${name}-`] ??= { ...items, description: `Taken out of ${name} of the files that this one extends.` };
  }
}

const formsOf = (schema: unknown): Json[] =>
  isMap(schema) ? (Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as unknown[]).flatMap(formsOf) : [schema]) : [];

function mapsAt(schema: unknown, [step, ...rest]: readonly string[]): Json[] {
  const forms = formsOf(schema);
  if (step === undefined) return forms;
  return forms.flatMap(({ properties, additionalProperties }) =>
    mapsAt(step === "*" ? additionalProperties : isMap(properties) ? properties[step] : undefined, rest),
  );
}

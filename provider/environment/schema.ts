import { z } from "zod";
import { id, withoutUndefined } from "../../platform/contract/values.ts";
import { isObject, type Json, jsonIn } from "../../platform/contract/wire.ts";
import { field, fieldType, seed as platform } from "../../platform/seed/schema.ts";
import type { Mapping, Problem, Value } from "../layers/document.ts";
import { formsAt, type Grammar, hasList, type KeyPath } from "../layers/layers.ts";
import { appReadiness } from "../resources/appReadiness.ts";
import { facts } from "../resources/common.ts";
import { generatedApp } from "../resources/generatedApp.ts";
import { notification } from "../resources/notification.ts";
import { organization } from "../resources/organization.ts";
import { rowFile } from "../resources/rowFile.ts";
import { seedRows } from "../resources/seedRows.ts";
import { team } from "../resources/team.ts";
import { teamMember } from "../resources/teamMember.ts";
import { teamRoster } from "../resources/teamRoster.ts";
import { expectations, relatedRows } from "../seedRows/inputs.ts";
import type { RowEdits } from "../seedRows/source/source.ts";

/** A rule of a layer for that layer and all that extend it. */
const rule = z.strictObject({
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).meta({
    description:
      "The values that the rule is about: keys from the top of the file; * or a pattern such as *@example.com stands for any of them. Text with dots, or a list.",
  }),
  atMost: z.number().optional().meta({ description: "Largest number." }),
  atLeast: z.number().optional().meta({ description: "Smallest number." }),
  only: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .min(1)
    .optional()
    .meta({ description: "The values that it may have." }),
  fixed: z.literal(true).optional().meta({ description: "The value stays as this layer and those below set it." }),
  never: z.literal(true).optional().meta({ description: "The value must not be set, other than to false." }),
  required: z.literal(true).optional().meta({ description: "Each match of the path must have it." }),
  because: z.string().min(1).optional().meta({ description: "The reason, for whoever breaks the rule." }),
});

export type Rule = z.output<typeof rule>;

/** Rules of a file about its own changes. */
export const policy = {
  rules: z.array(rule).optional().meta({
    description: "Rules for this file and all that extend it. No layer can remove or replace one.",
  }),
};

const logicalName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "must consist of letters, digits, _, . and -")
  .meta({
    description:
      "The resource's name in the stack. Its name on the platform may change at any time; if the key changes, write the old one into formerly.",
  });

const formerUrn = z
  .string()
  .regex(/^urn:pulumi:[^:]+::[^:]+::.+::.+$/, "is not the URN of a resource, as stack export prints it");

const formerly = z
  .union([logicalName, formerUrn, z.array(z.union([logicalName, formerUrn])).min(1)])
  .optional()
  .meta({
    description:
      "The former key, or keys: under its new key it stays the same thing, with everything that belongs to it. For a resource that a program declared by itself, its URN.",
  });

const formerlyAlone = z
  .union([formerUrn, z.array(formerUrn).min(1)])
  .optional()
  .meta({
    description: "The URN, or URNs, of the resource by which a program declared this: it stays the same thing.",
  });

const named = <Declared extends z.ZodType>(declared: Declared) => z.record(logicalName, declared);

const {
  email: _,
  role,
  targetInitialApp,
  ...invitation
} = teamMember.inputs.omit({
  resourceUrn: true,
  teamID: true,
  userID: true,
  ended: true,
}).shape;

const appOfFile = z.strictObject({ app: z.string().meta({ description: "Logical name of an app of this file." }) });

const opens = z
  .union([id, appOfFile])
  .optional()
  .meta({ description: targetInitialApp.meta()?.description ?? "" });

const retain = z.boolean().optional().meta({
  description:
    "True to leave this on the platform, with all that is below it, when it leaves the file. It is Pulumi's retainOnDelete, and takes effect once an up has saved it.",
});

const member = z.strictObject({
  role,
  ...invitation,
  targetInitialApp: opens,
  retain,
  formerly: formerlyAlone,
});

/** An e-mail address or a user ID. */
const person = teamRoster.inputs.shape.members.unwrap().keyType;

const ending = z.strictObject({ role: role.unwrap(), until: invitation.until });

const roster = z.strictObject({
  ...teamRoster.inputs.omit({ resourceUrn: true, teamID: true, sensitive: true, until: true }).shape,
  members: z
    .record(person, z.union([role.unwrap(), ending]))
    .optional()
    .meta({
      description:
        "Members by e-mail address (an unknown one is invited) or by user ID: the role, or a map with role and until. " +
        "Either this or source.",
    }),
  source: teamRoster.inputs.shape.source.meta({
    description:
      "File with the members, relative to this one, instead of members: CSV with a column email and, if needed, role, " +
      "until and team; or JSON, NDJSON or YAML.",
  }),
  targetInitialApp: opens,
  retain,
  formerly: formerlyAlone,
});

const crew = z.strictObject({
  ...team.inputs.omit({ resourceUrn: true, generation: true, organizationID: true }).shape,
  members: z
    .record(person, z.union([role.unwrap(), member]))
    .optional()
    .meta({
      description:
        "Members by e-mail address (an unknown one is invited) or by user ID: the role, or a map with role, until, retain " +
        "and what the invitation leads to.",
    }),
  roster: roster.optional().meta({
    description: "All members of the team as one list, instead of members: everybody else is removed, within guards.",
  }),
  retain,
  formerly,
});

const organizationSchema = z.strictObject({
  ...organization.inputs.omit({ resourceUrn: true }).shape,
  teams: named(crew).optional().meta({ description: "Teams by logical name." }),
  retain,
  formerly,
});

const seedName = z.string().meta({ description: "Logical name of a seed of this file." });
const rowsOfSeed = { seed: seedName };
const { table: tableOfRows, key: keyOfRows, by } = seedRows.inputs.shape.parent.unwrap().shape;
const rowsOfTable = { table: tableOfRows, key: keyOfRows };

const { additions, changes, removals } = seedRows.inputs.shape;
/** Properties of a seed that edit its rows. */
const editedBy = { additions: true, changes: true, removals: true } as const;

const cell = z.union([z.string(), z.number(), z.boolean()]);

const file = z.strictObject({
  ...rowFile.inputs.omit({ resourceUrn: true, table: true, row: true, rowID: true }).shape,
  row: z.union([cell, z.array(cell).min(1)]).meta({
    description:
      "The row by its natural key; with several labels, a list of their values in the order of the seed's key.",
  }),
  retain,
  formerly,
});

const message = z.strictObject({
  ...notification.inputs.omit({ resourceUrn: true, generation: true }).shape,
  appID: z.union([id, appOfFile]).meta({ description: "App that it is about: its ID or {app}." }),
  formerly,
});

const seed = z.strictObject({
  ...seedRows.inputs.omit({
    resourceUrn: true,
    salt: true,
    digest: true,
    fingerprint: true,
    keys: true,
    linkRenewals: true,
    linkedSeeds: true,
    siblings: true,
    referrers: true,
    fields: true,
    ...editedBy,
  }).shape,
  "rows+": additions,
  "rows~": changes,
  "rows-": removals,
  references: z
    .record(z.string().min(1), z.union([z.strictObject(rowsOfSeed), z.strictObject(rowsOfTable)]))
    .optional()
    .meta({ description: "Linked-table labels whose values are keys of rows elsewhere: {seed} or {table, key}." }),
  expect: expectations
    .extend({
      relationships: z
        .record(z.string().min(1), z.union([z.strictObject(rowsOfSeed), z.strictObject(relatedRows)]))
        .optional()
        .meta({ description: "Labels whose values stand in rows elsewhere: {seed}, by its key, or {table, key}." }),
    })
    .optional()
    .meta({ description: seedRows.inputs.shape.expect.meta()?.description ?? "" }),
  parent: z
    .union([z.strictObject({ ...rowsOfSeed, by }), z.strictObject({ ...rowsOfTable, by })])
    .optional()
    .meta({ description: "For a sub-table: the parent rows, and the column of the source that holds their key." }),
  teamViewers: z
    .array(z.union([id, z.strictObject({ team: z.string().meta({ description: "organization/team of this file." }) })]))
    .optional()
    .meta({ description: "Teams whose members may see the rows: IDs or {team}. Acts on insert." }),
  files: named(file).optional().meta({ description: "Files and images on fields of the rows, by logical name." }),
  retain,
  formerly,
});

const app = z.strictObject({
  ...generatedApp.inputs.omit({ resourceUrn: true }).shape,
  wait: z.enum(["ready", "none"]).optional().meta({ description: "Whether to wait until the app is ready." }),
  timeout: appReadiness.inputs.shape.timeout.unwrap().optional(),
  statusWords: appReadiness.inputs.shape.statusWords,
  formerly,
});

/** An environment file once everything that it extends is merged into it. */
export const environmentFile = z.strictObject({
  organizations: named(organizationSchema).optional().meta({ description: "Organizations by logical name." }),
  seeds: named(seed).optional().meta({ description: "Seed rows by logical name." }),
  apps: named(app).optional().meta({ description: "Generated apps by logical name." }),
  notifications: named(message).optional().meta({ description: "Messages to people about apps, by logical name." }),
  platform: platform.optional().meta({
    description: "What an emulated platform has from the start, for `microapps emulator --seed`; never deployed.",
  }),
  ...policy,
});

export type EnvironmentFile = z.output<typeof environmentFile>;
export type SeedDeclaration = NonNullable<EnvironmentFile["seeds"]>[string];

/** The rows of others that a seed names, each with its label and the place of the name below the seed. */
export const linksIn = ({ references = {}, parent, expect }: SeedDeclaration) => [
  ...Object.entries(references).map(([label, to]) => ({ label, to, path: ["references", label] })),
  ...Object.entries(expect?.relationships ?? {}).map(([label, to]) => ({
    ...{ label, to, path: ["expect", "relationships", label] },
  })),
  ...(parent ? [{ label: parent.by, to: parent, path: ["parent"] }] : []),
];

/** The other seeds that add rows to the tables which a seed updates or names. */
export function listAdding(name: string, seeds: Readonly<Record<string, SeedDeclaration>>): string[] {
  const seed = seeds[name];
  if (seed === undefined) return [];
  const tables = linksIn(seed).flatMap(({ to }) => ("seed" in to ? [] : [to.table]));
  if (seed.mode === "updateOnly") tables.push(seed.table);
  return Object.entries(seeds).flatMap(([other, { table, mode }]) =>
    other !== name && mode !== "updateOnly" && tables.includes(table) ? [other] : [],
  );
}

/** A seed with the inputs of SeedRows in place of the verbs that a file has. */
export function withRowEdits<Seed extends Pick<SeedDeclaration, "rows+" | "rows~" | "rows-">>({
  "rows+": additions,
  "rows~": changes,
  "rows-": removals,
  ...seed
}: Seed): Omit<Seed, "rows+" | "rows~" | "rows-"> & RowEdits {
  return { ...seed, ...withoutUndefined({ additions, changes, removals }) };
}

/** JSON Schema of an environment file, for editors. */
export function jsonSchema(): object {
  const file = environmentFile.extend({
    extends: z.string().optional().meta({ description: "The file that this one extends, relative to this one." }),
  });
  const schema = z.toJSONSchema(file, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      // A file that another one extends, or that extends another, may lack what only the merged one must have.
      if (([organizationSchema, crew, roster, seed, app, file, message] as unknown[]).includes(zodSchema))
        delete jsonSchema.required;
      if ((zodSchema as unknown) === field) {
        // A field's type may stand alone; a schema of what is preprocessed does not know.
        const whole = { ...jsonSchema };
        for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
        jsonSchema.anyOf = [{ type: "string", enum: fieldType.options }, whole];
      }
      // Facts for the engine say nothing to an editor.
      for (const fact of facts) Reflect.deleteProperty(jsonSchema, fact);
    },
  });
  return { title: "Environment of pulumi-microapps", ...withVerbs(schema) };
}

/** Maps whose entries are things with names, `*` for any key, and what each is called in the singular. */
export const namedMaps: readonly { steps: readonly string[]; kind: string }[] = [
  { steps: ["organizations"], kind: "organization" },
  { steps: ["organizations", "*", "teams"], kind: "team" },
  { steps: ["organizations", "*", "teams", "*", "members"], kind: "member" },
  { steps: ["organizations", "*", "teams", "*", "roster", "members"], kind: "member" },
  { steps: ["seeds"], kind: "seed" },
  { steps: ["seeds", "*", "references"], kind: "reference" },
  { steps: ["seeds", "*", "files"], kind: "file" },
  { steps: ["apps"], kind: "app" },
  { steps: ["notifications"], kind: "notification" },
];

/** True for a path that the steps match. */
export const leadsTo = (path: KeyPath, steps: readonly string[]): boolean =>
  path.length === steps.length && steps.every((step, at) => step === "*" || step === path[at]);

/** Where an entry may name its former keys. */
const renamable = [
  ...namedMaps.filter(({ kind }) => kind !== "reference").map(({ steps }) => [...steps, "*"]),
  ["organizations", "*", "teams", "*", "roster"],
].map((steps) => [...steps, "formerly"]);

/** Lists to which each layer adds: rules hold whatever stands above them. */
const gathered = [...renamable, ["rules"]];

/** How Environment files that extend each other are merged. */
export const grammar: Grammar = {
  named: (map) => namedMaps.find(({ steps }) => leadsTo(map, steps))?.kind,
  hasList: (map, key) => !gathered.some((steps) => leadsTo([...map, key], steps)) && hasList(environmentFile, map, key),
  hasRows: (map) => leadsTo(map, ["seeds", "*"]),
  gathers: (list) => gathered.some((steps) => leadsTo(list, steps)),
};

/** Adds to the JSON Schema of a file the properties of a file that extends another one. */
function withVerbs(schema: Json): Json {
  addListVerbs(schema);
  for (const { steps } of namedMaps) {
    for (const map of mapsAt(schema, steps)) {
      const { additionalProperties: entry } = map;
      if (isObject(entry)) map["additionalProperties"] = { anyOf: [entry, { type: "null" }] };
    }
  }
  return schema;
}

/** Lists that each layer extends without a verb. */
const withoutVerbs = ["rules", "removed", "formerly"];

/** `name+` and `name-` beside each list of a map with fixed keys. */
function addListVerbs(schema: unknown): void {
  if (Array.isArray(schema)) schema.forEach(addListVerbs);
  if (!isObject(schema)) return;
  const { properties, additionalProperties } = schema;
  for (const [key, value] of Object.entries(schema)) if (key !== "properties") addListVerbs(value);
  if (!isObject(properties)) return;
  for (const [name, value] of Object.entries(properties)) if (!withoutVerbs.includes(name)) addListVerbs(value);
  if (additionalProperties !== false) return;
  for (const [name, value] of Object.entries(properties)) {
    const list = formsOf(value).find(({ type }) => type === "array");
    if (!list || withoutVerbs.includes(name) || /[+~-]$/.test(name)) continue;
    const items = { type: "array", items: list["items"] };
    properties[`${name}+`] ??= { ...items, description: `Added to ${name} of the files that this one extends.` };
    properties[`${name}-`] ??= { ...items, description: `Removed from ${name} of the files that this one extends.` };
  }
}

const formsOf = (schema: unknown): Json[] =>
  isObject(schema) ? (Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as unknown[]).flatMap(formsOf) : [schema]) : [];

function mapsAt(schema: unknown, [step, ...rest]: readonly string[]): Json[] {
  const forms = formsOf(schema);
  if (step === undefined) return forms;
  return forms.flatMap(({ properties, additionalProperties }) =>
    mapsAt(step === "*" ? additionalProperties : isObject(properties) ? properties[step] : undefined, rest),
  );
}

/** The value of a key of the stack's configuration; undefined when it is not set. */
export type ConfigLookup = (key: string) => { text: string; secret: boolean } | undefined;

/** A file whose values from the configuration are in their places. */
export interface Configured {
  root: Value;
  /** Where secrets stand. */
  secrets: string[][];
  /** Texts that no message may show. */
  hidden: string[];
  /** Where values stand that only a stack knows, as JSON: what they are held against here is made up. */
  unknown: ReadonlySet<string>;
}

/** Parts of the file that are about the file itself, or that no program reads. */
const untouched = ["platform", "rules"];

/**
 * Puts values of the configuration in the place of `{ config: key }`, and defaults where a key is not set. Without a
 * configuration each stands for itself: its default, or a value that its place may have.
 */
export function fillConfigured(
  root: Value,
  configuration: ConfigLookup | undefined,
  report: (problem: Problem) => void,
): Configured {
  const found: Omit<Configured, "root"> & { unknown: Set<string> } = {
    secrets: [],
    hidden: [],
    unknown: new Set(),
  };
  const valueOf = (reference: Reference, path: string[]): Value => {
    const { key, at, fallback } = reference;
    if (!/^[\w.-]+$/.test(key)) {
      report({
        at,
        message: `config "${key}" must be a key of the project's own configuration, without its namespace; correct it`,
      });
      return fallback ?? { kind: "scalar", at, value: fitting(path, standIns(path)) };
    }
    const known = configuration?.(key);
    if (known) {
      if (known.secret) {
        found.secrets.push(path);
        found.hidden.push(known.text);
      }
      return { kind: "scalar", at, value: fitting(path, [known.text, jsonIn(known.text) ?? known.text]) };
    }
    if (fallback) return fallback;
    if (configuration) {
      report({
        at,
        message: `the configuration has no "${key}"; set it (config set ${key} …), or give it a default here`,
      });
    } else found.unknown.add(JSON.stringify(path));
    return { kind: "scalar", at, value: fitting(path, standIns(path)) };
  };
  const walk = (value: Value, path: string[]): Value => {
    if (value.kind === "scalar" || (path.length === 1 && untouched.includes(path[0] ?? ""))) return value;
    if (value.kind === "list")
      return { ...value, items: value.items.map((item, at) => walk(item, [...path, String(at)])) };
    const reference = referenceIn(value);
    if (reference && path.length > 0) return valueOf(reference, path);
    const entries = [...value.entries].map(
      ([key, { at, value }]) => [key, { at, value: walk(value, [...path, key]) }] as const,
    );
    return { ...value, entries: new Map(entries) };
  };
  return { root: walk(root, []), ...found };
}

/** True for a value with a reference to the configuration in it. */
export function holdsConfigured(value: Value): boolean {
  if (value.kind === "scalar") return false;
  if (value.kind === "list") return value.items.some(holdsConfigured);
  return referenceIn(value) !== undefined || [...value.entries.values()].some((entry) => holdsConfigured(entry.value));
}

interface Reference {
  key: string;
  at: Value["at"];
  fallback: Value | undefined;
}

/** A map that stands for a value of the configuration. */
function referenceIn({ entries }: Mapping): Reference | undefined {
  const config = entries.get("config")?.value;
  const fallback = entries.get("default")?.value;
  if (config?.kind !== "scalar" || typeof config.value !== "string") return undefined;
  return entries.size === (fallback ? 2 : 1) ? { key: config.value, at: config.at, fallback } : undefined;
}

/** The first of these that may stand at a path; else the first one, whose problem the check reports. */
function fitting(path: KeyPath, candidates: readonly unknown[]): unknown {
  const forms = formsAt(environmentFile, path);
  const fits = (candidate: unknown): boolean => forms.some((form) => (form as z.ZodType).safeParse(candidate).success);
  return candidates.find(fits) ?? candidates[0];
}

/** Values of each kind. */
function standIns(path: KeyPath): unknown[] {
  const words = formsAt(environmentFile, path).flatMap((form) => (form instanceof z.ZodEnum ? form.options : []));
  return [`configured-${path.join("-")}`, "configured@example.com", ...words, 1, 0, 0.5, false, [], {}];
}

/** True when only a stack knows a value, or one that contains it. */
export const isUnknown = (unknown: ReadonlySet<string>, path: readonly string[]): boolean =>
  unknown.size > 0 && path.some((_, at) => unknown.has(JSON.stringify(path.slice(0, at + 1))));

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { packageFolder } from "../../machine/ownPackage.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { isWord } from "./matching.ts";

/** What a sandbox may offer to facts, by name. A fact whose steps refer to something that is not there is not tried. */
export const sandboxNames = {
  organization: "ID of an organization for tests, or `new` for one that is made and deleted again",
  countries: "ID of an empty table; docs/verify.md has its fields",
  currencies: "ID of an empty table that countries are linked to",
  cities: "ID of an empty sub-table of countries",
  "countries.Name": "ID of the field Name",
  "countries.Population": "ID of the field Population",
  "countries.Flag": "ID of the file field Flag",
  person: "e-mail address of a test user, who is put into teams and taken out of others",
  "person.userID": "user ID of that person, which the platform finds by the address, or by the password",
  "person.password": "that person's password, from the variable MICROAPPS_PERSON_PASSWORD",
  invitee: "e-mail address of nobody yet, who is invited and stays so",
  app: "ID of an app of the account's",
  file: "address of a small file that the platform downloads and keeps",
  "caller.email": "address of the account",
  "caller.userID": "user ID of the account",
  "caller.password": "password of the account",
  "caller.apiKey": "microapps:apiKey, the key of the deployment",
  generate: "--generate: an app is generated, which no call removes",
  notify: "--notify: notifications go to the account's own address",
} as const;
export type SandboxName = keyof typeof sandboxNames;

/** IDs under which facts make organizations and teams, so that the next run finds what a killed one has left. */
export const chosenIDs = ["id.acme", "id.other", "id.crew", "id.support"] as const;

/** Names that need no sandbox. */
const builtIn: readonly string[] = ["mark", ...chosenIDs];

const [...endpointNames] = Object.keys(endpoints) as EndpointName[];

const step = z.strictObject({
  call: z.enum(endpointNames),
  as: z
    .union([z.enum(["caller", "person"]), z.strictObject({ authToken: z.string(), userId: z.string() })])
    .default("caller")
    .describe("Who calls: somebody of the sandbox, or whoever has this session."),
  with: z.record(z.string(), z.unknown()).default({}),
  answer: z.unknown().optional().describe("What must come back, without its envelope; matchers may stand in it."),
  refused: z.strictObject({ message: z.unknown().optional() }).optional(),
  gone: z.string().optional().describe("Refused, or answered without this property: no code is documented."),
  keep: z.record(z.string(), z.string()).default({}).describe("Values of the answer for later steps: name and path."),
});

const fact = z.strictObject({
  rule: z.string().min(1).describe("The rest of a sentence that begins with the fact's ID."),
  source: z.string().describe("A heading of the specification, or of what is documented or seen in clients beside it."),
  resources: z.array(z.string()).optional().describe("Who needs it (default: those of the file)."),
  needs: z.array(z.enum(Object.keys(sandboxNames) as [SandboxName])).default([]),
  helps: z.string().optional().describe("A setting for platforms where the fact does not hold."),
  unless: z.string().optional().describe("A habit of the profile, with its value, by which nobody needs the fact."),
  after: z.string().optional().describe("A beginning of the file."),
  steps: z.array(step).min(1),
});

const factsFile = z.strictObject({
  resources: z.array(z.string()).min(1),
  beginnings: z.record(z.string(), z.array(step)).default({}),
  facts: z.record(z.string().regex(/^\w+(?: [\w.]+)?(?:: .+)?$/), fact),
});

export type FactStep = z.output<typeof step>;

/** One thing that the interface promises, with the calls that show it. */
export interface Fact extends Omit<z.output<typeof fact>, "after"> {
  /** An endpoint, a parameter of it or a rule: `login`, `login email`, `login: headers`. */
  id: string;
  resources: string[];
}

/** The files, in the order in which their facts are tried: a fact presumes those before it. */
const files = ["sessions", "organizations", "members", "rows", "files", "apps"];

/** The facts of the package. */
export const loadFacts = (): readonly Fact[] =>
  files.flatMap((name) => {
    const file = join(packageFolder, "emulator/conformance/facts", `${name}.yaml`);
    return parseFacts(readFileSync(file, "utf8"), file);
  });

/** The facts of a file's text. */
export function parseFacts(text: string, name: string): Fact[] {
  const { beginnings, facts, resources } = factsFile.parse(parse(text), { error: () => `${name} is no file of facts` });
  return Object.entries(facts).map(([id, { after, steps, ...rest }]) => {
    const before = after === undefined ? [] : z.array(step).parse(beginnings[after]);
    return { id, ...rest, resources: rest.resources ?? resources, steps: [...before, ...steps] };
  });
}

const whole = /^\$([A-Za-z][\w.]*)$/;
const inside = /\$\{([\w.]+)\}/g;

/** A value with what its names stand for: `$name` is the value, `${name}` its text within other text. */
export function resolve(value: unknown, known: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === "string") {
    const name = isWord(value) ? undefined : whole.exec(value)?.[1];
    if (name !== undefined && known.has(name)) return known.get(name);
    return value.replaceAll(inside, (there, inner: string) => (known.has(inner) ? String(known.get(inner)) : there));
  }
  if (Array.isArray(value)) return value.map((item) => resolve(item, known));
  if (!isObject(value)) return value;
  const { $times: times, of } = value;
  if (typeof times === "number") return Array.from({ length: times }, () => resolve(of, known));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, known)]));
}

/** Names that a value refers to. */
export function namesIn(value: unknown): string[] {
  if (typeof value === "string") {
    const one = isWord(value) ? undefined : whole.exec(value)?.[1];
    return one === undefined ? [...value.matchAll(inside)].map(([, name = ""]) => name) : [one];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(namesIn) : [];
}

/** What a sandbox must have for a fact. */
export function needsOf({ needs, steps }: Fact): string[] {
  const kept = new Set([...builtIn, ...steps.flatMap(({ keep }) => Object.keys(keep))]);
  const named = namesIn(steps.map(({ keep: _, ...rest }) => rest)).filter((name) => !kept.has(name));
  const people = steps.some(({ as }) => as === "person") ? ["person.password"] : [];
  const keys = steps.some(({ call }) => endpoints[call].auth === "token+key") ? ["caller.apiKey"] : [];
  return [...new Set([...needs, ...named, ...people, ...keys])];
}

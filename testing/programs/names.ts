import type { Schema, Shape, Type } from "./schema.ts";

export type Language = "yaml" | "python" | "go";

/** A name in the package: its parameters, the type of its result, and its constants. */
export interface Member {
  takes?: Type;
  gives?: Type;
  constants?: readonly string[];
}

/** How Pulumi spells the schema's names in a language. */
export interface Names {
  members: ReadonlyMap<string, Member>;
  property: (name: string) => string;
  /** Names that every resource and output has. */
  common: RegExp;
}

const words = /[A-Z]+(?=[A-Z][a-rt-z])|[A-Z]{2,}(?:[s\d][a-z\d]*)?|[A-Z]?[a-z\d]+|[A-Z]/g;

/** `organizationID` → `organization_id`, `teamIDs` → `team_ids`. */
export const snake = (name: string): string => (name.match(words) ?? [name]).join("_").toLowerCase();

const title = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const called = ({ inputs, outputs }: { inputs: Shape; outputs: Shape }): Member => ({
  takes: { shape: inputs },
  gives: { shape: outputs },
});

function yaml({ resources, functions }: Schema): Names {
  const all = [...resources, ...functions];
  const tokens = (name: string): string[] => (name === "Provider" ? ["microapps"] : [name, `index:${name}`]);
  const members = all.flatMap(([name, of]) => tokens(name).map((token) => [token, called(of)] as const));
  return { members: new Map(members), property: (name) => name, common: /^(id|urn)$/ };
}

function python({ resources, functions, objects, enumerations }: Schema): Names {
  const members = new Map<string, Member>();
  for (const [name, of] of resources) members.set(name, called(of)).set(`${name}Args`, { takes: { shape: of.inputs } });
  for (const [name, of] of functions) {
    members.set(snake(name), called(of)).set(`${snake(name)}_output`, called(of));
  }
  for (const [name, shape] of objects) members.set(`${name}Args`, { takes: { shape } });
  for (const [name, values] of enumerations) {
    members.set(name, { constants: values.map((value) => snake(value).toUpperCase()) });
  }
  return { members, property: snake, common: /^(id|urn|apply)$/ };
}

function go({ resources, functions, objects, enumerations }: Schema): Names {
  const members = new Map<string, Member>();
  for (const [name, { inputs, outputs }] of resources) {
    members.set(`New${name}`, { gives: { shape: outputs } }).set(`${name}Args`, { takes: { shape: inputs } });
  }
  for (const [name, { inputs, outputs }] of functions) {
    // GetTeam looks a resource up in a state.
    const own = resources.has(name.slice("get".length)) ? name.replace("get", "Lookup") : title(name);
    for (const form of [own, `${own}Output`]) {
      members.set(form, { gives: { shape: outputs } }).set(`${form}Args`, { takes: { shape: inputs } });
    }
  }
  for (const [name, shape] of objects) members.set(`${name}Args`, { takes: { shape } });
  for (const name of [...objects.keys(), ...enumerations.keys()]) {
    for (const form of ["Array", "Map"]) members.set(name + form, { takes: { items: { $ref: name } } });
  }
  for (const [name, values] of enumerations) for (const value of values) members.set(name + title(value), {});
  return { members, property: title, common: /^(ID|URN|Apply.*|To.*Output)$/ };
}

export const namesIn: Record<Language, (schema: Schema) => Names> = { yaml, python, go };

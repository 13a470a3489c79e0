import { isObject, type Json } from "../../platform/contract/wire.ts";
import { jsonSchema } from "../../provider/environment/schema.ts";
import { rowsOf } from "./jsonSchema.ts";
import { code, page, table } from "./markdown.ts";

/** The keys that nearly every file has. */
const usual = [
  ...["organizations", "organizations.*.name", "organizations.*.teams", "organizations.*.teams.*.name"],
  ...["organizations.*.teams.*.members", "seeds", "seeds.*.table", "seeds.*.key", "seeds.*.source", "seeds.*.rows"],
];

/** All that an Environment file may say: what everybody uses, then a table for each key at its top. */
export function environmentPage(): string {
  const { properties = {} } = withoutVerbs(jsonSchema()) as { properties?: Record<string, Json> };
  const head = "| path | type | required | what it means |";
  const all = rowsOf({ properties });
  const sections = Object.entries(properties).flatMap(([name, property]) => [
    `## ${name}`,
    table(head, rowsOf({ properties: { [name]: property } })),
  ]);
  return page(
    "provider/environment/schema.ts",
    "# The Environment file, key by key",
    "`*` stands for a name of your own, `[]` for the items of a list. What layers and rules do: [environment.md](environment.md).",
    "In a file that extends another one each list has two verbs, `name+` and `name-`, which add to it and remove from it; `null` removes an entry of a map. Editors know all of this from `node_modules/pulumi-microapps/sdk/environment/environment.schema.json`:",
    "```yaml\n# yaml-language-server: $schema=node_modules/pulumi-microapps/sdk/environment/environment.schema.json\n```",
    "`microapps environment schema` writes one that also has the labels of your tables ([seeds](guides/seeds.md#types-and-completion)); `init` writes it.",
    "## What everybody uses",
    table(
      head,
      usual.flatMap((path) => all.filter((each) => each.startsWith(`| ${code(path)} |`))),
    ),
    `Keys at the top: ${Object.keys(properties).map(code).join(", ")}.`,
    sections,
  );
}

/** The schema without the properties that add to lists: a sentence describes those. */
function withoutVerbs(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutVerbs);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) =>
      /^(?!rows)\w+[+-]$/.test(key) ? [] : [[key, withoutVerbs(value)]],
    ),
  );
}

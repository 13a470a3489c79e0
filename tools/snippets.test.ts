import { expect, test } from "@jest/globals";
import { nameOf, packageSchema } from "./packageSchema.ts";
import { allSnippets, snippetsOf } from "./snippets.ts";

const schema = packageSchema("0.0.0");
const snippets = allSnippets(schema);

test("each resource and function has its example in TypeScript and YAML", () => {
  const names = Object.keys({ ...schema.resources, ...schema.functions }).map(nameOf);
  for (const name of names) {
    const languages = snippets.flatMap(({ of, snippet }) => (of === name ? [snippet.language] : [])).sort();
    expect({ name, languages }).toEqual({ name, languages: ["TypeScript", "YAML"] });
  }
});

test("the name of the stack within a text", () => {
  const yaml =
    "resources:\n  r:\n    type: microapps:SeedRows\n    properties: { table: r, key: Code, source: '${pulumi.stack}.csv' }\n";
  const [typescript] = snippetsOf("```yaml\n" + yaml + "```");
  expect(typescript?.code).toContain("source: `${pulumi.getStack()}.csv`");
});

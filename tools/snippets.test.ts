import { expect, test } from "@jest/globals";
import { problemsOf } from "../testing/programs/check.ts";
import { Schema } from "../testing/programs/schema.ts";
import { presentSchema } from "./packageSchema.ts";
import { allSnippets, snippetsOf } from "./snippets.ts";

const schema = new Schema();
const snippets = allSnippets(presentSchema("0.0.0"));

test("each resource and function has its example in TypeScript and YAML", () => {
  const names = [...schema.resources.keys(), ...schema.functions.keys()].filter((name) => name !== "Provider");
  for (const name of names) {
    const languages = snippets.flatMap(({ of, snippet }) => (of === name ? [snippet.language] : [])).sort();
    expect({ name, languages }).toEqual({ name, languages: ["TypeScript", "YAML"] });
  }
});

test.each(snippets.filter(({ snippet }) => snippet.mark === "yaml"))(
  "the example of $of names what the schema has",
  ({ snippet }) => {
    expect(problemsOf(snippet.code, schema)).toEqual([]);
  },
);

test("the name of the stack within a text", () => {
  const yaml =
    "resources:\n  r:\n    type: microapps:SeedRows\n    properties: { table: r, key: Code, source: '${pulumi.stack}.csv' }\n";
  const [typescript] = snippetsOf("```yaml\n" + yaml + "```", presentSchema("0.0.0"));
  expect(typescript?.code).toContain("source: `${pulumi.getStack()}.csv`");
});

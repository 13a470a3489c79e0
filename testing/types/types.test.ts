import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { functions } from "../../provider/functions/functions.ts";
import { hiddenNames } from "../../provider/pulumi/properties.ts";
import { factsOf } from "../../provider/resources/common.ts";
import { resources } from "../../provider/resources/resources.ts";
import { presentSchema } from "../../tools/packageSchema.ts";
import { allSnippets, snippetsOf } from "../../tools/snippets.ts";
import { repository } from "../harness/project.ts";
import { Editor } from "./editor.ts";

// Type tests are the functions of `*.test-d.ts`, which the build compiles. This suite holds their comments against an editor:
// messages, hovers and completions. Programs in YAML, which nothing compiles, are compiled as what they are in TypeScript.

const isSeen = (schema: unknown): boolean => {
  const { computed, internal, passing } = factsOf(schema);
  return !computed && !internal && !passing;
};
const setBySdk = ["TeamRoster.sensitive"]; // the class reads secrecy off the members
const inputs = [...resources, ...functions].flatMap(({ name, inputs }) =>
  Object.entries(inputs.shape)
    .filter(([key, schema]) => isSeen(schema) && !setBySdk.includes(`${name}.${key}`))
    .map(([key, schema]) => ({ name, key, description: factsOf(schema).description ?? "" })),
);

/** A program that names each input and the outputs of each class. */
const uses = [...resources, ...functions].map(({ name, inputs }) => {
  const isClass = /^[A-Z]/.test(name);
  const args = isClass ? `ConstructorParameters<typeof own.${name}>[1]` : `Parameters<typeof own.${name}>[0]`;
  const fields = Object.keys(inputs.shape).map((key) => `all${name}.${key};`);
  const made = isClass ? [`declare const made${name}: own.${name};`, `made${name}.id;`] : [];
  return [`declare const all${name}: ${args};`, ...fields, ...made].join("\n");
});
const everything = `import * as own from "pulumi-microapps";\nimport "pulumi-microapps/client";\n${uses.join("\n")}\n`;

const schema = presentSchema("0.0.0");
const programs = readdirSync(join(repository, "examples"))
  .filter((name) => name.split("-")[0] === "yaml")
  .flatMap((of) => {
    const text = readFileSync(join(repository, "examples", of, "Pulumi.yaml"), "utf8");
    const { resources, variables, outputs } = parse(text) as Record<string, unknown>; // a project
    const description = `\`\`\`yaml\n${stringify({ resources, variables, outputs })}\`\`\``;
    return snippetsOf(description, schema).map((snippet) => ({ of: `examples/${of}`, snippet }));
  });

/** The examples of the documentation and of the repository, by what they are of. */
const examples = [...allSnippets(schema), ...programs]
  .filter(({ snippet }) => snippet.language === "TypeScript")
  .map(({ of, snippet }, index) => ({ of, name: `example${index}.mts`, code: snippet.code }));

const editor = new Editor(
  new Map([["everything.mts", everything], ...examples.map(({ name, code }) => [name, code] as const)]),
);
const { expectations } = editor;

test.each([...new Set(expectations.map(({ file }) => file))])(
  "%s has the errors that it expects, and no other",
  (file) => {
    const problems = editor.problemsIn(file);
    const expected = expectations.filter((one) => one.file === file);
    expect(problems.map(({ line }) => line)).toEqual(expected.map(({ line }) => line + 1));
    for (const [index, { text }] of expected.entries()) expect(problems[index]?.text).toContain(text);
  },
);

const placeOf = (name: string, key: string): number => everything.indexOf(`all${name}.${key};`) + `all${name}.`.length;

test.each(inputs)("the hover of $name's $key is its description", ({ name, key, description }) => {
  expect(description).not.toBe("");
  expect(editor.hoverAt("everything.mts", placeOf(name, key)).text).toContain(description);
});

test.each(["TeamMember email", "SeedRows key", "SeedRows source"])("so is that of %s in a program", (of) => {
  const [name = "", key = ""] = of.split(" ");
  const is = new RegExp(`${name}\\([^)]* ${key}: `);
  const { name: file = "", code = "" } = examples.find((each) => is.test(each.code)) ?? {};
  const place = code.indexOf(` ${key}: `, code.indexOf(`${name}(`)) + 1;
  const { description } = inputs.find((each) => each.name === name && each.key === key) ?? { description: "none" };
  expect(editor.hoverAt(file, place).text).toContain(description);
});

test("no hover shows a type of the checker's own library", () => {
  const types = inputs.map(({ name, key }) => editor.hoverAt("everything.mts", placeOf(name, key)).type);
  expect(types.filter((type) => /Zod|\$strip|Args</.test(type))).toEqual([]);
});

test.each(resources)("an editor offers the outputs of $name, and no internal one", (resource) => {
  const made = `made${resource.name}.`;
  const offered = editor.offersAt("everything.mts", everything.indexOf(`${made}id;`) + made.length);
  const internal = hiddenNames(resource);
  const outputs = Object.entries(resource.outputs.shape).filter(([, schema]) => isSeen(schema));
  expect(offered).toEqual(expect.arrayContaining(outputs.map(([key]) => key).filter((key) => !internal.includes(key))));
  expect(offered.filter((name) => internal.includes(name))).toEqual([]);
});

test("every export of the client is described, and each property and method of it", () => {
  const seen = editor.exportsOf("dist/platform/client/index.d.ts").flatMap(({ parts }) => parts);
  expect(seen.length).toBeGreaterThan(100);
  expect(seen.filter(({ text }) => text === "").map(({ name }) => name)).toEqual([]);
});

test.each(examples)("the example of $of compiles", ({ name }) => {
  expect(editor.problemsIn(name)).toEqual([]);
});

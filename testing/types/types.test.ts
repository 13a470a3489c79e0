import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { parse, stringify } from "yaml";
import { hiddenNames } from "../../provider/pulumi/properties.ts";
import { factsOf } from "../../provider/resources/common.ts";
import { resources } from "../../provider/resources/resources.ts";
import { packageSchema } from "../../tools/packageSchema.ts";
import { allSnippets, snippetsOf } from "../../tools/snippets.ts";
import { repository } from "../harness/project.ts";

// Type tests are the functions of `*.test-d.ts`, which the build compiles; here their errors are held against the messages in
// their comments. Programs in YAML, which nothing compiles, are compiled as what they are in TypeScript.

const room = join(repository, "testing/types");
const schema = packageSchema("0.0.0");
const programs = readdirSync(join(repository, "examples"))
  .filter((name) => name.split("-")[0] === "yaml")
  .flatMap((of) => {
    const text = readFileSync(join(repository, "examples", of, "Pulumi.yaml"), "utf8");
    const { resources, variables, outputs } = parse(text) as Record<string, unknown>; // a project
    const description = `\`\`\`yaml\n${stringify({ resources, variables, outputs })}\`\`\``;
    return snippetsOf(description).map((snippet) => ({ of: `examples/${of}`, snippet }));
  });

/** The examples of the documentation and of the repository, by what they are of. */
const examples = [...allSnippets(schema), ...programs]
  .filter(({ snippet }) => snippet.language === "TypeScript")
  .map(({ of, snippet }, index) => ({ of, name: `example${index}.mts`, code: snippet.code }));

const typeTests = readdirSync(room).filter((name) => name.endsWith(".test-d.ts"));
/** Texts by path. Without its directive the compiler reports what stands below a comment. */
const texts = new Map([
  [join(room, "sdk.mts"), 'export * from "pulumi-microapps";\n'],
  [join(room, "client.mts"), 'export * from "pulumi-microapps/client";\n'],
  ...examples.map(({ name, code }) => [join(room, name), code] as const),
  ...typeTests.map((name) => {
    const text = readFileSync(join(room, name), "utf8");
    return [join(room, name), text.replaceAll("@ts-expect-error", "@ts-report-error")] as const;
  }),
]);

const options: ts.CompilerOptions = {
  ...{ target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, lib: ["lib.es2024.d.ts"], types: ["node"] },
  ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
};
const host = ts.createCompilerHost(options);
host.getCurrentDirectory = () => repository;
host.fileExists = (name) => texts.has(name) || ts.sys.fileExists(name);
host.readFile = (name) => texts.get(name) ?? ts.sys.readFile(name);
const program = ts.createProgram([...texts.keys()], options, host);

/** The compiler's messages about a file, each with its line from 1. */
const problemsIn = (name: string): { line: number; text: string }[] => {
  const source = program.getSourceFile(join(room, name));
  return ts.getPreEmitDiagnostics(program, source).map(({ file, start = 0, messageText }) => ({
    line: (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1,
    text: ts.flattenDiagnosticMessageText(messageText, "\n"),
  }));
};

test.each(typeTests)("%s has the errors that it expects, and no other", (name) => {
  const lines = (texts.get(join(room, name)) ?? "").split("\n");
  const expected = lines.flatMap((line, at) => {
    const [, text] = /^ *\/\/ @ts-report-error: (.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [{ line: at + 2, text: expect.stringContaining(text) }];
  });
  expect(expected.length).toBeGreaterThan(10);
  expect(problemsIn(name)).toEqual(expected);
});

const checker = program.getTypeChecker();
/** Exports of a module above, by name. */
function exportsOf(name: string): Map<string, ts.Symbol> {
  const source = program.getSourceFile(join(room, name));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${name} is not part of the program`);
  const all = checker.getExportsOfModule(module);
  return new Map(all.map((one) => [one.name, one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one]));
}
const propertiesOf = (symbol: ts.Symbol | undefined): ts.Symbol[] =>
  symbol ? checker.getDeclaredTypeOfSymbol(symbol).getProperties() : [];

test.each(resources)("the class of $name has its outputs, and no internal one", (resource) => {
  const found = propertiesOf(exportsOf("sdk.mts").get(resource.name)).map(({ name }) => name);
  const internal = hiddenNames(resource);
  const outputs = Object.entries(resource.outputs.shape).flatMap(([name, schema]) => {
    const { computed, internal: isInternal, passing } = factsOf(schema);
    return computed || isInternal || passing || internal.includes(name) ? [] : [name];
  });
  expect(found).toEqual(expect.arrayContaining(outputs));
  expect(found.filter((name) => internal.includes(name))).toEqual([]);
});

test("every export of the client is described, and each property and method of it", () => {
  const isOurs = ({ name, declarations = [] }: ts.Symbol): boolean =>
    !name.includes("#") && declarations.some((one) => one.getSourceFile().fileName.includes("/dist/platform/"));
  const hasParts = ({ flags }: ts.Symbol): boolean => (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) !== 0;
  const seen = [...exportsOf("client.mts").values()].flatMap((symbol) => {
    const parts = hasParts(symbol) ? propertiesOf(symbol).filter(isOurs) : [];
    return [symbol, ...parts].map((one) => ({ name: `${symbol.name} ${one.name}`, one }));
  });
  expect(seen.length).toBeGreaterThan(100);
  const bare = seen.filter(({ one }) => one.getDocumentationComment(checker).length === 0);
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test.each(examples)("the example of $of compiles", ({ name }) => {
  expect(problemsIn(name)).toEqual([]);
});

import { beforeAll, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { functions } from "../../provider/functions/functions.ts";
import { hiddenNames } from "../../provider/pulumi/hiddenNames.ts";
import { factsOf } from "../../provider/resources/model/resource.ts";
import { resources } from "../../provider/resources/resources.ts";
import { repository } from "../harness/project.ts";

// Asks TypeScript's language service, as an editor does, about a program that uses every class and function.

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

let service: ts.LanguageService;
let text = "";
const file = join(repository, "testing/hovers.mts");

beforeAll(() => {
  const uses = [...resources, ...functions].map(({ name, inputs }) => {
    const isClass = /^[A-Z]/.test(name);
    const args = isClass ? `ConstructorParameters<typeof own.${name}>[1]` : `Parameters<typeof own.${name}>[0]`;
    const fields = Object.keys(inputs.shape).map((key) => `all${name}.${key};`);
    const made = isClass ? [`declare const made${name}: own.${name};`, `made${name}.id;`] : [];
    return [`declare const all${name}: ${args};`, ...fields, ...made].join("\n");
  });
  text = `import * as own from "pulumi-microapps";\nimport "pulumi-microapps/client";\n${uses.join("\n")}\n`;
  const options: ts.CompilerOptions = {
    ...{ target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, lib: ["lib.es2024.d.ts"], types: ["node"] },
    ...{ strict: true, noEmit: true, skipLibCheck: true },
  };
  service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const content = name === file ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => repository,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: (name) => (name === file ? text : readFileSync(name, "utf8")),
    readDirectory: (...query) => ts.sys.readDirectory(...query),
    directoryExists: (name) => ts.sys.directoryExists(name),
    getDirectories: (name) => ts.sys.getDirectories(name),
  });
});

/** The text that an editor shows over the property of an argument. */
function hoverOf(name: string, key: string): { type: string; text: string } {
  const place = text.indexOf(`all${name}.${key};`) + `all${name}.`.length;
  const info = service.getQuickInfoAtPosition(file, place);
  return {
    type: ts.displayPartsToString(info?.displayParts),
    text: ts.displayPartsToString(info?.documentation),
  };
}

test.each(inputs)("the hover of $name's $key is its description", ({ name, key, description }) => {
  expect(description).not.toBe("");
  expect(hoverOf(name, key).text).toContain(description);
});

test("no hover shows a type of the checker's own library", () => {
  const types = inputs.map(({ name, key }) => hoverOf(name, key).type);
  expect(types.filter((type) => /Zod|\$strip|Args</.test(type))).toEqual([]);
});

test.each(resources)("an editor offers the outputs of $name, and no internal one", (resource) => {
  const made = `made${resource.name}.`;
  const place = text.indexOf(`${made}id;`) + made.length;
  const offered = service.getCompletionsAtPosition(file, place, {})?.entries.map(({ name }) => name) ?? [];
  const internal = hiddenNames(resource);
  const outputs = Object.entries(resource.outputs.shape).filter(([, schema]) => isSeen(schema));
  expect(offered).toEqual(expect.arrayContaining(outputs.map(([key]) => key).filter((key) => !internal.includes(key))));
  expect(offered.filter((name) => internal.includes(name))).toEqual([]);
});

test("every export of the client is described, and each property and method of it", () => {
  const program = service.getProgram();
  const source = program?.getSourceFile(join(repository, "dist/provider/client/index.d.ts"));
  const checker = program?.getTypeChecker();
  const room = source && checker?.getSymbolAtLocation(source);
  if (!room || !checker) throw new Error("the client has no types");
  const isOurs = ({ declarations = [] }: ts.Symbol) =>
    declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(join(repository, "dist")));
  const seen = checker.getExportsOfModule(room).flatMap((symbol) => {
    const named = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const hasParts = (named.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) !== 0;
    const parts = hasParts ? checker.getDeclaredTypeOfSymbol(named).getProperties().filter(isOurs) : [];
    return [named, ...parts.filter(({ name }) => !name.includes("#"))].map((part) => ({
      name: part === named ? named.name : `${named.name}.${part.name}`,
      text: ts.displayPartsToString(part.getDocumentationComment(checker)),
    }));
  });
  expect(seen.length).toBeGreaterThan(100);
  expect(seen.filter(({ text }) => text === "").map(({ name }) => name)).toEqual([]);
});

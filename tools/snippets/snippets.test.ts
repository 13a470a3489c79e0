import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { problemsOf } from "../../testing/programs/check.ts";
import { found } from "../../testing/programs/cli.ts";
import type { Language } from "../../testing/programs/names.ts";
import { Schema } from "../../testing/programs/schema.ts";
import { presentSchema } from "../packageSchema.ts";
import { allSnippets, snippetsOf } from "./snippets.ts";

const schema = new Schema();
const snippets = allSnippets(presentSchema("0.0.0"));
const written = (mark: string) => snippets.filter(({ snippet }) => snippet.mark === mark);

test("each resource and function has its example in four languages", () => {
  const names = [...schema.resources.keys(), ...schema.functions.keys()].filter((name) => name !== "Provider");
  const languages = ["Go", "Python", "TypeScript", "YAML"];
  for (const name of names) {
    expect({ name, in: snippets.flatMap(({ of, snippet }) => (of === name ? [snippet.language] : [])).sort() }).toEqual(
      { name, in: languages },
    );
  }
});

test("the name of the stack may stand in a text", () => {
  const yaml =
    "resources:\n  r:\n    type: microapps:SeedRows\n    properties: { table: r, key: Code, source: '${pulumi.stack}.csv' }\n";
  const of = snippetsOf("```yaml\n" + yaml + "```", presentSchema("0.0.0"));
  const expected: Record<string, string> = {
    ts: "source: `${pulumi.getStack()}.csv`",
    python: 'source=f"{pulumi.get_stack()}.csv"',
    go: 'Source: pulumi.String(ctx.Stack() + ".csv")',
    yaml: "source: '${pulumi.stack}.csv'",
  };
  for (const { mark, code } of of) expect(code).toContain(expected[mark]);
  for (const language of checked) {
    expect(problemsOf(language, of.find(({ mark }) => mark === language)?.code ?? "", schema)).toEqual([]);
  }
});

const checked: Language[] = ["yaml", "python", "go"];
describe.each(checked)("in %s", (language) => {
  test.each(written(language))("the example of $of names what the schema has", ({ snippet }) => {
    expect(problemsOf(language, snippet.code, schema)).toEqual([]);
  });
});

describe("where the language is installed", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "microapps-"));
    for (const { of, snippet } of [...written("go"), ...written("python")]) {
      writeFileSync(join(folder, `${of}.${snippet.mark === "go" ? "go" : "py"}`), `${snippet.code}\n`);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const parsers: [program: string, ...args: string[]][] = [
    ["gofmt", "-l"], // names the files that it would write otherwise
    ["python3", "-c", "import ast, sys; [ast.parse(open(file).read()) for file in sys.argv[1:]]"],
  ];
  test.each(parsers)("%s has nothing to say", (program, ...args) => {
    const files = snippets.flatMap(({ of, snippet }) => {
      const ending = { gofmt: "go", python3: "python" }[program];
      return snippet.mark === ending ? [join(folder, `${of}.${ending === "go" ? "go" : "py"}`)] : [];
    });
    expect(files.length).toBeGreaterThan(10);
    if (found(program) !== undefined) expect(execFileSync(program, [...args, ...files], { encoding: "utf8" })).toBe("");
  });
});

import type { ExampleDeclaration, ExampleEntry, Example, ExampleValue } from "./example.ts";
import { writeInBrackets, indentBy, joinText, pascal, quoteLiteral } from "./layout.ts";

export function java({ resources, invokes, outputs }: Example): string {
  const body = [
    ...resources.map(resource),
    ...invokes.map(
      ({ name, type, entries }) => `var ${name} = MicroappsFunctions.${type}(${built(pascal(type), entries)});`,
    ),
    ...outputs.map(([name, value]) => `ctx.export(${quoteLiteral(name)}, ${expression(value)});`),
  ].join("\n");
  return [
    ...imports(body).map((name) => `import ${name};`),
    "",
    "public class App {",
    "    public static void main(String[] args) {",
    "        Pulumi.run(ctx -> {",
    indentBy(body, "            "),
    "        });",
    "    }",
    "}",
  ].join("\n");
}

/** The classes that a program names, by where they are. */
function imports(body: string): string[] {
  const own = "com.pulumi.microapps";
  const used = (pattern: RegExp, folder: string): string[] =>
    [...body.matchAll(pattern)].map(([, name = ""]) => `${folder}.${name}`);
  const made = new Set([...body.matchAll(/new (\w+)\(/g)].map(([, name = ""]) => name));
  const args = [...body.matchAll(/\b(\w+)Args\.builder/g)].map(([, name = ""]) =>
    made.has(name) ? `${own}.${name}Args` : `${own}.inputs.${name}Args`,
  );
  return [
    ...new Set([
      "com.pulumi.Pulumi",
      ...used(/\b(Output)\.all/g, "com.pulumi.core"),
      ...used(/\b(List|Map)\.of/g, "java.util"),
      ...used(/\b(MicroappsFunctions)\./g, own),
      ...used(/new (\w+)\(/g, own),
      ...used(/\b([A-Z]\w+)\.[A-Z]/g, `${own}.enums`),
      ...args,
    ]),
  ].sort();
}

const resource = ({ name, type, entries, isUsed }: ExampleDeclaration): string =>
  `${isUsed ? `var ${name} = ` : ""}new ${type}(${quoteLiteral(name)}, ${built(type, entries)});`;

/** The arguments of a resource, a function or an object, by their builder. */
const built = (type: string, entries: readonly ExampleEntry[]): string =>
  [
    `${type}Args.builder()`,
    ...entries.map(([name, value]) => indentBy(`.${name}(${expression(value)})`, "    ")),
    "    .build()",
  ].join("\n");

function expression(value: ExampleValue): string {
  switch (value.kind) {
    case "scalar":
      return quoteLiteral(value.value);
    case "stackName":
      return joinText(value, "ctx.stackName()");
    case "constant":
      return `${value.enumeration}.${pascal(value.value)}`;
    case "reference":
      return value.isResult
        ? `${value.name}.applyValue(answer -> answer.${value.property}())`
        : `${value.name}.${value.property}()`;
    case "list": {
      // Outputs are joined into one output, plain values make a list.
      const isOutput = value.items.some(({ kind }) => kind === "reference");
      return writeInBrackets(isOutput ? "Output.all(" : "List.of(", value.items.map(expression), ")", {
        trailing: false,
      });
    }
    case "map": {
      const entries = value.entries.map(([key, entry]) => [quoteLiteral(key), expression(entry)]);
      const [single = []] = entries.length === 1 ? entries : [];
      return single.length > 0
        ? `Map.of(${single.join(", ")})`
        : writeInBrackets(
            "Map.ofEntries(",
            entries.map((entry) => `Map.entry(${entry.join(", ")})`),
            ")",
            { trailing: false },
          );
    }
    case "object":
      return built(value.type, value.entries);
  }
}

import { openapi, schemaOf } from "../emulator/http/openapi.ts";
import type { Endpoint } from "../provider/contract/endpoint.ts";
import { endpoints } from "../provider/contract/endpoints.ts";
import { errorCodes } from "../provider/contract/errors.ts";
import { isObject, type Json } from "../provider/contract/wire.ts";

/** The documents that are made of the contract, by file name. */
export const documents = (): Record<string, string> => ({
  "openapi.json": `${JSON.stringify(openapi("https://platform.example.com"), undefined, 2)}\n`,
  "endpoints.md": endpointsPage(),
});

const authentication = {
  none: "none",
  token: "`X-Auth-Token` and `X-User-Id`",
  "token+key": "`X-Auth-Token`, `X-User-Id` and `x-api-key`",
};
const effects = {
  read: "changes nothing",
  idempotent: "may be repeated with the same end",
  create: "makes something new each time",
};

function endpointsPage(): string {
  const entries: [string, Endpoint][] = Object.entries(endpoints);
  const contents = entries.map(
    ([name, { method, path, summary }]) => `| [${name}](#${name.toLowerCase()}) | \`${method} ${path}\` | ${summary} |`,
  );
  const codes = Object.entries(errorCodes).map(([code, { status, hint }]) => `| ${code} | ${status ?? ""} | ${hint} |`);
  return [
    "<!-- Made of provider/contract by `make docs`: change that, not this. -->",
    "# Endpoints",
    "The platform's interface as client and emulator speak it. Requests are JSON; the typed client has a method of each name, and `microapps api <name> '<json>'` makes one call. `openapi.json` beside this page says the same for machines.",
    table("| endpoint | request | what it does |", contents),
    ...entries.flatMap(([name, endpoint]) => section(name, endpoint)),
    "## Errors",
    "Codes of a failed call. The HTTP statuses are assumed; a code without one is the client's own.",
    table("| code | status | what to do |", codes),
  ]
    .join("\n\n")
    .concat("\n");
}

function section(name: string, { summary, method, path, auth, effect, request, answer, errors }: Endpoint): string[] {
  const parameters = rowsOf(schemaOf(request, "input"));
  const parts = rowsOf(schemaOf(answer, "input"));
  return [
    `## ${name}`,
    summary,
    `\`${method} ${path}\`. Authentication: ${authentication[auth]}. It ${effects[effect]}.`,
    ...(parameters.length === 0 ? [] : [table("| parameter | type | required | |", parameters)]),
    ...(parts.length === 0
      ? ["The answer says no more than that it was done."]
      : [table("| answer | type | always | |", parts)]),
    ...(errors.length === 0 ? [] : [`Fails with ${errors.map((code) => `\`${code}\``).join(", ")}.`]),
  ];
}

function table(head: string, rows: string[]): string {
  const columns = head.split("|").length - 2;
  return [head, `|${" --- |".repeat(columns)}`, ...rows].join("\n");
}

/** The properties of an object, those inside of them below, as rows of a table. */
function rowsOf(schema: Json, prefix = ""): string[] {
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).flatMap(([name, found]) => {
    const property = isObject(found) ? found : {};
    const items = isObject(property["items"]) ? property["items"] : undefined;
    const path = `${prefix}${name}`;
    const description = typeof property["description"] === "string" ? property["description"] : "";
    const row = `| \`${path}\` | ${typeOf(property)} | ${required.includes(name) ? "yes" : ""} | ${escaped(description)} |`;
    const inner = items ? rowsOf(items, `${path}[].`) : rowsOf(property, `${path}.`);
    return [row, ...inner];
  });
}

const escaped = (text: string): string => text.replace(/[|<]/g, (sign) => `\\${sign}`);

function typeOf(schema: Json): string {
  const { type, enum: values, const: only, items } = schema;
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(" or ");
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (Array.isArray(type)) return type.join(" or ");
  if (Array.isArray(options)) {
    return [...new Set(options.map((option) => (isObject(option) ? typeOf(option) : "")))].filter(Boolean).join(" or ");
  }
  if (type === "array") return isObject(items) && typeOf(items) !== "any" ? `list of ${typeOf(items)}` : "list";
  return typeof type === "string" ? type : "any";
}

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Endpoint } from "../provider/contract/endpoint.ts";
import { endpoints } from "../provider/contract/endpoints.ts";
import { isObject } from "../provider/contract/wire.ts";

// `make docs` writes methods.ts, so that editors show the contract's descriptions; with --check it only compares.
const file = join(import.meta.dirname, "../../provider/client/methods.ts");

const effects = {
  read: "Changes nothing; repeated after failures.",
  idempotent: "Repeated after failures: the end is the same.",
  create: "Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.",
};

function methods(): string {
  const entries: [string, Endpoint][] = Object.entries(endpoints);
  return [
    "// Made of provider/contract by `make docs`: change that, not this.",
    'import type { AnswerOf, RequestOf } from "../contract/endpoints.ts";',
    'import type { CallOptions } from "./http/call.ts";',
    "",
    "/**",
    " * One method for each endpoint of the contract, by its name. All of them fail with an `ApiError`, whose `code` gives",
    " * the reason.",
    " */",
    "export interface Methods {",
    ...entries.flatMap(([name, endpoint]) => method(name, endpoint)),
    "}",
    "",
  ].join("\n");
}

function method(name: string, { summary, method: verb, path, effect, request, answer, errors }: Endpoint): string[] {
  const lines = [
    summary,
    effects[effect],
    "",
    ...parts("@param request", request, "input"),
    ...parts("@returns", answer, "output"),
    ...(errors.length > 0 ? [`@throws ApiError ${errors.map((code) => `\`${code}\``).join(", ")}`] : []),
    `@see \`${verb} ${path}\`, docs/endpoints.md#${name.toLowerCase()}`,
  ];
  const comment = lines.map((line) => `   *${line === "" ? "" : ` ${line.replaceAll("*/", "* /")}`}`);
  const signature = `(request: RequestOf<"${name}">, options?: CallOptions) => Promise<AnswerOf<"${name}">>;`;
  return ["  /**", ...comment, "   */", `  ${name}: ${signature}`];
}

/** The properties at the top, each with its description. */
function parts(tag: string, schema: z.ZodType, io: "input" | "output"): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  const named = Object.entries(properties).flatMap(([name, property]) => {
    if (isObject(property) && "not" in property) return []; // what is refused by name
    const comment =
      isObject(property) && typeof property["description"] === "string" ? `: ${property["description"]}` : "";
    return `\`${name}\`${required.includes(name) ? "" : " (optional)"}${comment.replace(/\.$/, "")}`;
  });
  return named.length > 0 ? [`${tag} ${named.join("; ")}.`] : [];
}

const text = methods();
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  process.stderr.write("provider/client/methods.ts is stale: run make docs\n");
  process.exitCode = 1;
}

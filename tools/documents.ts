import { format } from "oxfmt";
import type { z } from "zod";
import { program } from "../cli/commands/program.ts";
import { masksJsonSchema } from "../cli/dump/masks.ts";
import { openapi } from "../emulator/http/openapi.ts";
import { readOwnPackage } from "../machine/ownPackage.ts";
import { type Endpoint, endpoints } from "../platform/contract/endpoints.ts";
import { jsonSchema } from "../provider/environment/schema.ts";
import { fieldsOf, packageSchema } from "./packageSchema.ts";
import { commandsPage } from "./pages/commands.ts";
import { endpointsPage, errorsPage } from "./pages/endpoints.ts";
import { environmentPage } from "./pages/environment.ts";
import { packagePages } from "./pages/package.ts";
import { indexPage, installationPage } from "./pages/registry.ts";
import { writeSdkTypes } from "./sdkTypes.ts";

/** The files that are made of definitions, by path from docs. */
export async function documents(): Promise<Record<string, string>> {
  const schema = packageSchema(readOwnPackage().version);
  return {
    "openapi.json": `${JSON.stringify(openapi("https://platform.example.com"), undefined, 2)}\n`,
    "../plugin/schema.json": `${JSON.stringify(schema, undefined, 2)}\n`,
    "../sdk/environment/environment.schema.json": `${JSON.stringify(jsonSchema(), undefined, 2)}\n`,
    "masks.schema.json": `${JSON.stringify(masksJsonSchema(), undefined, 2)}\n`,
    "endpoints.md": endpointsPage(),
    "errors.md": errorsPage(),
    "environment-file.md": environmentPage(),
    "commands.md": commandsPage(program),
    "_index.md": indexPage(schema),
    "installation-configuration.md": installationPage(schema),
    ...packagePages(schema),
    "../platform/client/methods.ts": methods(),
    "../sdk/args.ts": (await format("args.ts", writeSdkTypes(), { printWidth: 120 })).code,
  };
}

/** Folders below docs that hold nothing else. */
export const ownFolders = ["resources", "functions"];

const effects = {
  read: "Changes nothing; repeated after failures.",
  idempotent: "Repeated after failures: the end is the same.",
  create: "Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.",
};

/** The text of platform/client/methods.ts, whose comments editors show. */
function methods(): string {
  const entries: [string, Endpoint][] = Object.entries(endpoints);
  return [
    "// Made of platform/contract by `make docs`: change that, not this.",
    'import type { AnswerOf, RequestOf } from "../contract/endpoints.ts";',
    'import type { CallOptions } from "./http/call.ts";',
    "",
    "/**",
    " * One method for each endpoint of the contract, by its name, as docs/endpoints.md has them. All of them fail with an",
    " * `ApiError`, whose `code` gives the reason.",
    " */",
    "export interface Methods {",
    ...entries.flatMap(([name, endpoint]) => method(name, endpoint)),
    "}",
    "",
  ].join("\n");
}

function method(name: string, { summary, method: verb, path, effect, request, answer, errors }: Endpoint): string[] {
  const lines = [
    `\`${verb} ${path}\`: ${summary} ${effects[effect]}`,
    ...parts("@param request", request, "input"),
    ...parts("@returns", answer, "output"),
    ...(errors.length > 0 ? [`@throws ApiError ${errors.map((code) => `\`${code}\``).join(", ")}`] : []),
  ];
  const comment = lines.map((line) => `   *${line === "" ? "" : ` ${line.replaceAll("*/", "* /")}`}`);
  const signature = `(request: RequestOf<"${name}">, options?: CallOptions) => Promise<AnswerOf<"${name}">>;`;
  return ["  /**", ...comment, "   */", `  ${name}: ${signature}`];
}

/** The properties at the top, each with its description. */
function parts(tag: string, schema: z.ZodType, io: "input" | "output"): string[] {
  const named = fieldsOf(schema, io)
    .filter(({ schema }) => !("not" in schema)) // what is refused by name
    .map(({ key, schema: { description }, isRequired }) => {
      const comment = description === undefined ? "" : `: ${description}`;
      return `\`${key}\`${isRequired ? "" : " (optional)"}${comment.replace(/\.$/, "")}`;
    });
  return named.length > 0 ? [`${tag} ${named.join("; ")}.`] : [];
}

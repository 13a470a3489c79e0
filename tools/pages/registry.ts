import { readFileSync } from "node:fs";
import { join } from "node:path";
import { variableOf } from "../../provider/pulumi/configuration.ts";
import { inlined, nameOf, type PackageSchema } from "../packageSchema.ts";
import { snippetsOf } from "../snippets.ts";
import { typeOf } from "./jsonSchema.ts";
import { code, escapeCell, fenceBlock, registryPage, row, table } from "./markdown.ts";
import { functionPath, resourcePath, summaryOf } from "./package.ts";

/** The first page of the package in Pulumi's registry. */
export function indexPage(schema: PackageSchema): string {
  const listed = (specs: Record<string, { description: string }>, path: (name: string) => string): string[] =>
    Object.entries(specs).map(([token, { description }]) => {
      const name = nameOf(token);
      return row(`[${name}](${path(name)})`, escapeCell(summaryOf(description)));
    });
  const first = Object.values(schema.resources)
    .map(({ description }) => snippetsOf(description))
    .find((snippets) => snippets.length > 0);
  const example = (first ?? []).filter(({ mark }) => mark === "ts" || mark === "yaml");
  return registryPage(
    "Microapps",
    "Organizations, teams, members, seed rows and generated apps of a microapp platform, kept as declared.",
    "The Microapps provider makes a platform of data tables match what a program, or one YAML file, declares. It shows first what will change, notices what was changed by hand, and repairs it.",
    "## Example",
    example.flatMap(({ language, mark, code }) => [`${language}:`, fenceBlock(mark, code)]),
    "[Start](guides/start.md) brings up a first one on a platform on your machine; [installation and configuration](installation-configuration.md) says what to install for each language.",
    "## Resources",
    table("| resource | what it is |", listed(schema.resources, resourcePath)),
    "## Functions",
    table("| function | what it answers |", listed(schema.functions, functionPath)),
    "## More",
    "[The Environment file, key by key](environment-file.md) · [command line](commands.md) · [exit statuses](exit-statuses.md) · [error codes](errors.md) · [endpoints](endpoints.md) · [in pipelines](report.md) · [the Pulumi CLI beside the embedded engine](pulumi.md)",
  );
}

const words = readFileSync(join(import.meta.dirname, "../../../tools/pages/installation.md"), "utf8").trimEnd();

/** How to install the package for each language, and all of its configuration. */
export function installationPage(schema: PackageSchema): string {
  const settings = Object.entries(schema.config.variables).map(([name, property]) => {
    const secret = property.secret ? " **Secret.**" : "";
    const variable = code(variableOf(name));
    return row(
      code(`microapps:${name}`),
      variable,
      typeOf(inlined(property, schema)),
      escapeCell(property.description ?? "") + secret,
    );
  });
  return registryPage(
    "Microapps: installation and configuration",
    "How to install the Microapps provider for each language, and how to configure it.",
    words.replace("{{settings}}", () => table("| key | variable | type | what it is |", settings)),
  );
}

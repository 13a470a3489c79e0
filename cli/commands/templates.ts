import mustache from "mustache";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../machine/ownPackage.ts";

/** What stands in for `<% name %>` and decides about `<%#name%>` in templates. */
type Values = Readonly<Record<string, unknown>>;

const folder = join(packageFolder, "cli/commands");

/** Templates have delimiters of their own: pipelines have braces with another meaning. */
const form = { tags: ["<%", "%>"] as [string, string], escape: String };

/**
 * The files that the templates in a folder make, by name.
 * @param parts folders of the templates that these insert
 */
export function filesFrom(name: string, values: Values, ...parts: readonly string[]): Record<string, string> {
  const inserted = new Map(parts.flatMap(templatesIn));
  const rendered = templatesIn(name).map(([file, template]) => [
    file,
    mustache.render(template, values, (part) => inserted.get(part), form),
  ]);
  return Object.fromEntries(rendered) as Record<string, string>; // pairs of texts
}

/** Templates by the name of what they make. */
function templatesIn(name: string): [name: string, template: string][] {
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith(".mustache"));
  return files.map((file) => [file.replace(/\.mustache$/, ""), readFileSync(join(folder, name, file), "utf8")]);
}

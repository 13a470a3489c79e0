import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { stringify } from "yaml";
import type { DumpedOrganization } from "./people.ts";
import type { Seed } from "./seeds.ts";

const schema = "node_modules/pulumi-microapps/sdk/environment/environment.schema.json";

/** The line by which an editor finds the schema of the file, from where it lies: the nearest folder that has the package. */
function head(folder: string): string {
  const above = (from: string): string | undefined => {
    if (existsSync(join(from, schema))) return from;
    return dirname(from) === from ? undefined : above(dirname(from));
  };
  const place = relative(folder, above(folder) ?? folder).replaceAll("\\", "/");
  return `# yaml-language-server: $schema=${place === "" ? "" : `${place}/`}${schema}\n`;
}

/** The environment file of what was dumped into a folder. */
export function environmentText(
  organizations: readonly DumpedOrganization[],
  seeds: readonly Seed[],
  folder: string,
): string {
  const described = ({ name, description }: { name: string; description?: string | null | undefined }) => ({
    name,
    ...(description ? { description } : {}),
  });
  const companies = organizations.map((one) => {
    const teams = one.teams.map((team) => {
      const members = team.members.map(({ email, role }) => [email, role ?? {}] as const);
      return [team.key, { ...described(team), ...named("members", members) }] as const;
    });
    return [one.key, { ...described(one), ...named("teams", teams) }] as const;
  });
  const tables = seeds.map(({ rows, declaration }) => [rows.option.seed, declaration] as const);
  return (
    head(folder) + stringify({ ...named("organizations", companies), ...named("seeds", tables) }, { lineWidth: 0 })
  );
}

/** A map under a name, or nothing when it would be empty. */
const named = (name: string, entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  entries.length === 0 ? {} : { [name]: Object.fromEntries(entries) };

import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { stringify } from "yaml";
import type { Declaration } from "../../provider/environment/declaration.ts";
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
  const tables = Object.fromEntries(seeds.map(({ rows, declaration }) => [rows.option.seed, declaration]));
  const content = {
    ...unlessEmpty("organizations", declareOrganizations(organizations)),
    ...unlessEmpty("seeds", tables),
  };
  return head(folder) + stringify(content, { lineWidth: 0 });
}

/** The organizations as the file declares them. */
export const declareOrganizations = (organizations: readonly DumpedOrganization[]): Declaration["organizations"] =>
  Object.fromEntries(
    organizations.map((one) => {
      const teams = one.teams.map((team) => {
        const members = team.members.map(({ email, role }) => [email, role ?? {}] as const);
        return [team.key, { ...described(team), ...unlessEmpty("members", Object.fromEntries(members)) }] as const;
      });
      return [one.key, { ...described(one), ...unlessEmpty("teams", Object.fromEntries(teams)) }] as const;
    }),
  );

const described = ({ name, description }: { name: string; description?: string | null | undefined }) => ({
  name,
  ...(description ? { description } : {}),
});

/** A map under a name, or nothing when it would be empty. */
const unlessEmpty = <Name extends string, Entries extends object>(
  name: Name,
  entries: Entries,
): Partial<Record<Name, Entries>> =>
  Object.keys(entries).length === 0 ? {} : ({ [name]: entries } as Record<Name, Entries>); // of that name

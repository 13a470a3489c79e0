import { stringify } from "yaml";
import type { DumpedOrganization } from "./people.ts";
import type { Seed } from "./seeds.ts";

const head = "# yaml-language-server: $schema=node_modules/pulumi-microapps/sdk/environment/environment.schema.json\n";

/** The environment file of what was dumped. */
export function environmentText(organizations: readonly DumpedOrganization[], seeds: readonly Seed[]): string {
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
  return head + stringify({ ...named("organizations", companies), ...named("seeds", tables) }, { lineWidth: 0 });
}

/** A map under a name, or nothing when it would be empty. */
const named = (name: string, entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  entries.length === 0 ? {} : { [name]: Object.fromEntries(entries) };

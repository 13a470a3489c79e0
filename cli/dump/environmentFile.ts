import { stringify } from "yaml";
import type { Declaration } from "../../provider/environment/declaration.ts";
import { nameOf } from "../../provider/resources/members/rosterLists.ts";
import { modeline, packageSchemaFrom } from "../tableSchema/outputs.ts";
import type { DumpedOrganization } from "./people.ts";
import { isOfLinks, type DumpedSeed, type DumpedDeclaration } from "./seeds.ts";

/** The environment file of what was dumped into a folder. A masked one has an emulated platform, and no ID of the other one. */
export function environmentText(
  organizations: readonly DumpedOrganization[],
  seeds: readonly DumpedSeed[],
  folder: string,
  isMasked = false,
): string {
  const tables = Object.fromEntries(
    seeds.map(({ name, rows, declaration }) => [
      name,
      isMasked ? withoutIDs(declaration, rows.option.seed, seeds) : declaration,
    ]),
  );
  const content = {
    ...unlessEmpty("organizations", declareOrganizations(organizations)),
    ...unlessEmpty("seeds", tables),
    ...(isMasked ? { platform: platformOf(seeds.filter((seed) => !isOfLinks(seed))) } : {}),
  };
  return modeline(packageSchemaFrom(folder)) + stringify(content, { lineWidth: 0 });
}

/** The organizations as the file declares them. */
export const declareOrganizations = (organizations: readonly DumpedOrganization[]): Declaration["organizations"] =>
  Object.fromEntries(
    organizations.map((one) => {
      const teams = one.teams.map((team) => {
        const members = team.members.map((member) => [nameOf(member), member.role ?? {}] as const);
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

/** A declaration whose tables are called as their seeds are. */
function withoutIDs(declaration: DumpedDeclaration, table: string, seeds: readonly DumpedSeed[]): DumpedDeclaration {
  const named = <Rows extends object>(rows: Rows): Rows => {
    const seed = "table" in rows ? seeds.find((each) => each.rows.option.table === rows.table) : undefined;
    return seed ? { ...rows, table: seed.rows.option.seed } : rows;
  };
  const { references, parent } = declaration;
  return {
    ...declaration,
    table,
    ...(references
      ? { references: Object.fromEntries(Object.entries(references).map(([label, rows]) => [label, named(rows)])) }
      : {}),
    ...(parent ? { parent: named(parent) } : {}),
  };
}

/** An emulated platform with the tables of the seeds. */
function platformOf(seeds: readonly DumpedSeed[]): object {
  const typesOf = ({ rows, references }: DumpedSeed) =>
    rows.columns.labels.filter((label) => !references.has(label)).map((label) => rows.columns.typeOf(label));
  const isStrict = !seeds.some((seed) => typesOf(seed).some((type) => type === "boolean" || type === "json"));
  const tables = seeds.map(({ rows, references, parent }) => {
    const fields = rows.columns.labels.map((label): [string, unknown] => {
      const target = references.get(label);
      if (target) {
        const { seed, key } = target.option;
        return [label, { type: "linked", table: seed, field: key[0] }];
      }
      return [label, rows.columns.typeOf(label) === "number" ? "number" : "text"];
    });
    return [
      rows.option.seed,
      { ...(parent ? { parent: parent.rows.option.seed } : {}), fields: Object.fromEntries(fields) },
    ] as const;
  });
  return { tables: Object.fromEntries(tables), ...(isStrict ? {} : { settings: { strict: false } }) };
}

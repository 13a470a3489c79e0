import { stringify } from "yaml";
import { isNotFound } from "../../provider/contract/errors.ts";
import { declarable } from "../../provider/contract/values.ts";
import { formatCount } from "../../provider/messages/text.ts";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { tableRowsOf } from "../../provider/resources/rows/live/subTables/undeclared.ts";
import type { DumpRequest } from "./dump.ts";
import { DumpError } from "./dumpError.ts";
import { listGaps } from "./dumpMask.ts";
import type { MasksFile } from "./mask/masksFile.ts";
import { MaskRules } from "./mask/rules.ts";
import { TableMask, type MaskedLabel } from "./mask/tableMask.ts";
import { noteParents, toUndeclared } from "./subTables.ts";

/** Fate of a label by the rules. */
interface CheckedLabel {
  table: string;
  label: string;
  /** Undefined without a rule; links follow the rows that they lead to. */
  rule: string | undefined;
  values: number;
  unmasked: boolean;
  /** Kinds that its values look like, of labels without a rule. */
  looksLike: string[];
}

/** Effects of a masks file. */
export interface MasksCheck {
  labels: CheckedLabel[];
  /** Reasons for which a dump would stop. */
  problems: string[];
  /** Rules to write for the labels that have none, as YAML. */
  missing: string;
}

/** Reads the tables, and finds out what the rules of a masks file would leave unmasked. Writes nothing and needs no secret. */
export async function checkMasks(
  context: ResourceContext,
  file: MasksFile,
  { tables, organizations, teams }: Pick<DumpRequest, "tables" | "organizations" | "teams">,
): Promise<MasksCheck> {
  if (tables.length + organizations.length + teams.length === 0)
    throw new DumpError(
      "say what to check: --table <id>:<key label>, --team <id>; or --stack <name>, whose state knows",
    );
  const rules = new MaskRules(file, tables);
  const masks: TableMask[] = [];
  noteParents(context, tables);
  for (const option of tables) {
    const mask = new TableMask(option, rules, undefined);
    masks.push(mask);
    let count = 0;
    try {
      for await (const page of tableRowsOf(context, toUndeclared(option, tables))) {
        for (const row of page) mask.apply(declarable(row));
        count += page.length;
        context.report.status(`${option.table}: ${formatCount(count, "row")} read`);
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new DumpError(`there is no table ${option.table} on the platform: name it by its ID`);
    }
  }
  const has = { organizations: organizations.length + teams.length > 0, teams: teams.length > 0 };
  const unruled = (["organizations", "teams"] as const).flatMap((what) =>
    has[what] && !file[what] ? [`${what} have no rule: write ${what}: {name: keep} or ${what}: {name: name}`] : [],
  );
  const labels = masks.flatMap((mask) => mask.labels.map((one) => checkLabel(mask.table, one, file)));
  return {
    labels,
    problems: [...rules.listUnmatched(), ...masks.flatMap((mask) => listGaps(mask, file)), ...unruled],
    missing: missingRules(labels),
  };
}

function checkLabel(table: string, { label, rule, looks, values, links }: MaskedLabel, file: MasksFile): CheckedLabel {
  const isKept = rule === undefined ? !looks.isCovered : rule.rule.kind === "keep";
  return {
    table,
    label,
    rule: rule?.rule.kind ?? (values === 0 && links > 0 ? "link" : looks.isCovered ? "kind" : undefined),
    values: values + links,
    unmasked: isKept && values > 0,
    looksLike: rule ? [] : looks.listOpen(file.kinds),
  };
}

/** Rules for people to finish, of the labels that have none. */
function missingRules(labels: readonly CheckedLabel[]): string {
  const proposed: Record<string, string> = { address: "address", telephone: "digits", name: "name", token: "drop" };
  const tables: Record<string, Record<string, string>> = {};
  for (const { table, label, rule, looksLike, values } of labels) {
    if (rule !== undefined || values === 0) continue;
    (tables[table] ??= {})[label] = proposed[looksLike[0] ?? ""] ?? "keep";
  }
  return Object.keys(tables).length === 0 ? "" : stringify({ tables }, { lineWidth: 0 });
}

/** The check for people. It quotes no value. */
export function describeCheck({ labels, problems, missing }: MasksCheck): string {
  const lines = labels.map(({ table, label, rule, values, unmasked, looksLike }) => {
    const looks = looksLike.length > 0 ? `, looks like ${looksLike.join(" and ")}` : "";
    return `  ${table}.${label}: ${rule ?? "no rule"}, ${formatCount(values, "value")}${unmasked ? ", unmasked" : ""}${looks}`;
  });
  return [
    "Rules by label:",
    ...lines,
    ...(missing === "" ? [] : ["Rules to look through and add:", missing.trimEnd()]),
    ...(problems.length === 0
      ? ["A dump with these rules would go on to look for masked values in what is unmasked."]
      : ["A dump would stop:", ...problems.map((text) => `  ${text}`)]),
  ].join("\n");
}

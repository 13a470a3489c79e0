import type { Change, Section } from "../../cli/report/changeSet.ts";
import type { Declared } from "../../cli/report/source.ts";
import type { LoggedCall } from "../../emulator/index.ts";

type Op = Change["op"];

/** Changes by the thing they affect: `organization acme`, `row offices N`, `acme/crew: person ada@example.com`. */
type Effects = ReadonlyMap<string, Op>;

/** Pending changes. Without a comparison of a seed's rows only the seed itself counts. */
export interface Prediction {
  effects: Effects;
  /** Tables whose rows are marked as not compared. */
  vague: ReadonlySet<string>;
  /** Things of which anything changes: there a run repairs what somebody did by hand. */
  things: ReadonlySet<string>;
}

export interface Live {
  /** Table and code of each row by its ID. */
  ids: ReadonlyMap<string, string>;
  rows: ReadonlySet<string>;
}

const kept = /^(organization|team|seed)$/;

/** Effects of a run according to a section. */
export function predicted({ things }: Section, { declaration }: Declared): Prediction {
  const effects = new Map<string, Op>();
  const [vague, touched] = [new Set<string>(), new Set<string>()];
  for (const { kind, op, name, changes, notes, rows } of things) {
    if (!kept.test(kind)) throw new Error(`${kind} ${name}`);
    if (op === "replace") throw new Error(`${name} is replaced`);
    const table = declaration.seeds[name]?.table ?? name.replace(/\d+$/, "");
    touched.add(kind === "seed" ? table : name);
    const own = changes.some((change) => change.kind === "setting" && /^(name|description)$/.test(change.name));
    if (kind !== "seed" && (op !== "change" || own)) effects.set(`${kind} ${name}`, op);
    if (kind === "seed" && (op !== "change" || notes.length > 0)) {
      vague.add(table);
      if (notes.length === 0 && rows === undefined) throw new Error(`${name} has no count of rows`);
    }
    for (const change of changes) {
      if (change.kind === "person") effects.set(`${name}: person ${change.name.toLowerCase()}`, change.op);
      if (change.kind === "row") effects.set(`row ${table} ${change.name}`, change.op);
    }
  }
  return { effects, vague, things: touched };
}

export interface Known {
  ids: ReadonlyMap<string, string>;
  /** Logical names of resources by their IDs. */
  names: ReadonlyMap<string, string>;
  /** E-mail addresses by user ID. */
  people: ReadonlyMap<string, string>;
}

const ops: Readonly<Record<string, Op>> = { insert: "add", update: "change", delete: "remove", remove: "remove" };

/** Effects of a run, by its calls. An administrator is invited, and then given the role. */
export function sent(calls: readonly LoggedCall[], { ids, names, people }: Known): Effects {
  const effects = new Map<string, Op>();
  const told = (what: string, op: Op): void => {
    if (!(op === "change" && effects.get(what) === "add")) effects.set(what, op);
  };
  for (const { endpoint, request } of calls) {
    const { organizationID, teamID, teamIDs, emails, userID, rowID, rows, rowData, microAppID } = request as Record<
      string,
      string
    > & {
      teamIDs?: string[];
      emails?: string[];
      rows?: { Code: string }[];
      rowData?: { Code: string };
    };
    const op = ops[/^(insert|update|delete|remove)/.exec(endpoint)?.[0] ?? ""];
    if (!op) throw new Error(endpoint);
    const idOf = (info: unknown): string => String((info as { _id?: string } | undefined)?._id);
    const nameOf = (id: string | undefined): string => names.get(id ?? "") ?? `unknown ${id ?? ""}`;
    if (endpoint.endsWith("organization"))
      told(`organization ${nameOf(organizationID ?? idOf(request["organizationInfo"]))}`, op);
    else if (endpoint.endsWith("team")) told(`team ${nameOf(teamID ?? idOf(request["teamInfo"]))}`, op);
    else if (endpoint.includes("teammember"))
      for (const person of emails ?? [people.get(userID ?? "") ?? `unknown ${userID ?? ""}`])
        for (const team of teamIDs ?? [teamID]) told(`${nameOf(team)}: person ${person.toLowerCase()}`, op);
    else if (rowID !== undefined) told(`row ${ids.get(rowID) ?? `unknown ${rowID}`}`, op);
    else for (const row of rows ?? [rowData]) told(`row ${microAppID ?? ""} ${row?.Code ?? ""}`, op);
  }
  return effects;
}

/** Unexpected effects of a run, and pending ones that did not happen. */
export function unforeseen(
  { effects: pending, vague, things }: Prediction,
  done: Effects,
  { rows, touched }: { rows: Live["rows"]; /** Manual changes. */ touched: ReadonlySet<string> },
): string[] {
  return [...new Set([...pending.keys(), ...done.keys()])].flatMap((what) => {
    const [wanted, found] = [pending.get(what), done.get(what)];
    if (wanted === found) return [];
    const [, row, table = ""] = /^row ((\S+) .*)$/.exec(what) ?? [];
    const [, team = "", person] = /^(.*): (person .*)$/.exec(what) ?? [];
    const isRepaired = touched.has(row ?? person ?? "") && things.has(table || team);
    // A row that is there already is taken over.
    const isAdopted = row !== undefined && wanted === "add" && found !== "remove" && rows.has(row);
    return vague.has(table) || isRepaired || isAdopted
      ? []
      : [`${what}: ${wanted ?? "nothing"} was pending, and ${found ?? "nothing"} was done`];
  });
}

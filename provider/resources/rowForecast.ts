import type { RowDigests } from "../reconcile/digests.ts";
import type { Ledger } from "../reconcile/ledger.ts";
import type { Forecast } from "../reconcile/rows.ts";
import type { Kind } from "./resource.ts";
import { withRepairs, type Drift } from "./rowDrift.ts";
import type { LinkDeclaration } from "./rowLookups.ts";
import { callsAhead } from "./rowReports.ts";
import { keysOf, quoted, type RowDeclaration } from "./rowSource.ts";
import { some } from "./settling.ts";

/** Keys of each kind that a message names, and that a diff shows. */
const mostNamed = 5;
export const mostShown = 20;

type Declaration = RowDeclaration & LinkDeclaration;

/** What a run will do, in one line with the first keys. */
export async function forecast(
  declaration: Declaration,
  plan: Forecast,
  ledger: Ledger,
  keys: readonly string[],
  directory: string,
  repairs?: Drift,
): Promise<string> {
  if (!plan.exact) {
    const { moreThan, net } = plan;
    const how = Math.abs(net) > moreThan ? `at least ${Math.abs(net)}` : `more than ${moreThan}`;
    return `${how} rows to add, change or remove (${net >= 0 ? "+" : ""}${net} rows in all)`;
  }
  const { added, changed, removed } = plan.change;
  const named = async (chosen: readonly number[]): Promise<string> => {
    if (declaration.sensitive || chosen.length === 0) return "";
    const first = await keysOf(declaration, directory, new Set(chosen.slice(0, mostNamed)));
    return ` (${first.map(quoted).join(", ")}${first.length < chosen.length ? ", …" : ""})`;
  };
  const gone = declaration.sensitive ? [] : namesOf(removed, ledger, keys).map(quoted);
  const goneNamed = gone.length === 0 ? "" : ` (${some(gone, mostNamed)})`;
  const parts = [
    plan.insert > 0 ? `${plan.insert} to add${await named(added)}` : "",
    plan.update > 0 ? `${plan.update} to change${await named(changed)}` : "",
    plan.remove > 0 ? `${plan.remove} to remove${goneNamed}` : "",
    `${plan.unchanged} unchanged`,
  ];
  const calls = callsAhead(declaration, repairs ? withRepairs(plan, repairs) : plan, ledger.count);
  return `rows: ${parts.filter((part) => part !== "").join(", ")}; about ${calls} calls`;
}

/** Keys of rows of a ledger, as far as they are known: the ledger of a small seed keeps the order of its keys. */
const namesOf = (rows: readonly RowDigests[], ledger: Ledger, keys: readonly string[]): string[] =>
  ledger.kind === "list" ? rows.flatMap(({ key }) => keys[ledger.rows.find(key) ?? -1] ?? []) : [];

/** A row that a run changes, by its natural key. */
export type Part = readonly [key: string, kind: Kind];

export const as =
  (kind: Kind) =>
  (key: string): Part => [key, kind];

/** The first rows that a run will add, change and remove. */
export async function partsOf(
  declaration: Declaration,
  plan: Forecast & { exact: true },
  ledger: Ledger,
  keys: readonly string[],
  directory: string,
): Promise<Part[]> {
  const { added, changed, removed } = plan.change;
  const first = (chosen: readonly number[], count: number): Promise<string[]> =>
    count === 0 ? Promise.resolve([]) : keysOf(declaration, directory, new Set(chosen.slice(0, mostShown)));
  const gone = plan.remove === 0 ? [] : namesOf(removed, ledger, keys).slice(0, mostShown);
  return [
    ...(await first(added, plan.insert)).map(as("add")),
    ...(await first(changed, plan.update)).map(as("update")),
    ...gone.map(as("delete")),
  ];
}

import type { ParsedRequestOf } from "../../provider/contract/endpoints.ts";
import type { Row } from "../../provider/contract/values.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { keep, type Sighting } from "./sighting.ts";
import { valuesOf } from "./tables.ts";

type Read = ParsedRequestOf<"microappdata">;

/** IDs in their order; those of digits may be numbers on the platform. */
const compared = (one: string, other: string): number =>
  (/^\d+$/.test(one + other) ? one.length - other.length : 0) || (one < other ? -1 : one > other ? 1 : 0);

const ranges: Readonly<Record<string, (seen: string, bound: string) => boolean>> = {
  $gt: (seen, bound) => compared(seen, bound) > 0,
  $gte: (seen, bound) => compared(seen, bound) >= 0,
  $lt: (seen, bound) => compared(seen, bound) < 0,
  $lte: (seen, bound) => compared(seen, bound) <= 0,
};

/** From this number of rows on, their order is no accident. */
const noAccident = 4;

/** Reads of tables since something was last written, by what they have in common. */
export class ReadHabits {
  readonly #byPlace = new Map<string, { skip: number; ids: string }>();
  readonly #byOrder = new Map<string, { order: number; ids: string }>();
  readonly #unsorted = new Map<string, string>();

  /** Forgets what may have changed. */
  changed(): void {
    for (const kept of [this.#byPlace, this.#byOrder, this.#unsorted]) kept.clear();
  }

  /** Compares the rows of a read with what was asked for, and with earlier reads. */
  *read(request: Read, rows: readonly Row[]): Generator<Sighting> {
    const { optLimit, searchFilter = [], optViewFilters = [], optSearchFilters = [], optViewSort } = request;
    if (request.platformFormat === true || request.optIsVectorSearch === true) return;
    if (
      typeof optLimit === "number" &&
      rows.length >= optLimit &&
      searchFilter.every(({ limit }) => limit === undefined)
    )
      yield ["optLimit", rows.length > optLimit ? "ignored" : "honoured"];
    for (const filter of optViewFilters) for (const entry of Object.entries(filter)) yield* filtered(entry, rows);
    for (const { value } of optSearchFilters) {
      const doesMatch = matches(value, rows);
      if (doesMatch !== undefined) yield ["searchFilters", doesMatch ? "match" : "ignored"];
    }
    const order = isObject(optViewSort) && Object.keys(optViewSort).length === 1 ? optViewSort["_id"] : undefined;
    if (rows.length > 1 && (order === 1 || order === -1))
      yield ["viewSort", isSorted(rows, order) ? "honoured" : "ignored"];
    yield* this.#besideOthers(request, rows);
  }

  *#besideOthers(request: Read, rows: readonly Row[]): Generator<Sighting> {
    const [filter, ...others] = request.searchFilter ?? [];
    const ids = JSON.stringify(rows.map(({ _id }) => _id));
    const key = JSON.stringify(request);
    if (filter?.field === undefined && request.optViewSort === undefined) {
      const before = this.#unsorted.get(key);
      keep(this.#unsorted, key, ids);
      if (before !== undefined && before !== ids && isSame(before, ids)) yield ["rowOrder", "changing"];
    }
    if (filter === undefined || others.length > 0 || rows.length === 0) return;
    const { skip = 0, order = 1, ...rest } = filter;
    const placed = JSON.stringify({ ...request, searchFilter: [{ ...rest, order }] });
    const other = this.#byPlace.get(placed);
    if (other === undefined) keep(this.#byPlace, placed, { skip, ids });
    else if (other.skip !== skip) yield ["skip", other.ids === ids ? "ignored" : "honoured"];
    if (rest.field === undefined || rows.length < noAccident || isConstant(rows)) return;
    const sorted = JSON.stringify({ ...request, searchFilter: [{ ...rest, skip }] });
    const turned = this.#byOrder.get(sorted);
    if (turned === undefined) keep(this.#byOrder, sorted, { order, ids });
    else if (turned.order !== order) yield ["order", turned.ids === ids ? "ignored" : "honoured"];
  }
}

/** Compares one condition of a filter with the rows that came. */
function* filtered([key, wanted]: [string, unknown], rows: readonly Row[]): Generator<Sighting> {
  if (key === "embeddingRowID" && typeof wanted === "string" && rows.some(({ embeddingRowID }) => embeddingRowID)) {
    yield ["parentFilter", rows.every(({ embeddingRowID }) => embeddingRowID === wanted) ? "match" : "ignored"];
  } else if (key === "_id" && isObject(wanted)) {
    const bounds = Object.entries(wanted).filter((entry): entry is [string, string] => isBound(entry));
    if (bounds.length === 0 || bounds.length < Object.keys(wanted).length || rows.length === 0) return;
    const fits = ({ _id }: Row): boolean =>
      bounds.every(([operator, bound]) => ranges[operator]?.(_id, bound) === true);
    yield ["rangeFilters", rows.every(fits) ? "compare" : "ignored"];
  } else if (/^(?:_id|sortVal\d*)$/.test(key)) {
    const doesMatch = matches(wanted, rows);
    if (doesMatch !== undefined) yield ["viewFilters", doesMatch ? "match" : "ignored"];
  }
}

const isBound = ([operator, bound]: [string, unknown]): boolean =>
  Object.hasOwn(ranges, operator) && typeof bound === "string";

/** True when each row holds the value somewhere; undefined where that is unknown. */
function matches(value: unknown, rows: readonly Row[]): boolean | undefined {
  const isPlain = (typeof value === "string" && value !== "") || typeof value === "number";
  return isPlain && rows.length > 0 ? rows.every((row) => holds(row, value)) : undefined;
}

function holds(part: unknown, value: string | number): boolean {
  if (Array.isArray(part)) return part.some((item) => holds(item, value));
  if (isObject(part)) return Object.values(part).some((inner) => holds(inner, value));
  if (typeof part !== "string" && typeof part !== "number") return false;
  // Texts may be matched in part or whatever their case, and a date has several forms.
  const time = (one: unknown): number => (typeof one === "number" ? one : Date.parse(String(one)));
  return String(part).toLowerCase().includes(String(value).toLowerCase()) || time(part) === time(value);
}

const isSorted = (rows: readonly Row[], order: 1 | -1): boolean =>
  rows.every(({ _id }, index) => index === 0 || compared(_id, rows[index - 1]?._id ?? "") * order > 0);

/** True when some label is the same in all rows, so that a sort by it would change nothing. */
function isConstant(rows: readonly Row[]): boolean {
  const labels = new Set(rows.flatMap((row) => Object.keys(valuesOf(row))));
  return [...labels].some((label) => new Set(rows.map((row) => JSON.stringify(row[label]))).size === 1);
}

const isSame = (one: string, other: string): boolean =>
  JSON.stringify((JSON.parse(one) as string[]).toSorted()) ===
  JSON.stringify((JSON.parse(other) as string[]).toSorted());

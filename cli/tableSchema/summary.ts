import { formatCount, quote, some } from "../../provider/messages/text.ts";
import type { FieldModel, TableModel } from "./model.ts";

/** Names of kinds for people. */
const kinds = {
  ...{ text: "text", number: "a number", date: "a date", checkbox: "a list of texts", location: "a location" },
  ...{ linked: "a link", boolean: "true or false", json: "JSON", any: "of several kinds" },
} as const;

/** Describes a table label by label, with how sure each kind is: one line each, and one for each kind of exception. */
export function summarize(model: TableModel): string {
  const { table, rows, key, fields } = model;
  const width = Math.max(0, ...fields.map(({ label }) => label.length));
  const known = key.length === 0 ? "no label tells rows apart: name some by --key" : `natural key ${key.join(" and ")}`;
  return [
    `table ${table}: ${formatCount(rows, "row")}, ${formatCount(fields.length, "label")}, ${known}`,
    ...fields.flatMap((field) => describe(field, model, width)),
  ].join("\n");
}

function describe(field: FieldModel, { rows }: TableModel, width: number): string[] {
  const { label, kind, sure, filled, unique, exceptions, values, link } = field;
  const parts = [
    sure === "none" ? "no row has a value" : kinds[kind],
    ...(sure === "declared"
      ? ["declared under platform"]
      : sure === "none"
        ? []
        : [`in ${filled === rows ? "every row" : `${filled} of ${formatCount(rows, "row")}`}`]),
    ...(unique ? ["each value once"] : []),
    ...(values ? [`one of ${some(values.map(quote), 12)}`] : []),
    ...(link ? [`by ${quote(link.key)}${link.table === undefined ? "" : ` of table ${link.table}`}`] : []),
  ];
  return [
    `  ${label.padEnd(width)}  ${parts.join(", ")}`,
    ...exceptions.map(
      ({ kind: other, count, rows: named }) =>
        `  ${"".padEnd(width)}    ${count} of ${filled}: ${kinds[other]} (${some(named.map(quote), named.length)}${count > named.length ? ", …" : ""})`,
    ),
  ];
}

import { compose } from "./dialogs.js";
import { text } from "./format.js";

// Forms of a table's rows; what they send is the interface's own.

/** Field types that a form leaves out: sub-tables and files are records of their own. */
const separate = new Set(["subtable", "file"]);

const isStructured = ({ type }) => !["text", "number", "date", "checkbox"].includes(type);

/** A value as a form shows it. */
function written(field, value) {
  if (value === null || value === undefined) return "";
  if (isStructured(field)) return JSON.stringify(value, undefined, 2);
  return field.type === "checkbox" && Array.isArray(value) ? value.join(", ") : String(value);
}

/** The value that a form's text stands for; an empty one is null. */
function read({ label, type }, words) {
  if (words.trim() === "") return null;
  if (type === "number") {
    if (Number.isFinite(Number(words))) return Number(words);
    throw new Error(`${label} must be a number`);
  }
  if (type === "checkbox") return words.split(",").map((word) => word.trim());
  if (type === "text" || type === "date") return words;
  try {
    return JSON.parse(words);
  } catch {
    throw new Error(`${label} must be JSON`);
  }
}

/** True for a text that one line of a form can't have: a browser would take its line breaks away. */
const isLong = (words) => words.length > 60 || /[\r\n]/.test(words);

const hints = { checkbox: "Words with commas between them", linked: "JSON with a crossAppRowID" };

const fieldsOf = (table, row) =>
  table.fields
    .filter(({ type }) => !separate.has(type))
    .map((field) => ({
      name: field.label,
      label: field.label,
      kind: isStructured(field) || isLong(written(field, row[field.label])) ? "long" : "line",
      value: written(field, row[field.label]),
      hint: hints[field.type] ?? (isStructured(field) ? "JSON" : ""),
      field,
    }));

/** A text with the line breaks of a browser's form. */
const unified = (words) => words.replaceAll(/\r\n?/g, "\n");

const changedIn = (fields, values) =>
  Object.fromEntries(
    fields
      .filter(({ name, value }) => unified(values[name]) !== unified(value))
      .map(({ name, field }) => [name, read(field, values[name])]),
  );

/** Asks for the values of a new row. */
export function insertRow(table) {
  const fields = fieldsOf(table, {});
  const parent = { name: "embeddingRowID", label: "ID of the row that it belongs to" };
  return compose({
    title: `New row of ${table.name}`,
    fields: table.parent === null ? fields : [parent, ...fields],
    action: "Insert",
    callOf: ({ embeddingRowID = "", ...values }) => {
      const below = table.parent === null ? {} : { embeddingRowID };
      if (table.parent !== null && embeddingRowID === "") throw new Error(`${parent.label} is missing.`);
      return {
        endpoint: "insertmicroapprow",
        request: { microAppID: table.id, rowData: changedIn(fields, values), ...below },
      };
    },
  });
}

/** Asks for other values of a row; those that change are sent. */
export function updateRow(table, row) {
  const fields = fieldsOf(table, row);
  return compose({
    title: `Edit ${titleOf(table, row)}`,
    fields,
    action: "Save",
    callOf: (values) => {
      const rowData = changedIn(fields, values);
      if (Object.keys(rowData).length === 0) return undefined;
      return { endpoint: "updatemicroapprow", request: { microAppID: table.id, rowID: row._id, rowData } };
    },
  });
}

export const removeRow = (table, row) =>
  compose({
    title: `Delete ${titleOf(table, row)}?`,
    action: "Delete",
    danger: true,
    callOf: () => ({ endpoint: "removemicroapprow", request: { rowID: row._id } }),
  });

/** The first of a row's values that is not empty. */
export const titleOf = ({ fields }, row) =>
  fields.map(({ label }) => text(row[label])).find((value) => value !== "") ?? "Row";

import { plural } from "../format.js";
import { html } from "../lit-html/lit-html.js";
import { link, model } from "../model.js";
import { copyable, empty, header, missing, table } from "../parts.js";
import { rows } from "./rows.js";

/** All data tables; below an ID, the rows of one. */
export function tables(place) {
  const [tableID = ""] = place.path;
  if (tableID !== "") {
    return rows(tableID, place, () => missing("such table", tableID, "#tables", "All tables"));
  }
  const cells = ({ id, name, fields, rows, parent }) => [
    html`<a href=${link("tables", id)}>${name}</a>`,
    rows ?? "…",
    plural(fields.length, "field"),
    parent === null ? "" : `rows of ${model.tables.find((table) => table.id === parent)?.name ?? parent}`,
    copyable(id),
  ];
  return {
    title: "Tables",
    template: () => html`
      ${header("Tables")}
      ${table(
        plural(model.tables.length, "table"),
        ["Name", { label: "Rows", kind: "number" }, "Fields", "Belongs to", { label: "ID", kind: "last" }],
        model.tables.map(cells),
        empty("The platform has no tables", "They come from a seed."),
      )}
    `,
  };
}

import { button, choice, field, h, table, text, whole } from "./elements.js";
import { ask, say } from "./service.js";

const perPage = 50;
const comparisons = [["contains"], ["equals"], ["at least"], ["at most"], ["is empty"]];

/** Data tables with their rows: one field is filtered, one is sorted by. */
export async function tables(root, tableID) {
  const { tables } = await ask("tables");
  const chosen = tables.find(({ id }) => id === tableID) ?? tables[0];
  if (!chosen) {
    root.append(h("h2", {}, "Tables"), h("p", {}, "The platform has no tables: they come from a seed."));
    return {};
  }
  let skip = 0;
  const labels = ["_id", ...chosen.fields.map(({ label }) => label)];
  const place = h("div");
  const form = h(
    "form",
    { onsubmit: search, "aria-label": "Filter" },
    field(
      "Field",
      choice(
        "field",
        labels.map((label) => [label]),
        labels[1],
      ),
    ),
    field("Condition", choice("comparison", comparisons)),
    field("Value", h("input", { name: "value", type: "search" })),
    field("Order by", choice("sort", [["", "insertion"], ...labels.map((label) => [label])])),
    field(
      "Direction",
      choice("direction", [
        ["1", "ascending"],
        ["-1", "descending"],
      ]),
    ),
    h("button", {}, "Show"),
  );
  const names = tables.map(({ id, name, rows }) => {
    const attributes = {
      href: `#tables/${encodeURIComponent(id)}`,
      "aria-current": id === chosen.id ? "true" : undefined,
    };
    return h("li", {}, h("a", attributes, name), ` ${rows}`);
  });
  root.append(
    h("h2", {}, "Tables"),
    h("nav", { "aria-label": "Tables" }, h("ul", {}, names)),
    h("h3", {}, chosen.name),
  );
  root.append(h("p", { class: "quiet" }, `${chosen.id}${chosen.parent === null ? "" : `, rows of ${chosen.parent}`}`));
  root.append(form, place);

  function search(event) {
    event.preventDefault();
    skip = 0;
    void refresh().catch((error) => say(error.message, "bad"));
  }

  async function refresh() {
    const { field, comparison, value, sort, direction } = Object.fromEntries(new FormData(form));
    const filter = filterOf(chosen.fields, field, comparison, value);
    const query = { table: chosen.id, skip, limit: perPage, filter: filter && JSON.stringify(filter), sort, direction };
    const { rows, more } = await ask("rows", { query });
    const go = (by) => () => {
      skip += by;
      void refresh().catch((error) => say(error.message, "bad"));
    };
    say("");
    const cells = (row) => [...labels.map((label) => cell(row[label])), whole(row)];
    const caption = rows.length === 0 ? "No rows" : `Rows ${skip + 1} to ${skip + rows.length}`;
    place.replaceChildren(
      table(caption, [...labels, ""], rows.map(cells)),
      h(
        "p",
        { class: "row" },
        button("Previous page", go(-perPage), { disabled: skip === 0 }),
        button("Next page", go(perPage), { disabled: !more }),
      ),
    );
  }
  await refresh();
  return { refresh };
}

const cell = (value) => (typeof value === "number" ? value : text(value));

/** The condition as a view filter of the interface. */
function filterOf(fields, label, comparison, value) {
  if (comparison === "is empty") return { [label]: null };
  if (value === "") return undefined;
  const type = fields.find((field) => field.label === label)?.type;
  const key = type === "linked" ? `${label}.value.value` : label;
  const wanted = type === "number" ? Number(value) : value;
  if (comparison === "contains" && type !== "number") {
    return { [key]: { $regex: value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), $options: "i" } };
  }
  if (comparison === "at least") return { [key]: { $gte: wanted } };
  if (comparison === "at most") return { [key]: { $lte: wanted } };
  return { [key]: wanted };
}

import { html, nothing } from "../lit-html/lit-html.js";
import { details } from "../dialogs.js";
import { count, text } from "../format.js";
import { model } from "../model.js";
import { notify } from "../notices.js";
import { copyable, empty, field, header, newFieldID, options, table } from "../parts.js";
import { ask } from "../service.js";

const perPage = 50;
const conditions = [["contains"], ["equals"], ["at least"], ["at most"], ["is empty"]];

/** The rows of a table: a page of them, filtered by one field, in the order of another. */
export function rows(tableID, redraw, whenMissing) {
  const find = () => model.tables.find(({ id }) => id === tableID);
  const ids = { field: newFieldID(), condition: newFieldID(), value: newFieldID() };
  const state = { page: { rows: [], total: 0, more: false }, skip: 0, sort: "", direction: 1, filter: undefined };

  async function load() {
    const chosen = find();
    if (!chosen) return;
    const { skip, sort, direction, filter } = state;
    const query = { table: tableID, skip, limit: perPage, filter: filter && JSON.stringify(filter), sort, direction };
    state.page = await ask("rows", { query });
    const { rows, total } = state.page;
    if (rows.length > 0 || skip === 0 || total === null) return;
    state.skip = Math.max(0, Math.ceil(total / perPage) - 1) * perPage; // what was there is deleted
    await load();
  }

  const change = async (changes) => {
    Object.assign(state, changes);
    try {
      await load();
      notify("");
    } catch (error) {
      notify(error.message, "bad");
    }
    redraw();
  };
  const orderBy = (label) => () =>
    change({ skip: 0, sort: label, direction: state.sort === label ? -state.direction : 1 });
  const search = (event) => {
    event.preventDefault();
    const { field, condition, value } = Object.fromEntries(new FormData(event.target));
    void change({ skip: 0, filter: filterOf(find().fields, field, condition, value) });
  };
  const clear = (event) => {
    event.target.form.reset();
    void change({ skip: 0, filter: undefined });
  };
  const go = (by) => () => change({ skip: state.skip + by });

  const filterForm = (labels) => html`
    <form class="toolbar" aria-label="Filter" @submit=${search}>
      ${field(
        "Field",
        ids.field,
        html`<select id=${ids.field} name="field">
          ${options(labels.map((label) => [label]))}
        </select>`,
      )}
      ${field(
        "Condition",
        ids.condition,
        html`<select id=${ids.condition} name="condition">
          ${options(conditions)}
        </select>`,
      )}
      ${field("Value", ids.value, html`<input id=${ids.value} name="value" type="search" data-key="f" aria-keyshortcuts="f" @click=${focusOn} />`)}
      <button>Filter</button>
      <button type="button" class="plain" ?hidden=${state.filter === undefined} @click=${clear}>Clear</button>
    </form>
  `;

  function body(chosen) {
    const labels = chosen.fields.map(({ label }) => label);
    const column = (label) => ({
      label,
      kind: chosen.fields.find((field) => field.label === label)?.type === "number" ? "number" : "",
      sort: label !== state.sort ? undefined : state.direction === 1 ? "ascending" : "descending",
      onSort: orderBy(label),
    });
    const columns = [
      ...labels.map(column),
      { ...column("_id"), label: "ID", kind: "last" },
      { label: "Row", kind: "last" },
    ];
    const { rows, more, total } = state.page;
    const cells = (row) => [
      ...labels.map((label) => (typeof row[label] === "number" ? row[label] : text(row[label]))),
      copyable(row._id),
      html`<button type="button" class="plain" @click=${() => details(titleOf(row, labels), row)}>Open</button>`,
    ];
    return html`
      ${filterForm([...labels, "_id"])}
      ${table(
        captionOf(state.skip, rows.length, total),
        columns,
        rows.map(cells),
        state.filter === undefined ? empty("The table has no rows yet") : empty("No row fits the filter"),
      )}
      <div class="actions pager" ?hidden=${state.skip === 0 && !more}>
        <button type="button" data-key="p" aria-keyshortcuts="p" ?disabled=${state.skip === 0} @click=${go(-perPage)}>
          Previous page
        </button>
        <button type="button" data-key="n" aria-keyshortcuts="n" ?disabled=${!more} @click=${go(perPage)}>
          Next page
        </button>
        ${total === null ? nothing : html`<span class="quiet">Page ${count(state.skip / perPage + 1)} of ${count(Math.max(1, Math.ceil(total / perPage)))}</span>`}
      </div>
    `;
  }

  return {
    title: find()?.name ?? "Not found",
    load,
    template: () => {
      const chosen = find();
      if (!chosen) return whenMissing();
      const parent = model.tables.find(({ id }) => id === chosen.parent)?.name ?? chosen.parent;
      const note = chosen.parent === null ? "" : `Each row belongs to a row of ${parent}`;
      return html`${header(chosen.name, { note, actions: html`<span class="quiet">ID</span> ${copyable(chosen.id)}` })}${body(chosen)}`;
    },
  };
}

const focusOn = ({ currentTarget }) => currentTarget.focus();

/** "Rows 1–50 of 2,000". */
function captionOf(skip, length, total) {
  if (length === 0) return "No rows";
  return `Rows ${count(skip + 1)}–${count(skip + length)} of ${total === null ? "many" : count(total)}`;
}

const titleOf = (row, labels) => labels.map((label) => text(row[label])).find((value) => value !== "") ?? "Row";

/** The condition as a view filter of the interface. */
function filterOf(fields, label, condition, value) {
  if (condition === "is empty") return { [label]: null };
  if (value === "") return undefined;
  const type = fields.find((field) => field.label === label)?.type;
  const key = type === "linked" ? `${label}.value.value` : label;
  const wanted = type === "number" ? Number(value) : value;
  if (condition === "contains" && type !== "number") {
    return { [key]: { $regex: value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), $options: "i" } };
  }
  if (condition === "at least") return { [key]: { $gte: wanted } };
  if (condition === "at most") return { [key]: { $lte: wanted } };
  return { [key]: wanted };
}

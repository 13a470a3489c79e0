import { columnChooser, loadColumns, resizing } from "../columns.js";
import { filterForm, isFiltering, newConditionIDs } from "../conditions.js";
import { count, text } from "../format.js";
import { html, nothing } from "../lit-html/lit-html.js";
import { model } from "../model.js";
import { copyable, empty, header, newFieldID, table } from "../parts.js";
import { rowActions } from "../rowActions.js";
import { perPage, RowPage } from "../rowPage.js";

/** The rows of a table: a page of them, filtered and in an order, as the address names them. */
export function rows(tableID, place, whenMissing) {
  const find = () => model.tables.find(({ id }) => id === tableID);
  const page = new RowPage(find, place);
  const parts = {
    page,
    actions: rowActions(page, place.redraw),
    columns: loadColumns(tableID),
    ids: { conditions: newConditionIDs(page.filter), json: newFieldID() },
    redraw: place.redraw,
  };
  return {
    get title() {
      return find()?.name ?? "Not found";
    },
    load: (loading) => page.open(loading),
    template: () => {
      const chosen = find();
      if (!chosen) return whenMissing();
      return html`${heading(chosen, parts)} ${filter(chosen, parts)} ${rowTable(chosen, parts)} ${pager(page)}`;
    },
  };
}

function heading(chosen, { actions }) {
  const parent = model.tables.find(({ id }) => id === chosen.parent)?.name ?? chosen.parent;
  return header(chosen.name, {
    note: chosen.parent === null ? "" : `Each row belongs to a row of ${parent}`,
    actions: html`
      <span class="quiet">ID</span> ${copyable(chosen.id)}
      <button type="button" class="primary" @click=${() => actions.insert(chosen)}>New row</button>
    `,
  });
}

function filter(chosen, { page, actions, columns, ids, redraw }) {
  const labels = chosen.fields.map(({ label }) => label);
  return filterForm(page.filter, {
    labels: [...labels, "_id"],
    ids: ids.conditions,
    jsonID: ids.json,
    fields: chosen.fields,
    filtered: isFiltering(page.filter),
    change: (changed, apply) => page.changeFilter(changed, apply),
    actions: html`${columnChooser(columns, labels, redraw)}
      <button type="button" @click=${() => actions.exportAs(chosen, "csv")}>CSV</button>
      <button type="button" @click=${() => actions.exportAs(chosen, "json")}>JSON</button>`,
  });
}

function rowTable(chosen, { page, actions, columns, redraw }) {
  const shown = chosen.fields.filter(({ label }) => !columns.hidden.has(label));
  const sorting = (label) => ({ sort: page.orderOf(label), onSort: () => page.orderBy(label) });
  const described = [
    ...shown.map(({ label, type }, at) => ({
      label,
      kind: [at === 0 ? "key" : "", type === "number" ? "number" : ""].join(" ").trim(),
      ...sorting(label),
      ...resizing(columns, label, redraw),
    })),
    { label: "ID", kind: "last", ...sorting("_id") },
    { label: "Row", kind: "last" },
  ];
  const cells = (row) => [
    ...shown.map(({ label }) => (typeof row[label] === "number" ? row[label] : text(row[label]))),
    copyable(row._id),
    html`<button type="button" class="plain" @click=${() => actions.open(chosen, row)}>Open</button>`,
  ];
  const none = page.refusal ?? (isFiltering(page.filter) ? "No row fits the filter" : "The table has no rows yet");
  return table(captionOf(page), described, page.rows.map(cells), empty(none));
}

function pager(page) {
  const { skip, more, total } = page;
  const go = (by) => () => page.change({ skip: page.skip + by });
  const pages = total === null ? 0 : Math.max(1, Math.ceil(total / perPage));
  return html`
    <div class="actions pager" ?hidden=${skip === 0 && !more}>
      <button type="button" data-key="p" aria-keyshortcuts="p" ?disabled=${skip === 0} @click=${go(-perPage)}>
        Previous page
      </button>
      <button type="button" data-key="n" aria-keyshortcuts="n" ?disabled=${!more} @click=${go(perPage)}>
        Next page
      </button>
      ${pages === 0 ? nothing : html`<span class="quiet">Page ${count(skip / perPage + 1)} of ${count(pages)}</span>`}
    </div>
  `;
}

/** "Rows 1–50 of 2,000". */
function captionOf({ skip, rows, total }) {
  if (rows.length === 0) return "No rows";
  return `Rows ${count(skip + 1)}–${count(skip + rows.length)} of ${total === null ? "many" : count(total)}`;
}

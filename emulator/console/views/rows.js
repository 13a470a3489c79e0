import { html, nothing } from "../lit-html/lit-html.js";
import { loadColumns, saveColumns } from "../columns.js";
import { filterForm, filterText, isFiltering, newConditionIDs, readFilter, writeFilter } from "../conditions.js";
import { closeDialog, details } from "../dialogs.js";
import { download, maxExported } from "../exporting.js";
import { count, plural, text } from "../format.js";
import { model } from "../model.js";
import { act, notify } from "../notices.js";
import { copyable, empty, header, newFieldID, table } from "../parts.js";
import { insertRow, removeRow, titleOf, updateRow } from "../rowCalls.js";
import { ask } from "../service.js";

const perPage = 50;
const nothingYet = { rows: [], total: 0, more: false };

const whole = (words) => (/^\d{1,9}$/.test(words ?? "") ? Number(words) : 0);

/** The rows of a table: a page of them, filtered and in an order, as the address names them. */
export function rows(tableID, { query, keep, redraw }, whenMissing) {
  const find = () => model.tables.find(({ id }) => id === tableID);
  const ids = { conditions: newConditionIDs(), json: newFieldID() };
  const columns = loadColumns(tableID);
  const state = {
    page: nothingYet,
    skip: whole(query.get("skip")),
    sort: query.get("sort") ?? "",
    direction: query.get("direction") === "-1" ? -1 : 1,
    filter: readFilter(query),
  };

  const asked = () => {
    const { sort, direction, filter } = state;
    return { table: tableID, filter: filterText(filter, find().fields), sort, direction: sort === "" ? "" : direction };
  };

  async function load() {
    if (!find()) return;
    state.page = await ask("rows", { query: { ...asked(), skip: state.skip, limit: perPage } });
    const { rows, total } = state.page;
    if (rows.length > 0 || state.skip === 0 || total === null) return;
    state.skip = Math.max(0, Math.ceil(total / perPage) - 1) * perPage; // what was there is deleted
    await load();
  }

  function remember() {
    const { skip, sort, direction, filter } = state;
    const parameters = new URLSearchParams();
    writeFilter(filter, parameters);
    if (sort !== "") parameters.set("sort", sort);
    if (sort !== "" && direction < 0) parameters.set("direction", "-1");
    if (skip > 0) parameters.set("skip", skip);
    keep(parameters);
  }

  const change = async (changes) => {
    Object.assign(state, changes);
    remember();
    try {
      await load();
      notify("");
    } catch (error) {
      notify(error.message, "bad");
    }
    redraw();
  };
  const changeFilter = (filter, apply) => {
    if (apply) return void change({ skip: 0, filter });
    state.filter = filter;
    redraw();
  };
  const orderBy = (label) => () =>
    change({ skip: 0, sort: label, direction: state.sort === label ? -state.direction : 1 });
  const go = (by) => () => change({ skip: state.skip + by });

  const done = async (sent, words) => {
    if (!(await sent)) return;
    await load();
    notify(words);
    redraw();
  };
  const mark = (row, marks) => async () => {
    closeDialog();
    await act("Marked the row", () => ask(`rows/${row._id}`, { method: "PUT", body: marks }));
    await load();
    redraw();
  };
  const open = (chosen, row) => () =>
    details(titleOf(chosen, row), row, [
      { label: "Edit", run: () => done(updateRow(chosen, row), "Saved the row") },
      { label: row.isLocked ? "Unlock" : "Lock", run: mark(row, { isLocked: !row.isLocked }) },
      {
        label: row.hasConflict ? "Mark as without conflict" : "Mark as in conflict",
        run: mark(row, { hasConflict: !row.hasConflict }),
      },
      { label: "Delete", danger: true, run: () => done(removeRow(chosen, row), "Deleted the row") },
    ]);
  const save = (chosen, format) => async () => {
    const labels = [...chosen.fields.map(({ label }) => label), "_id"];
    try {
      const saved = await download(format, { name: chosen.id, labels, query: asked() });
      const rest = saved.more ? `: an export has ${count(maxExported)} at most, the rest is not in it` : "";
      notify(`Exported ${plural(saved.count, "row")}${rest}`, saved.more ? "bad" : "good");
    } catch (error) {
      notify(error.message, "bad");
    }
  };

  const toggle = (label) => () => {
    if (!columns.hidden.delete(label)) columns.hidden.add(label);
    saveColumns(tableID, columns);
    redraw();
  };
  const chooser = (labels) => html`
    <details class="menu">
      <summary>Columns</summary>
      <fieldset>
        <legend class="unseen">Columns that are shown</legend>
        ${labels.map(
          (label) =>
            html`<label class="check"
              ><input type="checkbox" .checked=${!columns.hidden.has(label)} @change=${toggle(label)} />${label}</label
            >`,
        )}
      </fieldset>
    </details>
  `;

  function body(chosen) {
    const labels = chosen.fields.map(({ label }) => label);
    const shown = labels.filter((label) => !columns.hidden.has(label));
    const column = (label, at) => {
      const type = chosen.fields.find((field) => field.label === label)?.type;
      return {
        label,
        kind: [at === 0 ? "key" : "", type === "number" ? "number" : ""].join(" ").trim(),
        sort: label !== state.sort ? undefined : state.direction === 1 ? "ascending" : "descending",
        onSort: orderBy(label),
        width: columns.widths.get(label),
        onResize: (width) => {
          columns.widths.set(label, width);
          redraw();
        },
        onResized: () => saveColumns(tableID, columns),
      };
    };
    const { onResize: _resize, ...id } = column("_id");
    const described = [...shown.map(column), { ...id, label: "ID", kind: "last" }, { label: "Row", kind: "last" }];
    const { rows, more, total } = state.page;
    const cells = (row) => [
      ...shown.map((label) => (typeof row[label] === "number" ? row[label] : text(row[label]))),
      copyable(row._id),
      html`<button type="button" class="plain" @click=${open(chosen, row)}>Open</button>`,
    ];
    const filtered = isFiltering(state.filter);
    return html`
      ${filterForm(state.filter, {
        labels: [...labels, "_id"],
        ids: ids.conditions,
        jsonID: ids.json,
        fields: chosen.fields,
        filtered,
        change: changeFilter,
        actions: html`${chooser(labels)}
          <button type="button" @click=${save(chosen, "csv")}>CSV</button>
          <button type="button" @click=${save(chosen, "json")}>JSON</button>`,
      })}
      ${table(
        captionOf(state.skip, rows.length, total),
        described,
        rows.map(cells),
        filtered ? empty("No row fits the filter") : empty("The table has no rows yet"),
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
      const actions = html`
        <span class="quiet">ID</span> ${copyable(chosen.id)}
        <button type="button" class="primary" @click=${() => done(insertRow(chosen), "Inserted the row")}>
          New row
        </button>
      `;
      return html`${header(chosen.name, { note, actions })}${body(chosen)}`;
    },
  };
}

/** "Rows 1–50 of 2,000". */
function captionOf(skip, length, total) {
  if (length === 0) return "No rows";
  return `Rows ${count(skip + 1)}–${count(skip + length)} of ${total === null ? "many" : count(total)}`;
}

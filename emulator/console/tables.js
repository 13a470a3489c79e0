import { repeat } from "./lit-html/directives/repeat.js";
import { html, nothing } from "./lit-html/lit-html.js";
import { button, code, count, entry, heading, link, missing, openForm, printable } from "./parts.js";
import { ask, attempt, page, send } from "./service.js";

const perPage = 50;

let all = [];

const find = (id) => all.find((table) => table.id === id);
const nameOf = (id) => find(id)?.name ?? id;

/** Entries of the tables below a table. */
function branch(above, chosen) {
  const item = ({ id, name, rows }) =>
    html`<li>${entry(link("tables", id), name, rows, id === chosen)} ${branch(id, chosen)}</li>`;
  const below = all.filter(({ parent }) => parent === above);
  return below.length === 0
    ? nothing
    : html`<ul>
        ${below.map(item)}
      </ul>`;
}

// Values: as a cell shows them, as a person writes them, and as the interface has them.

function shown(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return printable(value);
  if (value.value && "crossAppRowID" in value) return shown(value.value.value);
  if (typeof value.address?.formattedAddress === "string") return printable(value.address.formattedAddress);
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return printable(value.join(", "));
  return printable(JSON.stringify(value));
}

const valueIn = (row, label) => (Object.hasOwn(row, label) ? row[label] : null);
const lists = ["checkbox", "viewers", "teamViewers"];
const plain = ["text", "date", "number"];
const isEditable = ({ type }) => type !== "subtable" && type !== "file"; // these are records of their own
const isSimple = (value) => value === null || typeof value !== "object";
const kindOf = ({ type }) => (type === "number" ? "number" : "");
const hintOf = ({ type, target }) => (target ? `${printable(target.field)} of the row` : type === "text" ? "" : type);

function written({ type }, value) {
  if (plain.includes(type) && isSimple(value)) return String(value ?? "");
  if (lists.includes(type) && value?.every((item) => !/[,[]/.test(item))) return value.join(", ");
  if (type === "linked" && isSimple(value?.value?.value ?? {})) return String(value.value.value);
  return value === null ? "" : JSON.stringify(value);
}

function requireNumber(label, words) {
  if (words.trim() !== "" && Number.isFinite(Number(words))) return Number(words);
  throw new Error(`${label} must be a number`); // as JSON it would be null
}

/** The value that a field's text stands for; an empty one clears it. */
async function read({ label, type, target }, words) {
  if (words === "") return null;
  if (type === "number") return requireNumber(label, words);
  if (plain.includes(type)) return words;
  if (!/^\s*[[{]/.test(words)) {
    if (lists.includes(type)) return words.split(",").map((word) => word.trim());
    if (target) return linkTo(target, words);
  }
  try {
    return JSON.parse(words);
  } catch {
    throw new Error(`${label} must be JSON`);
  }
}

/** A link to the only row of a table whose field has a value. */
async function linkTo({ table, field }, words) {
  const filter = JSON.stringify(filterOf(find(table), [field, "equals", words]));
  const { rows } = await ask("rows", { table, filter, limit: 2 });
  const number = ["No row", "", "More than one row"][rows.length];
  if (rows.length !== 1) throw new Error(`${number} of ${nameOf(table)} has the ${field} ${words}`);
  return { crossAppRowID: rows[0]._id, value: { label: field, value: rows[0][field] } };
}

// Conditions of a filter, which all must hold: [label, kind, value].

const kinds = ["contains", "equals", "at least", "at most", "is empty"];

/** A condition as the interface has it. */
function filterOf({ fields }, [label, kind, value]) {
  const type = fields.find((field) => field.label === label)?.type;
  const key = type === "linked" ? `${label}.value.value` : label;
  if (kind === "is empty") return { [label]: null };
  const wanted = type === "number" ? requireNumber(label, value) : value;
  if (kind === "at least") return { [key]: { $gte: wanted } };
  if (kind === "at most") return { [key]: { $lte: wanted } };
  if (kind === "equals" || type === "number") return { [key]: wanted };
  return { [key]: { $regex: value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), $options: "i" } };
}

const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The rows of a table, of the first one without its ID: a page of them, filtered and in an order, as the address names them. */
export function tables({ path: [id = ""], query, keep }) {
  const [labels, given, values] = ["field", "kind", "value"].map((name) => query.getAll(name));
  let place = {
    skip: Number(query.get("skip")),
    sort: query.get("sort") ?? "",
    direction: query.get("direction") === "-1" ? "-1" : "",
    conditions: labels.map((label, at) => [label, given[at] ?? "", values[at] ?? ""]),
  };
  let found = { rows: [], more: false, total: 0, refusal: "" };
  let loads = 0;
  let active = [0, 0];
  let edited; // { row, field, words } of the cell that is written in
  let saving = Promise.resolve();

  const asked = () => {
    const filters = place.conditions.map((condition) => filterOf(find(id), condition));
    const filter = filters.length === 0 ? undefined : JSON.stringify(filters);
    return { table: id, filter, sort: place.sort || undefined, direction: place.direction || undefined };
  };

  async function load() {
    const number = ++loads;
    all = (await ask("tables")).tables;
    id ||= all[0]?.id ?? "";
    if (!find(id)) return;
    try {
      const answer = await ask("rows", { ...asked(), skip: place.skip, limit: perPage });
      if (number !== loads) return; // another page was asked for since
      found = { ...answer, refusal: "" };
      if (answer.rows.length === 0 && place.skip > 0) {
        place.skip = Math.max(0, Math.ceil((answer.total ?? 0) / perPage) - 1) * perPage; // what was here is deleted
        return await load();
      }
      if (!answer.rows.some(({ _id }) => _id === edited?.row._id)) edited = undefined;
    } catch ({ message }) {
      found = { rows: [], more: false, total: 0, refusal: message }; // of a filter, which is there to be changed
    }
  }

  /** Goes to another filter, order or page, as a step that the browser goes back from. */
  function go(changes) {
    place = { ...place, skip: 0, ...changes };
    const { skip, sort, direction, conditions } = place;
    const named = conditions.flatMap(([field, kind, value]) => Object.entries({ field, kind, value }));
    const query = new URLSearchParams(named);
    for (const [name, value] of Object.entries({ sort, direction, skip })) if (value) query.set(name, value);
    keep(query);
    return attempt(load, "");
  }

  function addCondition(event) {
    event.preventDefault();
    const condition = [...new FormData(event.target).values()];
    const [label, kind, value] = condition;
    if (value === "" && kind !== "is empty") return;
    const others = place.conditions.filter((other) => other[0] !== label || other[1] !== kind);
    void go({ conditions: [...others, condition] });
  }

  const focus = (selector) => document.querySelector(selector)?.focus();
  const focusCell = (place) => focus(`[data-at="${place.join()}"]`);

  async function edit([at, column]) {
    const [row, field] = [found.rows[at], find(id).fields[column]];
    await saving;
    if (edited) return void focus("td textarea"); // what stands there was refused: it is there to be changed
    if (!row || !field || !isEditable(field)) return;
    edited = { row, field, words: written(field, valueIn(row, field.label)) };
    page.draw();
    document.querySelector("td textarea").select();
  }

  function endEditing() {
    edited = undefined;
    page.draw();
    if (document.activeElement === document.body) focusCell(active);
  }

  function save(area) {
    const cell = edited;
    if (!cell || area.readOnly) return;
    if (area.value === cell.words.replaceAll(/\r\n?/g, "\n")) return endEditing(); // as browsers unify line breaks
    area.readOnly = true;
    saving = attempt(async () => {
      const rowData = { [cell.field.label]: await read(cell.field, area.value) };
      await send("updatemicroapprow", { microAppID: id, rowID: cell.row._id, rowData });
      await load();
    }, "Saved").then((done) => {
      area.readOnly = false;
      if (done && edited === cell) endEditing();
    });
  }

  const placeOf = ({ target }) => target.closest("[data-at]")?.dataset.at.split(",").map(Number);

  function onKey(event) {
    const { key, target } = event;
    const isEntered = key === "Enter" && !event.shiftKey && !event.isComposing;
    if (target.matches("textarea") && key === "Escape") endEditing();
    else if (target.matches("textarea") && isEntered) save(target);
    else if (target.matches("td") && isEntered) void edit(active);
    else if (target.matches("[data-at]") && Object.hasOwn(moves, key)) {
      focusCell(active.map((part, index) => part + moves[key][index]));
    } else return;
    event.preventDefault();
  }

  function onFocus(event) {
    active = placeOf(event) ?? active;
    page.draw();
  }

  const insert = () => {
    const { name, parent, fields } = find(id);
    const above = { label: `ID of the row of ${printable(nameOf(parent))}` };
    const editable = fields
      .filter(isEditable)
      .map((field) => ({ field, label: printable(field.label), hint: hintOf(field) }));
    const submit = async (values) => {
      const embeddingRowID = parent === null ? undefined : values.shift();
      const entries = editable.map(async ({ field }, at) => [field.label, await read(field, values[at])]);
      const rowData = Object.fromEntries((await Promise.all(entries)).filter(([, value]) => value !== null));
      await send("insertmicroapprow", { microAppID: id, rowData, embeddingRowID });
      await attempt(load, "Inserted the row");
    };
    const controls = parent === null ? editable : [above, ...editable];
    openForm({ title: `New row of ${printable(name)}`, fields: controls, action: "Insert", submit });
  };

  const remove = (row) => {
    const values = find(id).fields.map(({ label }) => shown(valueIn(row, label)));
    const title = `Delete ${values.find(Boolean) ?? "the row"}?`;
    const submit = async () => {
      await send("removemicroapprow", { rowID: row._id });
      await attempt(load, "Deleted the row");
    };
    openForm({ title, action: "Delete", kind: "danger", submit });
  };

  const tabindex = (at, column) => (at === active[0] && column === active[1] ? "0" : "-1");

  function cell(row, at, field, column) {
    const text = shown(valueIn(row, field.label));
    const isEdited = edited?.row._id === row._id && edited.field.label === field.label;
    const editor = () =>
      html`<textarea
        rows="1"
        aria-label=${printable(field.label)}
        title=${hintOf(field)}
        .value=${edited.words}
        @blur=${({ target }) => save(target)}
      ></textarea>`;
    return html`<td
      role="gridcell"
      class=${kindOf(field)}
      tabindex=${tabindex(at, column)}
      data-at="${at},${column}"
      aria-readonly=${isEditable(field) ? "false" : "true"}
      title=${text.length > 20 ? text : nothing}
    >
      ${isEdited ? editor() : text}
    </td>`;
  }

  const rowOf = (fields) => (row, at) =>
    html`<tr role="row">
      ${fields.map((field, column) => cell(row, at, field, column))}
      <td role="gridcell">${code(row._id)}</td>
      <td role="gridcell">
        <button
          type="button"
          class="danger"
          aria-label="Delete row ${place.skip + at + 1}"
          tabindex=${tabindex(at, fields.length)}
          data-at="${at},${fields.length}"
          @click=${() => remove(row)}
        >
          Delete
        </button>
      </td>
    </tr>`;

  function columnHeading({ label, type }) {
    const { sort, direction } = place;
    const order = label !== sort ? nothing : direction === "" ? "ascending" : "descending";
    const turn = () => go({ sort: label, direction: order === "ascending" ? "-1" : "" });
    const mark = { ascending: " ↑", descending: " ↓" }[order] ?? "";
    return html`<th role="columnheader" class=${kindOf({ type })} aria-sort=${order}>
      ${button(`${label === "_id" ? "ID" : printable(label)}${mark}`, turn)}
    </th>`;
  }

  const grid = ({ name, fields }) => html`
    <div class="scroll rows">
      <table
        role="grid"
        aria-label=${printable(name)}
        @keydown=${onKey}
        @focusin=${onFocus}
        @click=${(event) => edit(placeOf(event) ?? [])}
      >
        <thead>
          <tr role="row">
            ${[...fields, { label: "_id" }].map(columnHeading)}
            <th role="columnheader">Row</th>
          </tr>
        </thead>
        <tbody>
          ${repeat(found.rows, ({ _id }) => _id, rowOf(fields))}
        </tbody>
      </table>
      <p class="empty" ?hidden=${found.rows.length > 0}>
        ${found.refusal || (place.conditions.length > 0 ? "No row fits the filter" : "The table has no rows yet")}
      </p>
    </div>
  `;

  const filter = ({ fields }) => html`
    <form class="bar" aria-label="Filter" @submit=${addCondition}>
      <select name="field" aria-label="Field">
        ${[...fields, { label: "_id" }].map(({ label }) => html`<option value=${label}>${printable(label)}</option>`)}
      </select>
      <select name="kind" aria-label="Condition">
        ${kinds.map((kind) => html`<option>${kind}</option>`)}
      </select>
      <input name="value" type="search" aria-label="Value" />
      <button>Filter</button>
      ${place.conditions.map((condition) => {
        const rest = place.conditions.filter((other) => other !== condition);
        return html`<button type="button" class="pill" @click=${() => go({ conditions: rest })}>
          ${printable(condition.join(" "))} <span aria-label="remove">×</span>
        </button>`;
      })}
    </form>
  `;

  return {
    get title() {
      return find(id)?.name ?? "Tables";
    },
    list: () => branch(null, id),
    load,
    content: () => {
      const table = find(id);
      if (id === "") return heading("Tables", { description: "The platform has none: they come from a seed" });
      if (!table) return missing("table", id);
      const description = table.parent === null ? "" : `Each row belongs to a row of ${nameOf(table.parent)}`;
      const { rows, more, total } = found;
      const { skip } = place;
      const words = `Rows ${count(skip + 1)}–${count(skip + rows.length)} of ${count(total)}`;
      return html`
        ${heading(table.name, { id, description, actions: button("New row", insert, "primary") })} ${filter(table)}
        ${grid(table)}
        <div class="bar">
          ${button("Previous page", () => go({ skip: Math.max(0, skip - perPage) }), "", skip === 0)}
          ${button("Next page", () => go({ skip: skip + perPage }), "", !more)}
          <span role="status">${rows.length === 0 ? "No rows" : words}</span>
          <span class="quiet wide end">A click or Enter edits, Enter saves, Esc cancels</span>
        </div>
      `;
    },
  };
}

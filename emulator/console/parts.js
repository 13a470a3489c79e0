import { bounds, dragEdge, widthByKey } from "./columns.js";
import { count, shorten } from "./format.js";
import { html, nothing } from "./lit-html/lit-html.js";
import { copy } from "./notices.js";

/** An ID, shortened; a click copies the whole. */
export const copyable = (id) =>
  id === null || id === undefined || id === ""
    ? ""
    : html`<button type="button" class="id" title="Copy ${id}" @click=${() => copy(id)}>${shorten(id)}</button>`;

/** A short state in a coloured frame: "good", "bad", "busy" or nothing. */
export const pill = (label, mood = "") => html`<span class="pill ${mood}">${label}</span>`;

/** What stands where there is nothing yet. */
export const empty = (title, hint = "") => html`
  <div class="empty">
    <p>${title}</p>
    ${hint === "" ? nothing : html`<p class="quiet">${hint}</p>`}
  </div>
`;

/** The page of an address that leads to nothing. */
export const missing = (what, name, href, label) => html`
  <div class="empty">
    <h1>There is no ${what}</h1>
    <p>The address names <q>${name}</q>, which the platform does not have.</p>
    <p><a href=${href}>${label}</a></p>
  </div>
`;

const isTemplate = (value) => typeof value === "object" && value !== null;

function cell(value, { label, kind = "" }) {
  const number = typeof value === "number";
  const classes = [kind, number ? "number" : "", value === "" ? "blank" : ""].filter(Boolean).join(" ");
  if (number || isTemplate(value)) {
    return html`<td class=${classes} data-label=${label}>${number ? count(value) : value}</td>`;
  }
  const title = value?.length > 8 ? value : nothing;
  return html`<td class=${classes} data-label=${label} title=${title}><span class="line">${value}</span></td>`;
}

function heading(column) {
  const { label, kind = "", sort, onSort } = column;
  if (!onSort) return html`<th scope="col" class=${kind}>${label}</th>`;
  const mark = { ascending: "↑", descending: "↓" }[sort] ?? "";
  return html`<th scope="col" class=${kind} aria-sort=${sort ?? nothing} .style=${widthOf(column)}>
    <button type="button" class="sort" @click=${onSort}>${label}<span aria-hidden="true">${mark}</span></button>
    ${column.onResize ? edge(column) : nothing}
  </th>`;
}

const widthOf = ({ width }) =>
  width === undefined ? "" : `width: ${width}px; min-width: ${width}px; max-width: ${width}px`;

/** The edge of a column: dragged, or moved with the arrow keys when it has the focus. */
function edge({ label, width, onResize, onResized }) {
  const onKey = (event) => {
    const wider = widthByKey(event);
    if (wider === undefined) return;
    event.preventDefault();
    onResize(wider);
    onResized();
  };
  return html`<span
    class="edge"
    role="separator"
    tabindex="0"
    aria-orientation="vertical"
    aria-label="Width of ${label}"
    aria-valuemin=${bounds.min}
    aria-valuemax=${bounds.max}
    aria-valuenow=${width ?? bounds.min}
    aria-valuetext=${width === undefined ? "as wide as its values" : `${width} pixels`}
    @keydown=${onKey}
    @pointerdown=${(event) => dragEdge(event, onResize, onResized)}
  ></span>`;
}

/**
 * A table; on a narrow screen each row is a card. A column is a text or `{ label, kind, sort, onSort, width, onResize,
 * onResized }`; cells are texts, numbers or templates. A column of kind "key" stays in sight.
 */
export function table(caption, columns, rows, whenEmpty = empty("Nothing here yet")) {
  const described = columns.map((column) => (typeof column === "string" ? { label: column } : column));
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${caption}>
      <table class=${columns.length > 8 ? "many" : ""}>
        <caption>
          ${caption}
        </caption>
        <thead>
          <tr>
            ${described.map(heading)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (cells) =>
              html`<tr>
                ${cells.map((value, index) => cell(value, described[index]))}
              </tr>`,
          )}
        </tbody>
      </table>
      ${rows.length === 0 ? whenEmpty : nothing}
    </div>
  `;
}

let fields = 0;

/** Makes an ID for a control and its label, once for each control of a view. */
export const newFieldID = () => `field-${++fields}`;

/** A control with its label; `control` gets the ID. */
export const field = (label, id, control, hint = "") => html`
  <div class="field">
    <label for=${id}>${label}</label>
    ${control} ${hint === "" ? nothing : html`<p class="hint">${hint}</p>`}
  </div>
`;

export const options = (values, chosen = "") =>
  values.map(([value, label = value]) => html`<option value=${value} ?selected=${value === chosen}>${label}</option>`);

/** The heading of a view, with what stands beside and below it. */
export const header = (title, { note = "", actions = nothing } = {}) => html`
  <header class="title">
    <div>
      <h1>${title}</h1>
      ${note === "" ? nothing : html`<p class="quiet">${note}</p>`}
    </div>
    <div class="actions">${actions}</div>
  </header>
`;

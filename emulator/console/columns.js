import { html } from "./lit-html/lit-html.js";

// Columns that a person hid or made wider, by table. They stay in this browser.

const minWidth = 60;
const maxWidth = 800;
const stepWidth = 20;

const nameOf = (tableID) => `columns ${location.pathname} ${tableID}`;

/** The columns of a table as they were left here: hidden labels, and widths in pixels by label. */
export function loadColumns(tableID) {
  const name = nameOf(tableID);
  try {
    const { hidden, widths } = JSON.parse(localStorage.getItem(name));
    return { name, hidden: new Set(hidden), widths: new Map(Object.entries(widths)) };
  } catch {
    return { name, hidden: new Set(), widths: new Map() }; // nothing was left, or something that is no longer read
  }
}

const saveColumns = ({ name, hidden, widths }) =>
  localStorage.setItem(name, JSON.stringify({ hidden: [...hidden], widths: Object.fromEntries(widths) }));

/** A column's width, and what changes it. */
export const resizing = (columns, label, redraw) => ({
  width: columns.widths.get(label),
  onResize: (width) => {
    columns.widths.set(label, width);
    redraw();
  },
  onResized: () => saveColumns(columns),
});

/** A menu of the labels, in which each is shown or hidden. */
export function columnChooser(columns, labels, redraw) {
  const toggle = (label) => () => {
    if (!columns.hidden.delete(label)) columns.hidden.add(label);
    saveColumns(columns);
    redraw();
  };
  return html`
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
}

const within = (width) => Math.round(Math.min(maxWidth, Math.max(minWidth, width)));

/** Bounds of a width, for who reads it aloud. */
export const bounds = { min: minWidth, max: maxWidth };

/** Follows a drag of a column's edge; `resize` gets each width, `end` is called at last. */
export function dragEdge(event, resize, end) {
  const edge = event.currentTarget;
  const begin = edge.closest("th").getBoundingClientRect().width - event.clientX;
  const move = ({ clientX }) => resize(within(begin + clientX));
  event.preventDefault();
  edge.setPointerCapture(event.pointerId);
  edge.addEventListener("pointermove", move);
  const stop = () => {
    edge.removeEventListener("pointermove", move);
    end();
  };
  edge.addEventListener("lostpointercapture", stop, { once: true });
}

/** The width that an arrow key makes of a column's; undefined for other keys. */
export function widthByKey({ key, currentTarget }) {
  const step = { ArrowLeft: -stepWidth, ArrowRight: stepWidth }[key];
  return step && within(currentTarget.closest("th").getBoundingClientRect().width + step);
}

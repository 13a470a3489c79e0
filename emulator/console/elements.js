// Whatever comes from the platform becomes text, never markup: nothing in this folder reads HTML.

/** Makes an element. Attributes that begin with "on" are listeners; children that are no nodes are text. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** A table; cells are nodes, texts or numbers. */
export function table(caption, columns, rows) {
  const cell = (value) => h("td", typeof value === "number" ? { class: "number" } : titled(value), value);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column)))),
      h("tbody", {}, ...rows.map((cells) => h("tr", {}, ...cells.map(cell)))),
    ),
  );
}

const titled = (value) => (typeof value === "string" && value.length > 30 ? { title: value } : {});

/** A value in one line. */
export function text(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && value.value && "crossAppRowID" in value) return text(value.value.value);
  if (typeof value === "object" && typeof value.address?.formattedAddress === "string") {
    return value.address.formattedAddress;
  }
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Everything about something, folded. */
export const whole = (value) =>
  h("details", {}, h("summary", {}, "all"), h("pre", {}, JSON.stringify(value, undefined, 2)));

let fields = 0;

/** A control with its label. */
export function field(label, control) {
  control.id = `field-${++fields}`;
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}

export const choice = (name, options, chosen) =>
  h(
    "select",
    { name },
    ...options.map(([value, label = value]) => h("option", { value, selected: value === chosen }, label)),
  );

export const button = (label, action, attributes = {}) =>
  h("button", { type: "button", onclick: action, ...attributes }, label);

export const time = (milliseconds) => new Date(milliseconds).toISOString().replace("T", " ").slice(0, 19);

import { html, nothing } from "./lit-html/lit-html.js";
import { act } from "./notices.js";
import { field, newFieldID, options } from "./parts.js";

// A filter is a list of conditions, which all must hold, or the interface's own JSON. The address has either.

const kinds = [["contains"], ["equals"], ["at least"], ["at most"], ["is empty"]];
const unset = ["", "contains", ""];

const listIn = (text) => {
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : unset;
  } catch {
    return unset;
  }
};

/** The filter of an address. */
export function readFilter(query) {
  const conditions = query.getAll("where").map(listIn);
  const json = query.get("json");
  return { conditions: conditions.length === 0 ? [unset] : conditions, json: json ?? undefined };
}

/** Writes a filter into an address. */
export function writeFilter({ conditions, json }, query) {
  if (json !== undefined) query.set("json", json);
  else for (const condition of conditions.filter(isSet)) query.append("where", JSON.stringify(condition));
}

const isSet = ([label, kind, value]) => label !== "" && (value !== "" || kind === "is empty");

/** True if a filter leaves rows out. */
export const isFiltering = ({ conditions, json }) => (json === undefined ? conditions.some(isSet) : json.trim() !== "");

/** The filter as the interface has it: text of JSON, undefined for all rows. */
export function filterText({ conditions, json }, fields) {
  if (json !== undefined) return json.trim() === "" ? undefined : requireJSON(json);
  const filters = conditions.filter(isSet).map((condition) => filterOf(fields, condition));
  return filters.length === 0 ? undefined : JSON.stringify(filters);
}

function requireJSON(text) {
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new Error("The filter is no JSON");
  }
}

function requireNumber(label, value) {
  if (Number.isFinite(Number(value))) return Number(value);
  throw new Error(`${label} must be a number`); // as JSON it would be null
}

function filterOf(fields, [label, kind, value]) {
  if (kind === "is empty") return { [label]: null };
  const type = fields.find((field) => field.label === label)?.type;
  const key = type === "linked" ? `${label}.value.value` : label;
  const wanted = type === "number" ? requireNumber(label, value) : value;
  if (kind === "contains" && type !== "number") {
    return { [key]: { $regex: value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), $options: "i" } };
  }
  if (kind === "at least") return { [key]: { $gte: wanted } };
  if (kind === "at most") return { [key]: { $lte: wanted } };
  return { [key]: wanted };
}

const most = 8;

/** IDs of a filter's controls, made once for each view; for more conditions than a form adds where an address has them. */
export const newConditionIDs = ({ conditions }) =>
  Array.from({ length: Math.max(most, conditions.length) }, () => [newFieldID(), newFieldID(), newFieldID()]);

const focusOn = ({ currentTarget }) => currentTarget.focus();

function conditionTemplate([label, kind, value], index, { labels, ids, remove }) {
  const [labelID, kindID, valueID] = ids[index];
  const which = index === 0 ? "" : ` ${index + 1}`;
  return html`
    ${field(
      `Field${which}`,
      labelID,
      html`<select id=${labelID} name="field" .value=${label || labels[0]}>
        ${options(
          labels.map((label) => [label]),
          label,
        )}
      </select>`,
    )}
    ${field(
      `Condition${which}`,
      kindID,
      html`<select id=${kindID} name="condition" .value=${kind}>
        ${options(kinds, kind)}
      </select>`,
    )}
    ${field(`Value${which}`, valueID, html`<input id=${valueID} name="value" type="search" data-key=${index === 0 ? "f" : nothing} aria-keyshortcuts=${index === 0 ? "f" : nothing} .value=${value} @click=${focusOn} />`)}
    ${
      index === 0
        ? nothing
        : html`<button
            type="button"
            class="plain"
            aria-label="Remove condition ${index + 1}"
            @click=${() => remove(index)}
          >
            ×
          </button>`
    }
  `;
}

/** Reads the conditions of a form. */
function conditionsIn(form) {
  const data = new FormData(form);
  const values = data.getAll("value");
  const conditions = data.getAll("condition");
  return data.getAll("field").map((label, at) => [label, conditions[at], values[at]]);
}

/** The form of a filter; `change` gets the filter that it makes, with `apply` when it is to be used. */
export function filterForm(filter, { labels, ids, jsonID, change, filtered, actions, fields }) {
  const { conditions, json } = filter;
  const formOf = ({ target }) => target.closest("form");
  const search = (event) => {
    event.preventDefault();
    if (json === undefined) change({ conditions: conditionsIn(event.target) }, true);
    else change({ conditions, json: new FormData(event.target).get("json") }, true);
  };
  const clear = () => change({ conditions: [unset] }, true);
  const add = (event) => change({ conditions: [...conditionsIn(formOf(event)), unset] }, false);
  const remove = (at) => {
    const form = document.getElementById(ids[at][2]).form;
    change({ conditions: conditionsIn(form).toSpliced(at, 1) }, true);
  };
  const toJSON = (event) =>
    act("", () => {
      const written = filterText({ conditions: conditionsIn(formOf(event)) }, fields) ?? "";
      change({ conditions, json: written }, false);
    });
  return html`
    <form class="toolbar" aria-label="Filter" @submit=${search}>
      ${
        json === undefined
          ? conditions.map((condition, index) => conditionTemplate(condition, index, { labels, ids, remove }))
          : field(
              "Filter as JSON",
              jsonID,
              html`<textarea id=${jsonID} name="json" rows="2" .value=${json}></textarea>`,
              "As optViewFilters of microappdata takes it: an object, or a list of them",
            )
      }
      <button>Filter</button>
      ${
        json === undefined
          ? html`<button type="button" ?hidden=${conditions.length >= ids.length} @click=${add}>Add a condition</button>
              <button type="button" class="plain" @click=${toJSON}>As JSON</button>`
          : html`<button type="button" class="plain" @click=${clear}>As conditions</button>`
      }
      <button type="button" class="plain" ?hidden=${!filtered} @click=${clear}>Clear</button>
      ${actions}
    </form>
  `;
}

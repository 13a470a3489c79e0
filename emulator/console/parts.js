import { html, nothing, render } from "./lit-html/lit-html.js";

/** Address of a place in the console. */
export const link = (...path) => `#${path.map(encodeURIComponent).join("/")}`;

export const count = (number) => number.toLocaleString("en");

// Control characters, and the marks that turn the direction of what stands beside them.
const unseen = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text of others, with the codes of characters that nobody sees. */
export const printable = (text) =>
  String(text).replace(unseen, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const code = (text) => html`<code>${printable(text)}</code>`;

export const button = (label, run, kind = "", isOff = false) =>
  html`<button type="button" class=${kind} ?disabled=${isOff} @click=${run}>${label}</button>`;

/** An entry of the list beside a view. */
export const entry = (href, name, size, isCurrent) =>
  html`<a href=${href} aria-current=${isCurrent ? "page" : nothing}
    ><span>${printable(name)}</span><small>${count(size)}</small></a
  >`;

/** The first line of a view: what it shows, and what may be done with it. */
export const heading = (name, { id, description, actions }) =>
  html`<div class="bar">
    <h1>${printable(name)}</h1>
    ${id === undefined ? nothing : code(id)}
    <span class="quiet" role="status">${printable(description ?? "")}</span>
    <span class="bar end">${actions}</span>
  </div>`;

/** The page of an address that leads to nothing. */
export const missing = (what, name) =>
  heading(`There is no such ${what}`, { description: `The platform has no “${name}”, which the address names` });

const dialog = document.getElementById("dialog");
dialog.addEventListener("close", () => render(nothing, dialog));

/** Asks for values, or whether something is to be done. `submit` gets the values; one may try again where it fails. */
export function openForm({ title, fields = [], action, kind = "primary", submit }) {
  const draw = (isSending, failure) => {
    const controls = fields.map(
      ({ label, value = "", hint = "" }) =>
        html`<label
          >${label}
          <input name="value" value=${value} autocomplete="off" /> ${hint && html`<small>${hint}</small>`}</label
        >`,
    );
    const template = html`<form @submit=${onSubmit}>
      <h2 id="dialog-title">${title}</h2>
      ${controls}
      <p class="bad" role="alert">${failure}</p>
      <div class="bar">
        <span class="end"></span>${button("Cancel", () => dialog.close())}
        <button class=${kind} ?disabled=${isSending}>${action}</button>
      </div>
    </form>`;
    render(template, dialog);
  };
  const onSubmit = (event) => {
    event.preventDefault();
    draw(true, "");
    submit(new FormData(event.target).getAll("value")).then(
      () => dialog.close(),
      ({ message }) => draw(false, message),
    );
  };
  draw(false, "");
  dialog.showModal(); // the first control has the focus: Cancel, where there is nothing to write
}

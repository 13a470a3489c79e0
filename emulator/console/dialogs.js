import { json, text } from "./format.js";
import { html, nothing, render } from "./lit-html/lit-html.js";
import { copyText } from "./notices.js";
import { field, newFieldID, options } from "./parts.js";
import { send } from "./service.js";
import { clientCode } from "./snippets.js";

const dialog = document.getElementById("dialog");

function show(content) {
  render(content, dialog);
  if (!dialog.open) dialog.showModal();
}

const close = () => dialog.close();
dialog.addEventListener("close", () => render(nothing, dialog));

/** Asks before something is lost. The button that has the focus is the harmless one. */
export function confirmed({ title, message, action }) {
  return new Promise((resolve) => {
    let answer = false;
    const accept = () => {
      answer = true;
      close();
    };
    dialog.addEventListener("close", () => resolve(answer), { once: true });
    show(html`
      <h2 id="dialog-title">${title}</h2>
      <p>${message}</p>
      <div class="actions">
        <button type="button" autofocus @click=${close}>Cancel</button>
        <button type="button" class="danger" @click=${accept}>${action}</button>
      </div>
    `);
  });
}

function control({ name, kind, value = "", choices = [], id }) {
  if (kind === "long") return html`<textarea id=${id} name=${name} rows="3" .defaultValue=${value}></textarea>`;
  if (kind === "choice") {
    return html`<select id=${id} name=${name}>
      ${options(choices, value)}
    </select>`;
  }
  return html`<input id=${id} name=${name} value=${value} autocomplete="off" />`;
}

/**
 * Asks for values, shows the call that they make, and sends it; resolves to true once it was answered. `callOf` makes
 * the call of the values by name: undefined while there is nothing to send, an error where a value is wrong.
 */
export function compose({ title, fields = [], action, danger = false, callOf }) {
  return new Promise((resolve) => {
    const controls = fields.map((described) => ({ ...described, id: newFieldID() }));
    let values = Object.fromEntries(fields.map(({ name, value = "" }) => [name, value]));
    let state = { sending: false, failure: "", sent: false };
    const made = () => {
      try {
        return { call: callOf(values), problem: "" };
      } catch (error) {
        return { problem: error.message };
      }
    };
    const change = (changes) => {
      state = { ...state, ...changes };
      draw();
    };
    const read = ({ currentTarget }) => {
      values = Object.fromEntries(new FormData(currentTarget));
      change({ failure: "" });
    };
    const submit = async (event) => {
      event.preventDefault();
      const { call } = made();
      if (!call || state.sending) return;
      change({ sending: true, failure: "" });
      try {
        await send(call);
        state.sent = true;
        close();
      } catch (error) {
        change({ sending: false, failure: error.message });
      }
    };
    const draw = () => {
      const { call, problem } = made();
      show(html`
        <form @input=${read} @submit=${submit}>
          <h2 id="dialog-title">${title}</h2>
          ${controls.map((described) => field(described.label, described.id, control(described), described.hint))}
          <h3>The call</h3>
          <pre tabindex="0" aria-live="polite">${call ? clientCode(call) : problem || "Nothing is changed yet."}</pre>
          <p class="failure" role="alert">${state.failure}</p>
          <div class="actions">
            <button
              type="button"
              class="plain"
              ?disabled=${!call}
              @click=${() => copyText("the line", clientCode(call))}
            >
              Copy as client code
            </button>
            <button type="button" autofocus @click=${close}>Cancel</button>
            <button class=${danger ? "danger" : "primary"} ?disabled=${!call || state.sending}>${action}</button>
          </div>
        </form>
      `);
    };
    dialog.addEventListener("close", () => resolve(state.sent), { once: true });
    draw();
  });
}

/** Shows everything about something: its values by name, and the JSON. An action is `{ label, run, danger }`. */
export function details(title, value, actions = []) {
  const entries = Object.entries(value).filter(([, item]) => text(item) !== "");
  show(html`
    <h2 id="dialog-title">${title}</h2>
    <dl>
      ${entries.map(
        ([name, item]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${text(item)}</dd>
          </div>`,
      )}
    </dl>
    <details>
      <summary>JSON</summary>
      <pre tabindex="0">${json(value)}</pre>
    </details>
    <div class="actions">
      ${actions.map(
        ({ label, run, danger }) =>
          html`<button type="button" class=${danger ? "danger" : ""} @click=${run}>${label}</button>`,
      )}
      <button type="button" autofocus @click=${close}>Close</button>
    </div>
  `);
}

/** Closes the dialog. */
export const closeDialog = () => close();

/** Lists the keys that do something. */
export function shortcutHelp(shortcuts) {
  show(html`
    <h2 id="dialog-title">Keyboard</h2>
    <dl class="keys">
      ${shortcuts.map(
        ([key, meaning]) =>
          html`<div>
            <dt><kbd>${key}</kbd></dt>
            <dd>${meaning}</dd>
          </div>`,
      )}
    </dl>
    <div class="actions"><button type="button" autofocus @click=${close}>Close</button></div>
  `);
}

export const isDialogOpen = () => dialog.open;

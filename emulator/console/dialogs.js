import { html, nothing, render } from "./lit-html/lit-html.js";
import { json, text } from "./format.js";

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

/** Shows everything about something: its values by name, and the JSON. */
export function details(title, value) {
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
    <div class="actions"><button type="button" autofocus @click=${close}>Close</button></div>
  `);
}

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

import { icon } from "./icons.js";
import { html, nothing } from "./lit-html/lit-html.js";
import { currentNotice, notify } from "./notices.js";
import { isWaiting } from "./service.js";
import { themeSwitch } from "./theme.js";
import { tree } from "./tree.js";

let open = false;

/** Closes the side bar where it lies over the page. */
export const closeSide = () => void (open = false);
export const openSide = () => void (open = true);

const title = (name) => name[0].toUpperCase() + name.slice(1);

function notice() {
  const { message, kind } = currentNotice();
  // What reads the page aloud must know the place before something is written there.
  return html`<div class=${message === "" ? "notice silent" : `notice ${kind}`}>
    <span role="status">${message}</span>
    <button type="button" class="plain" aria-label="Dismiss" ?hidden=${message === ""} @click=${() => notify("")}>
      ×
    </button>
  </div>`;
}

/** The page around a view: the side bar with the views and the tree, and the notice. */
export function shell({ views, view, hash, help }, content, redraw) {
  const toggle = () => {
    open = !open;
    redraw();
  };
  const close = ({ key }) => {
    if (key !== "Escape" || !open) return;
    toggle();
    document.getElementById("menu").focus();
  };
  const item = (name) =>
    html`<li>
      <a href="#${name}" aria-current=${name === view ? "page" : nothing}>${icon(name)}${title(name)}</a>
    </li>`;
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <button type="button" id="menu" aria-expanded=${open ? "true" : "false"} aria-controls="side" @click=${toggle}>
        Menu
      </button>
      <strong>Emulator</strong>
    </header>
    <aside id="side" aria-label="Side bar" class=${open ? "side open" : "side"} @keydown=${close}>
      <div class="brand">
        <strong>Emulator</strong>
        <span class="quiet">${location.host}${location.pathname.replace(/\/$/, "")}</span>
      </div>
      <nav class="views" aria-label="Views">
        <ul>
          ${views.map(item)}
        </ul>
      </nav>
      ${tree(hash, redraw)}
      <div class="foot">
        ${themeSwitch()}
        <button
          type="button"
          class="plain"
          aria-keyshortcuts="?"
          title="Keyboard shortcuts"
          aria-label="Keyboard shortcuts"
          @click=${help}
        >
          ?
        </button>
      </div>
    </aside>
    <progress class="waiting" aria-label="Waiting for the emulator" ?hidden=${!isWaiting()}></progress>
    <main id="main" tabindex="-1" aria-busy=${isWaiting() ? "true" : "false"}>${content}</main>
    ${notice()}
  `;
}

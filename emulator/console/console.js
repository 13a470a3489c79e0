import { calls } from "./calls.js";
import { keyed } from "./lit-html/directives/keyed.js";
import { html, nothing, render } from "./lit-html/lit-html.js";
import { button, heading, missing } from "./parts.js";
import { people } from "./people.js";
import { ask, attempt, keepToken, notify, page } from "./service.js";
import { tables } from "./tables.js";

// A view gets the rest of the address, and `keep` for the parameters that it ends in. It has a `title`, `content` and
// perhaps a `list` beside it, may `load` what it shows (at first, and whenever the platform has changed), and may take
// `called` with calls as they come in.
const views = { tables, people, calls };

let current = { name: "", title: "", content: () => nothing };
let visits = 0;
let since = Number.MAX_SAFE_INTEGER;
let isLost = false;

function draw() {
  const { list, content } = current;
  const { notice, isBad, waits } = page;
  const view = (name) =>
    html`<a href="#${name}" aria-current=${name === current.name ? "page" : nothing}
      >${name[0].toUpperCase()}${name.slice(1)}</a
    >`;
  const dismiss = button("Dismiss", () => notify(""));
  const template = html`
    ${button("Skip to the content", () => document.getElementById("main").focus(), "skip")}
    <header>
      <strong>Emulator</strong>
      <nav aria-label="Views">${Object.keys(views).map(view)}</nav>
      <span class="quiet wide end">${location.host}${location.pathname.replace(/\/$/, "")}</span>
    </header>
    ${list ? html`<nav class="list" aria-label="Contents">${list()}</nav>` : nothing}
    <main id="main" tabindex="-1" aria-busy=${waits > 0 ? "true" : "false"}>${keyed(visits, content())}</main>
    <div role="status">${notice && html`<p class="bar notice ${isBad ? "bad" : "good"}">${notice} ${dismiss}</p>`}</div>
  `;
  render(template, document.getElementById("console"));
}

const failed = ({ message }) => ({
  title: "Not available",
  content: () => heading("The console shows nothing", { description: message }),
});

const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % is no code
  }
};

/** Makes the view of an address `#view/ID/ID?parameters`; a question mark in an ID is encoded. */
function viewOf(hash) {
  const [place, ...rest] = hash.split("?");
  const [name, ...path] = (place.slice(1) || "tables").split("/").map(decoded);
  if (!Object.hasOwn(views, name)) return { title: "Not found", content: () => missing("page", name) };
  const keep = (query) => {
    const kept = query.size === 0 ? place : `${place}?${query}`;
    if (kept !== location.hash) history.pushState(null, "", kept);
  };
  return Object.assign(views[name]({ path, query: new URLSearchParams(rest.join("?")), keep }), { name });
}

async function show() {
  keepToken();
  const visit = ++visits;
  let view = viewOf(location.hash);
  await attempt(async () => view.load?.().catch((error) => void (view = { ...failed(error), name: view.name })), "");
  if (visit !== visits) return;
  current = view;
  document.title = `${current.title} – Emulator`;
  draw();
  document.getElementById("main").scrollTo(0, 0);
}

async function follow() {
  const answer = await ask("calls", { since });
  if (isLost) notify("");
  isLost = false;
  if (since === Number.MAX_SAFE_INTEGER) since = answer.last;
  if (answer.calls.length === 0) return;
  since = answer.calls.at(-1).sequence;
  current.called?.(answer.calls);
  if (answer.calls.some(({ mutating }) => mutating)) await current.load?.();
  draw();
}

async function keepFollowing() {
  try {
    if (!document.hidden) await follow();
  } catch ({ message }) {
    isLost = true;
    notify(message, true);
  }
  setTimeout(keepFollowing, 1000);
}

page.draw = draw;
addEventListener("hashchange", show);
await show();
await keepFollowing();

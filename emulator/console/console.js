import { keepInAddress, readAddress } from "./address.js";
import { help, listenForKeys } from "./keys.js";
import { keyed } from "./lit-html/directives/keyed.js";
import { html, nothing, render } from "./lit-html/lit-html.js";
import { loadModel, onCounted } from "./model.js";
import { notify, onNotice } from "./notices.js";
import { missing } from "./parts.js";
import { ask, keepToken, onWaiting } from "./service.js";
import { closeSide, openSide, shell } from "./shell.js";
import { applyTheme } from "./theme.js";
import { apps } from "./views/apps.js";
import { calls } from "./views/calls.js";
import { faults } from "./views/faults.js";
import { files } from "./views/files.js";
import { inboxes } from "./views/inboxes.js";
import { organizations } from "./views/organizations.js";
import { snapshots } from "./views/snapshots.js";
import { tables } from "./views/tables.js";
import { users } from "./views/users.js";

// A view gets the rest of the address, `keep` for the parameters that it ends in, and `redraw`. It has a `title` and a `template`, may `load` what it shows (at
// first and whenever the platform has changed; beside the model, for whose promise it may wait), may take `called` with calls as they come in, and may `end`.
const views = { tables, organizations, users, files, inboxes, apps, calls, faults, snapshots };
const names = Object.keys(views);
const intervalMs = 1000;

const root = document.getElementById("console");
let current = { view: "", hash: "", template: () => nothing };
let visits = 0;
let since = Number.MAX_SAFE_INTEGER;

function draw() {
  const { view, hash, template } = current;
  render(shell({ views: names, view, hash, help }, keyed(visits, template()), draw), root);
}

const notFound = (name) => ({
  title: "Not found",
  template: () => missing("such page", name, "#tables", "All tables"),
});

const failed = (error) => ({
  title: "Not available",
  template: () =>
    html`<div class="empty">
      <h1>The console shows nothing</h1>
      <p>${error.message}</p>
    </div>`,
});

/** Loads a view and the model. A view that loads by itself asks first, and once a model is there does not wait for the new one. */
async function load(view) {
  const loading = Promise.resolve().then(loadModel);
  const loaded = view.load?.(loading);
  if (!loaded || current.view === "") return void (await Promise.all([loading, loaded]));
  loading.then(draw, (error) => notify(error.message, "bad"));
  await loaded;
}

async function show() {
  keepToken();
  const hash = location.hash;
  if (hash === "#main") return;
  const visit = ++visits;
  const { place, path: whole, query } = readAddress(hash);
  const [name, ...path] = whole;
  const chosen = name === "" ? "tables" : name;
  const redraw = () => void (visit === visits && draw());
  const keep = (query) => keepInAddress(place, query);
  const made = Object.hasOwn(views, chosen) ? views[chosen]({ path, query, keep, redraw }) : notFound(chosen);
  const opened = await load(made).then(
    () => made,
    (error) => failed(error),
  );
  if (visit !== visits) return;
  current.end?.();
  current = { ...opened, view: chosen, hash: place };
  document.title = `${current.title} – Emulator`;
  closeSide();
  notify("");
  document.getElementById("main")?.scrollTo(0, 0);
}

async function follow() {
  if (document.hidden) return;
  const answer = await ask("calls", { query: { since } });
  if (since === Number.MAX_SAFE_INTEGER) since = answer.last;
  if (answer.calls.length === 0) return;
  since = answer.calls.at(-1).sequence;
  current.called?.(answer.calls);
  if (answer.calls.some(({ mutating }) => mutating)) await load(current);
  draw();
}

async function keepFollowing() {
  try {
    await follow();
  } catch (error) {
    notify(error.message, "bad");
  }
  setTimeout(keepFollowing, intervalMs);
}

applyTheme();
onNotice(draw);
onWaiting(draw);
onCounted(draw);
addEventListener("hashchange", show);
listenForKeys(names, () => {
  openSide();
  draw();
});
await show();
await keepFollowing();

import { apps } from "./apps.js";
import { calls } from "./calls.js";
import { h } from "./elements.js";
import { faults } from "./faults.js";
import { files } from "./files.js";
import { inboxes } from "./inboxes.js";
import { organizations } from "./organizations.js";
import { ask, keepToken, say } from "./service.js";
import { snapshots } from "./snapshots.js";
import { tables } from "./tables.js";

// A view fills the element that it gets and answers how to bring it up to date: `refresh` after the platform has
// changed, `called` with calls as they come in.
const views = { tables, organizations, files, inboxes, apps, calls, faults, snapshots };
const interval = 1000; // milliseconds

let current = {};
let since = Number.MAX_SAFE_INTEGER;

const main = document.getElementById("main");
const list = document.getElementById("views");
const links = Object.keys(views).map((name) => h("a", { href: `#${name}` }, name[0].toUpperCase() + name.slice(1)));
list.append(...links.map((link) => h("li", {}, link)));

async function show() {
  keepToken();
  const [name = "", ...path] = decodeURIComponent(location.hash.slice(1)).split("/");
  if (name === "main") return;
  const chosen = Object.hasOwn(views, name) ? name : "tables";
  for (const link of links) {
    if (link.getAttribute("href") === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${chosen} – Emulator`;
  say("");
  const root = h("div");
  main.replaceChildren(root);
  try {
    const view = await views[chosen](root, path.join("/"));
    if (root.isConnected) current = view;
  } catch (error) {
    say(error.message, "bad");
  }
}

async function follow() {
  if (document.hidden) return;
  const answer = await ask("calls", { query: { since } });
  if (since === Number.MAX_SAFE_INTEGER) since = answer.last;
  if (answer.calls.length === 0) return;
  since = answer.calls.at(-1).sequence;
  current.called?.(answer.calls);
  if (answer.calls.some(({ mutating }) => mutating)) await current.refresh?.();
}

async function keepFollowing() {
  try {
    await follow();
  } catch (error) {
    say(error.message, "bad");
  }
  setTimeout(keepFollowing, interval);
}

addEventListener("hashchange", show);
document.getElementById("address").textContent = location.href.split("#")[0];
await show();
await keepFollowing();

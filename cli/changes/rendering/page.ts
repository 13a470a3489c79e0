/** Colours have a contrast of 4.5 or more on both grounds. */
export const style = `
:root { color-scheme: light dark; --line: light-dark(#d0d5da, #3a3f47); --head: light-dark(#f3f5f7, #20242b); --ground: light-dark(#fff, #16181d); --text: light-dark(#1b1f24, #e8eaed); --remove: light-dark(#a40e26, #ff9492); --add: light-dark(#0a5a26, #6fdd8b); --change: light-dark(#704a00, #e3b341); --removed: light-dark(#fff0f1, #2d1a1d); --added: light-dark(#eefbf1, #16261b); }
html { background: var(--ground); color: var(--text); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 1rem; }
h1 { margin: 0; }
h3 { margin: 1.5rem 0 .2rem; }
p { margin: .2rem 0; }
table { border-collapse: separate; border-spacing: 0; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; }
thead th { background: var(--head); font-weight: 600; }
td, tbody th, code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
td { min-width: 4rem; max-width: 30rem; }
.grid { overflow: auto; max-height: 80vh; border: 1px solid var(--line); margin: .4rem 0; width: fit-content; max-width: 100%; }
.grid thead th { position: sticky; top: 0; z-index: 1; }
.grid .key { position: sticky; left: 0; background: var(--ground); border-right: 2px solid var(--line); min-width: 5rem; }
.grid thead .key { z-index: 2; background: var(--head); }
.grid tr.remove > * { background: var(--removed); }
.grid tr.add > * { background: var(--added); }
.sign { display: inline-block; width: 1.2em; font-weight: 700; }
.remove .sign, del { color: var(--remove); }
.replace .sign, h3.remove, h3.replace { color: var(--remove); }
.add .sign, ins, h3.add { color: var(--add); }
.change .sign, h3.change { color: var(--change); }
ins { text-decoration: none; font-weight: 600; }
.stop { border-left: .3rem solid var(--remove); padding-left: .7rem; margin: 1rem 0; }
.check { border: 1px solid var(--line); padding: .5rem .9rem; margin: 1rem 0; }
.check ul { list-style: none; padding: 0; }
.check li { display: flex; gap: .5rem; align-items: baseline; }
ul { margin: .3rem 0; }
ul.stop { padding-left: 2rem; }
caption { text-align: left; font-size: .9em; padding: .4rem 0 .1rem; }
form { position: sticky; top: 0; z-index: 3; background: var(--ground); border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .5rem 1.2rem; align-items: baseline; padding: .5rem 0; margin-top: 1rem; }
input[type=search] { font: inherit; min-width: 18rem; padding: .2rem .4rem; }
.pick { position: sticky; bottom: 0; z-index: 3; background: var(--ground); border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .5rem 1.2rem; align-items: baseline; padding: .5rem 0; }
.pick span:last-child { flex: 1; display: flex; gap: .4rem; align-items: baseline; }
.pick input { font: .9em ui-monospace, monospace; flex: 1; min-width: 18rem; padding: .2rem .4rem; }
.key input, h3 input { margin: 0 .5rem 0 0; }
select, button { font: inherit; padding: .2rem .6rem; }
[hidden] { display: none; }
`;

/** Writes the data of the page with textContent alone. A grid has rows up to a number, more on request: all are filtered. */
export const script = `
"use strict";
const view = JSON.parse(document.getElementById("data").textContent);
const words = { remove: "removed", replace: "replaced", change: "changed", add: "added" };
const signs = { remove: "\\u2212", replace: "\\u00b1", change: "~", add: "+" };
const step = 200;
const main = document.getElementById("report");
const make = (name, content, kind) => {
  const element = document.createElement(name);
  if (typeof content === "string") element.textContent = content;
  else if (content) element.append(...content);
  if (kind) element.className = kind;
  return element;
};
const named = (names) => names.length < 2 ? names.join("") : names.slice(0, -1).join(", ") + " and " + names[names.length - 1];
const prefix = (names) => names.length === 0 || view.environments.length === 1 ? "" : named(names) + ": ";
const list = (title, lines, kind, level) => {
  if (lines.length === 0) return;
  main.append(make("div", [make(level || "h2", title), make("ul", lines.map((line) => make("li", prefix(line.environments) + line.text)))], kind));
};
const headed = (names, kinds) => make("thead", [make("tr", names.map((name, at) => {
  const cell = make("th", name, kinds && kinds[at]);
  cell.scope = "col";
  return cell;
}))]);
const line = (first, cells) => {
  const cell = make("th", first);
  cell.scope = "row";
  return make("tr", [cell, ...cells.map((text) => make("td", String(text)))]);
};
const values = (before, after) => before === null || after === null
  ? [before === null ? make("ins", after === null ? "" : after) : make("del", before)]
  : [make("del", before), " \\u2192 ", make("ins", after)];
const only = (change) => change.only.length === 0 ? "" : " in " + named(change.only) + " alone";
const texts = (change) => [change.name, change.where, ...change.fields.flat(), ...change.same.flat()].join("\\n").toLowerCase();
let unique = 0;

const picked = new Set();
const pickOf = (name) => {
  if (view.between.length === 0 || name === null) return "";
  const box = make("input");
  box.type = "checkbox";
  box.checked = picked.has(name);
  box.setAttribute("aria-label", "Pick " + name);
  box.addEventListener("change", () => { if (box.checked) picked.add(name); else picked.delete(name); writeCommand(); });
  return box;
};

const tables = [];
const addTable = (box, changes, className, head, lineOf, title) => {
  const body = make("tbody");
  const table = make("table", [head, body]);
  const more = make("button", "");
  more.type = "button";
  const around = make("div", [table], className);
  around.tabIndex = 0;
  around.setAttribute("role", "region");
  around.setAttribute("aria-label", title);
  box.append(around, more);
  const entry = { changes, texts: changes.map(texts), most: step, shown: changes.length };
  entry.draw = (wanted, op) => {
    const found = [];
    for (let at = 0; at < changes.length; at++) {
      if ((op === "" || changes[at].op === op) && (wanted === "" || entry.texts[at].includes(wanted))) found.push(changes[at]);
    }
    entry.shown = found.length;
    body.replaceChildren(...found.slice(0, entry.most).map(lineOf));
    const left = found.length - entry.most;
    more.hidden = left <= 0;
    more.textContent = "Show " + Math.min(left, 1000) + " more of " + found.length;
    around.hidden = found.length === 0;
    return found.length;
  };
  more.addEventListener("click", () => { entry.most += 1000; apply(); });
  tables.push(entry);
  return entry;
};

const grid = (box, thing) => {
  let open = false;
  const columns = () => thing.columns.filter((label) => open || !thing.folded.includes(label));
  const headOf = () => headed(["Row", "Change", ...columns(), "Where"], ["key"]);
  const lineOf = (change) => {
    const key = make("th", [pickOf(change.pick), make("span", signs[change.op], "sign"), change.name], "key");
    key.scope = "row";
    const cells = new Map([...change.same, ...change.fields.map(([label, before, after]) => [label, values(before, after)])]);
    const what = words[change.op] + only(change) + (change.accepted ? ", accepted: " + change.accepted : "");
    return make("tr", [key, make("td", what), ...columns().map((label) => make("td", cells.get(label) || "")), make("td", change.where)], change.op);
  };
  let fold;
  if (thing.folded.length > 0) {
    fold = make("button", "");
    fold.type = "button";
    box.append(fold);
  }
  const entry = addTable(box, thing.rows, "grid", headOf(), lineOf, "Rows of " + thing.name);
  const table = box.lastElementChild.previousElementSibling.firstElementChild;
  const label = () => {
    fold.textContent = (open ? "Fold " : "Show ") + thing.folded.length + (thing.folded.length === 1 ? " unchanged column" : " unchanged columns");
    fold.setAttribute("aria-expanded", String(open));
  };
  if (fold) {
    label();
    fold.addEventListener("click", () => { open = !open; label(); table.tHead.replaceWith(headOf()); apply(); });
  }
  return entry;
};

const others = (box, thing) => addTable(box, thing.others, "grid", headed(["Name", "Change", "Kind", "Before \\u2192 after", "Where"], ["key"]), (change) => {
  const key = make("th", [pickOf(change.pick), make("span", signs[change.op], "sign"), change.name], "key");
  key.scope = "row";
  const shown = change.fields.map(([label, before, after]) => make("div", [change.kind === "setting" ? "" : label + " ", ...values(before, after)]));
  return make("tr", [key, make("td", words[change.op] + only(change) + (change.accepted ? ", accepted: " + change.accepted : "")), make("td", change.kind), make("td", shown), make("td", change.where)], change.op);
}, "Settings and people of " + thing.name);

const things = [];
const showThing = (thing, parent) => {
  const box = make("section", [make("h3", [pickOf(thing.pick), make("span", signs[thing.op], "sign"), thing.kind + " " + thing.name], thing.op)]);
  for (const head of thing.heads) {
    box.append(make("p", prefix(head.environments) + head.text + (head.where === "" ? "" : " \\u2014 " + head.where)));
    if (head.guards.length > 0) box.append(make("ul", head.guards.map((text) => make("li", "A run would refuse it: " + text)), "stop"));
    if (head.notes.length > 0) box.append(make("ul", head.notes.map((text) => make("li", text))));
  }
  const entries = [];
  if (thing.others.length > 0) entries.push(others(box, thing));
  if (thing.rows.length > 0) entries.push(grid(box, thing));
  if (thing.omitted > 0) box.append(make("p", thing.omitted + " more are counted and not listed."));
  parent.append(box);
  things.push({ box, entries, text: (thing.kind + " " + thing.name).toLowerCase(), op: thing.op });
};

const titles = { report: "What this change does", drift: "What was changed by hand", events: "What an update does", changes: "What differs" };
document.getElementById("title").textContent = titles[view.kind];
if (view.base) main.append(make("p", "Compared with " + view.base.ref + " (" + view.base.commit.slice(0, 12) + ")" + (view.base.behind ? ", of which the branch lacks " + view.base.behind + " commits" : "") + "."));
const matrix = make("tbody", view.environments.map((each) => line(each.name, [...each.counts, each.pending, each.stops === 0 ? "" : each.stops])));
main.append(make("table", [make("caption", "Counts: \\u2212 removed, ~ changed, + added"), headed(["Environment", "Things", "People", "Rows", "Pending", "Stops"]), matrix], "matrix"));
list("What stops it", view.stops, "stop");
if (view.checks.length > 0) {
  const items = view.checks.map((item) => {
    const box = make("input");
    box.type = "checkbox";
    box.id = "check" + ++unique;
    const label = make("label", [make("strong", item.lead), ": " + prefix(item.environments) + item.names.join(", ")]);
    label.htmlFor = box.id;
    return make("li", [box, label]);
  });
  main.append(make("div", [make("h2", "Look at these before you approve"), make("ul", items)], "check"));
}
list("Notes", view.notes);
const form = document.getElementById("find");
main.append(form);
for (const { title, things: shown } of view.sections) {
  const box = make("section", [make("h2", title)]);
  if (shown.length === 0) box.append(make("p", "Nothing."));
  for (const thing of shown) showThing(thing, box);
  main.append(box);
}
const sides = view.between.map((_, at) => at < 2 ? make("select", view.between.map((name) => make("option", name))) : null).filter((each) => each !== null);
const command = make("input");
const quoted = (name) => /^[\\w@.,\\/+-]+$/.test(name) ? name : "'" + name.replaceAll("'", "'\\\\''") + "'";
const writeCommand = () => {
  if (sides.length === 0) return;
  const [from, to] = sides.map((side) => side.value);
  const names = [...picked].filter((name) => ![...picked].some((other) => name.startsWith(other + "/")));
  command.value = names.length === 0 ? "" : from === to ? "Choose two environments" : "microapps promote " + from + " " + to + " --only " + names.map(quoted).join(" ");
};
if (sides.length > 0) {
  const [from, to] = sides;
  to.selectedIndex = 1;
  command.readOnly = true;
  command.placeholder = "Tick rows, people or things: the command stands here";
  command.addEventListener("focus", () => command.select());
  const labelled = (text, field) => {
    const label = make("label", text);
    field.id = label.htmlFor = "field" + ++unique;
    return make("span", [label, " ", field]);
  };
  for (const side of sides) side.addEventListener("change", writeCommand);
  main.append(make("div", [labelled("Promote from", from), labelled("to", to), labelled("Command", command)], "pick"));
}
const count = document.getElementById("count");
const filter = document.getElementById("filter");
const kind = document.getElementById("op");
const apply = () => {
  const wanted = filter.value.toLowerCase();
  const op = kind.value;
  let shown = 0;
  for (const each of things) {
    const isNamed = wanted !== "" && each.text.includes(wanted);
    let own = 0;
    for (const entry of each.entries) own += entry.draw(isNamed ? "" : wanted, op);
    shown += own;
    const isMatch = (wanted === "" || isNamed) && (op === "" || each.op === op);
    each.box.hidden = own === 0 && !isMatch;
  }
  const all = tables.reduce((sum, { changes }) => sum + changes.length, 0);
  count.textContent = wanted === "" && op === "" ? all + " changes listed" : shown + " of " + all + " changes listed";
};
filter.addEventListener("input", apply);
kind.addEventListener("change", apply);
form.addEventListener("submit", (event) => event.preventDefault());
apply();
`;

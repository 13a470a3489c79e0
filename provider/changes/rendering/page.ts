/** Colours have a contrast of 4.5 or more on both grounds. */
export const style = `
:root { color-scheme: light dark; --line: #8886; --remove: light-dark(#a40e26, #ff9492); --add: light-dark(#0a5a26, #6fdd8b); --change: light-dark(#704a00, #e3b341); }
html { background: light-dark(#fff, #16181d); color: light-dark(#1b1f24, #e8eaed); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; padding: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
code, td { font-family: ui-monospace, monospace; font-size: .9em; }
.remove, .replace { color: var(--remove); }
.add { color: var(--add); }
.change { color: var(--change); }
.stop { border-left: .3rem solid var(--remove); padding-left: .7rem; }
section > section { margin: 0 0 1.5rem; content-visibility: auto; }
input { font: inherit; min-width: 20rem; padding: .2rem .4rem; }
[hidden] { display: none; }
`;

/** Writes the data of the page with textContent alone. */
export const script = `
"use strict";
const set = JSON.parse(document.getElementById("data").textContent);
const make = (name, text, kind) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
};
const words = { remove: "removed", replace: "replaced", change: "changed", add: "added" };
const text = (value) => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
const list = (title, lines, kind) => {
  const box = make("div", undefined, kind);
  box.append(make("p", title));
  const items = make("ul");
  for (const line of lines) items.append(make("li", line));
  box.append(items);
  return box;
};
const noted = ({ text, place }) => place === undefined ? text : place + ": " + text;
const tallied = (what, tally) => tally ? [["removed", tally.remove], ["changed", tally.change], ["added", tally.add]].filter(([, count]) => count > 0).map(([how, count]) => count + " " + what + " " + how) : [];
const rows = [];
const table = (thing) => {
  const whole = make("table");
  const head = make("tr");
  for (const name of ["", "what", "name", "label", "before", "after", "where"]) {
    const cell = make(name === "" ? "td" : "th", name);
    if (name !== "") cell.scope = "col";
    head.append(cell);
  }
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const { kind, op, name, fields, place, accepted } of thing.changes) {
    const lines = (fields.length === 0 ? [{ name: "" }] : fields).map((field, index) => {
      const line = make("tr", undefined, op);
      for (const value of [index === 0 ? words[op] : "", index === 0 ? kind : "", index === 0 ? name + (accepted ? " (accepted: " + accepted + ")" : "") : "", kind === "setting" ? "" : field.name, text(field.before), text(field.after), index === 0 ? place || "" : ""]) line.append(make("td", value));
      body.append(line);
      return line;
    });
    rows.push({ lines, text: [name, kind, ...fields.flatMap((field) => [field.name, text(field.before), text(field.after)])].join("\\n").toLowerCase() });
  }
  whole.append(top, body);
  return whole;
};
const show = (title, part, parent) => {
  const box = make("section");
  box.append(make("h3", title));
  if (part.why) box.append(make("p", (part.compared ? "Not whole: " : "Not compared: ") + part.why));
  if (part.calls !== undefined) box.append(make("p", "About " + part.calls + " calls."));
  if (part.compared && part.things.length === 0) box.append(make("p", "Nothing."));
  for (const thing of part.things) {
    const one = make("section");
    const heading = make("h4", thing.kind + " " + thing.name + " " + words[thing.op], thing.op);
    one.append(heading);
    const counts = [...tallied("people", thing.people), ...tallied("rows", thing.rows)].join(", ");
    const told = [counts, thing.formerly === undefined ? "" : "formerly " + thing.formerly, thing.place || "", thing.accepted ? "accepted: " + thing.accepted : ""].filter(Boolean);
    if (told.length > 0) one.append(make("p", told.join("; ")));
    if (thing.guards.length > 0) one.append(list("A run would refuse it", thing.guards, "stop"));
    if (thing.notes.length > 0) one.append(list("Note", thing.notes));
    if (thing.changes.length > 0) one.append(table(thing));
    if (thing.omitted > 0) one.append(make("p", thing.omitted + " more are counted and not listed."));
    box.append(one);
  }
  parent.append(box);
};
const titles = { report: "What this change does", drift: "What was changed by hand", events: "What an update does" };
document.getElementById("title").textContent = titles[set.kind];
const main = document.getElementById("report");
if (set.base) main.append(make("p", "Compared with " + set.base.ref + " (" + set.base.commit.slice(0, 12) + ")" + (set.base.behind ? ", of which the branch lacks " + set.base.behind + " commits" : "") + "."));
if (set.flags.length > 0) main.append(list("Look at these", set.flags.map(noted), "stop"));
for (const environment of set.environments) {
  const box = make("section");
  box.append(make("h2", environment.name));
  if (environment.stops.length > 0) box.append(list("What stops it", environment.stops, "stop"));
  if (environment.flags.length > 0) box.append(list("Look at these", environment.flags.map(noted), "stop"));
  if (environment.notes.length > 0) box.append(list("Note", environment.notes));
  show(set.kind === "report" ? "This change" : "Changes", environment.change, box);
  if (environment.pending) show("Pending", environment.pending, box);
  main.append(box);
}
const count = document.getElementById("count");
const filter = document.getElementById("filter");
const apply = () => {
  const wanted = filter.value.toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const hide = wanted !== "" && !row.text.includes(wanted);
    if (!hide) shown++;
    for (const line of row.lines) line.hidden = hide;
  }
  count.textContent = wanted === "" ? rows.length + " changes listed" : shown + " of " + rows.length + " changes listed";
};
filter.addEventListener("input", apply);
apply();
`;

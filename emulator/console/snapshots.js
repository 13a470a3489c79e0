import { button, field, h, table, whole } from "./elements.js";
import { act, ask } from "./service.js";

/** The platform as it was: saved, compared, loaded; back to the beginning; the clock. */
export async function snapshots(root) {
  const name = h("input", { name: "name", required: true, pattern: "[\\w.\\-]{1,60}", size: 20 });
  const seconds = h("input", { name: "seconds", type: "number", min: 0, step: "any", value: 60, size: 8 });
  const form = h(
    "form",
    { onsubmit: save, "aria-label": "Save" },
    field("Name", name),
    h("button", {}, "Save snapshot"),
  );
  const list = h("div");
  const compared = h("div", { "aria-live": "polite" });
  const path = (name) => `snapshots/${encodeURIComponent(name)}`;

  async function save(event) {
    event.preventDefault();
    await change(`Saved ${name.value}`, () => ask(path(name.value), { method: "PUT" }));
  }
  const change = (done, work) =>
    act(done, async () => {
      await work();
      await refresh();
    });
  const reset = (to) => () => {
    if (confirm(`Put the platform back to ${to === "seed" ? "its seed" : "nothing"}?`)) {
      void change("The platform is back at its beginning", () => ask("reset", { method: "POST", query: { to } }));
    }
  };
  const compare = (name) => async () => {
    const { differences } = await ask(path(name));
    const cells = ({ table, added, removed, changed }) => [
      table,
      added.length,
      removed.length,
      changed.length,
      whole({ added, removed, changed }),
    ];
    const caption = differences.length === 0 ? `Nothing has changed since ${name}` : `Changed since ${name}`;
    compared.replaceChildren(table(caption, ["Table", "Added", "Removed", "Changed", ""], differences.map(cells)));
  };
  const advance = () => ask("clock", { method: "POST", query: { advance: Number(seconds.value) * 1000 } });

  async function refresh() {
    const { snapshots } = await ask("snapshots");
    const buttons = (name) =>
      h(
        "span",
        { class: "row" },
        button("Load", () => change(`Loaded ${name}`, () => ask(path(name), { method: "POST" }))),
        button("Compare with now", compare(name)),
        button("Delete", () => change(`Deleted ${name}`, () => ask(path(name), { method: "DELETE" }))),
      );
    list.replaceChildren(
      table(
        "Snapshots",
        ["Name", ""],
        snapshots.map((name) => [name, buttons(name)]),
      ),
    );
  }

  root.append(
    h("h2", {}, "Snapshots"),
    form,
    list,
    compared,
    h("h3", {}, "Beginning"),
    h("p", { class: "row" }, button("Reset to the seed", reset("seed")), button("Reset to nothing", reset("empty"))),
    h("h3", {}, "Clock"),
    h(
      "p",
      { class: "row" },
      field("Seconds", seconds),
      button("Put forward", () => act("The clock was put forward", advance)),
    ),
  );
  await refresh();
  return { refresh };
}

import { confirmed, details } from "../dialogs.js";
import { plural } from "../format.js";
import { html, nothing } from "../lit-html/lit-html.js";
import { loadModel } from "../model.js";
import { act } from "../notices.js";
import { empty, field, header, newFieldID, table } from "../parts.js";
import { ask } from "../service.js";

const number = (label) => ({ label, kind: "number" });
const pathOf = (name) => `snapshots/${encodeURIComponent(name)}`;

/** The platform as it was: saved, compared, loaded; back to the beginning; the clock. */
export function snapshots({ redraw }) {
  const ids = { name: newFieldID(), seconds: newFieldID() };
  let names = [];
  let compared;

  const load = async () => void (names = (await ask("snapshots")).snapshots);
  const change = (done, work) =>
    act(done, async () => {
      await work();
      compared = undefined;
      await Promise.all([load(), loadModel()]);
    });
  const save = (event) => {
    event.preventDefault();
    const { name } = Object.fromEntries(new FormData(event.target));
    void change(`Saved ${name}`, () => ask(pathOf(name), { method: "PUT" }));
  };
  const asking = (question, done, work) => async () => {
    if (await confirmed(question)) await change(done, work);
  };
  const loadSnapshot = (name) =>
    asking(
      {
        title: `Load ${name}?`,
        message: "What the platform has now is lost, unless a snapshot has it.",
        action: "Load",
      },
      `Loaded ${name}`,
      () => ask(pathOf(name), { method: "POST" }),
    );
  const remove = (name) =>
    asking(
      { title: `Delete ${name}?`, message: "The snapshot can't be brought back.", action: "Delete" },
      `Deleted ${name}`,
      () => ask(pathOf(name), { method: "DELETE" }),
    );
  const reset = (to) =>
    asking(
      {
        title: `Put the platform back to ${to === "seed" ? "its seed" : "nothing"}?`,
        message: "Rows, organizations, apps, sessions and the call log are lost. Snapshots stay.",
        action: "Reset",
      },
      "The platform is back at its beginning",
      () => ask("reset", { method: "POST", query: { to } }),
    );
  const compare = (name) => () =>
    act("", async () => {
      compared = { name, differences: (await ask(pathOf(name))).differences };
      redraw();
    });
  const advance = (event) => {
    event.preventDefault();
    const { seconds } = Object.fromEntries(new FormData(event.target));
    void act("The clock was put forward", () =>
      ask("clock", { method: "POST", query: { advance: Number(seconds) * 1000 } }),
    );
  };

  const cells = (name) => [
    name,
    html`<span class="actions">
      <button type="button" @click=${compare(name)}>Compare with now</button>
      <button type="button" class="danger" @click=${loadSnapshot(name)}>Load</button>
      <button type="button" class="danger" @click=${remove(name)}>Delete</button>
    </span>`,
  ];
  const differences = ({ name, differences }) =>
    table(
      differences.length === 0 ? `Nothing has changed since ${name}` : `Changed since ${name}`,
      ["Table", number("Added"), number("Removed"), number("Changed"), { label: "Details", kind: "last" }],
      differences.map(({ table, added, removed, changed }) => [
        table,
        added.length,
        removed.length,
        changed.length,
        html`<button
          type="button"
          class="plain"
          @click=${() => details(`${table} since ${name}`, { added, removed, changed })}
        >
          Open
        </button>`,
      ]),
      empty("The platform is as it was then"),
    );

  return {
    title: "Snapshots",
    load,
    template: () => html`
      ${header("Snapshots")}
      <form class="toolbar" aria-label="Save" @submit=${save}>
        ${field("Name", ids.name, html`<input id=${ids.name} name="name" required pattern="[\\w.\\-]{1,60}" data-key="f" title="Letters, digits, dots, hyphens and underscores" />`)}
        <button class="primary">Save snapshot</button>
      </form>
      ${table(plural(names.length, "snapshot"), ["Name", { label: "Actions", kind: "last" }], names.map(cells), empty("No snapshot is saved"))}
      <div aria-live="polite">${compared === undefined ? nothing : differences(compared)}</div>
      <h2>Clock</h2>
      <form class="toolbar" aria-label="Clock" @submit=${advance}>
        ${field("Seconds", ids.seconds, html`<input id=${ids.seconds} name="seconds" type="number" min="0" step="any" value="60" />`)}
        <button>Put forward</button>
      </form>
      <p class="quiet">Generations end and tokens expire without waiting.</p>
      <section class="zone" aria-labelledby="beginning">
        <h2 id="beginning">Beginning</h2>
        <p>Everything but the snapshots is lost.</p>
        <div class="actions">
          <button type="button" class="danger" @click=${reset("seed")}>Reset to the seed</button>
          <button type="button" class="danger" @click=${reset("empty")}>Reset to nothing</button>
        </div>
      </section>
    `,
  };
}

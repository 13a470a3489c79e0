import { button, choice, field, h, table, whole } from "./elements.js";
import { act, ask } from "./service.js";

const kinds = ["status", "reset", "timeout", "brokenJSON", "errorInside", "expiredToken", "slow", "defaultLimit"];
const number = (label, name, attributes = {}) =>
  field(label, h("input", { name, type: "number", min: 0, size: 6, ...attributes }));

/** What goes wrong on purpose. */
export async function faults(root) {
  const { endpoints } = await ask("platform");
  const place = h("div");
  const form = h(
    "form",
    { onsubmit: add, "aria-label": "New fault" },
    field(
      "Kind",
      choice(
        "kind",
        kinds.map((kind) => [kind]),
      ),
    ),
    field("Endpoint", choice("endpoint", [["", "all"], ...endpoints.map((name) => [name])])),
    number("Status", "status", { min: 400, max: 599 }),
    number("Retry after, seconds", "retryAfter"),
    number("Milliseconds", "milliseconds"),
    number("Limit, rows", "limit", { min: 1 }),
    number("Calls that pass", "after"),
    number("Calls that are hit", "count", { min: 1 }),
    number("Probability", "probability", { max: 1, step: "any" }),
    h("label", { class: "check" }, h("input", { name: "commit", type: "checkbox" }), "carry the call out first"),
    h("button", {}, "Add fault"),
  );
  root.append(h("h2", {}, "Faults"), form, place);

  async function add(event) {
    event.preventDefault();
    const { kind, endpoint, commit, ...numbers } = Object.fromEntries(new FormData(form));
    const given = Object.entries(numbers).filter(([, value]) => value !== "");
    const fault = {
      kind,
      ...(endpoint === "" ? {} : { endpoint }),
      ...(commit ? { commit: true } : {}),
      ...Object.fromEntries(given.map(([name, value]) => [name, Number(value)])),
    };
    await act("The fault is played from now on", async () => {
      const { faults } = await ask("faults");
      const kept = faults.map(({ hit, ...rest }) => rest);
      await ask("faults", { method: "PUT", body: { faults: [...kept, fault] } });
      await refresh();
    });
  }

  async function refresh() {
    const { faults } = await ask("faults");
    const cells = ({ hit, ...fault }) => [fault.kind, [fault.endpoint ?? "all"].flat().join(", "), hit, whole(fault)];
    const clear = () =>
      act("All goes well again", async () => {
        await ask("faults", { method: "DELETE" });
        await refresh();
      });
    place.replaceChildren(
      table("Faults that are played", ["Kind", "Endpoint", "Calls hit", ""], faults.map(cells)),
      h("p", { class: "row" }, button("Remove all faults", clear, { disabled: faults.length === 0 })),
    );
  }
  await refresh();
  return { refresh, called: refresh };
}

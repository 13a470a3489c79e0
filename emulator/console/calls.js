import { choice, field, h, text, time, whole } from "./elements.js";
import { ask } from "./service.js";

const shown = 200;
const columns = ["#", "Time", "Endpoint", "Effect", "Status", "User", "Said", "Fault", ""];

/** The call log, which grows while one looks. */
export async function calls(root) {
  const { last } = await ask("calls", { query: { since: Number.MAX_SAFE_INTEGER } });
  const kind = choice("kind", [
    ["", "all calls"],
    ["changes", "those that change something"],
    ["failures", "failures"],
  ]);
  const body = h("tbody");
  let known = [];
  const wanted = ({ mutating, status }) => kind.value === "" || (kind.value === "changes" ? mutating : status !== 200);
  const row = (call) => {
    const { sequence, time: at, endpoint, effect, status, userID, failure, fault } = call;
    const cells = [sequence, time(at), endpoint, effect, status, userID, failure, fault];
    const mood = status === 200 ? "good" : "bad";
    return h(
      "tr",
      {},
      ...cells.map((value, index) => h("td", index === 4 ? { class: mood } : {}, text(value))),
      h("td", {}, whole(call.request)),
    );
  };
  const draw = () => body.replaceChildren(...known.filter(wanted).map(row));
  const called = (calls) => {
    known = [...calls.toReversed(), ...known].slice(0, shown);
    if (kind.value !== "") draw();
    else {
      body.prepend(...calls.toReversed().slice(0, shown).map(row));
      while (body.rows.length > shown) body.lastChild.remove();
    }
  };
  kind.addEventListener("change", draw);
  called((await ask("calls", { query: { since: Math.max(0, last - shown) } })).calls);
  root.append(
    h("h2", {}, "Calls"),
    h("div", { class: "row" }, field("Show", kind)),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Calls" },
      h(
        "table",
        {},
        h("caption", {}, `The last ${shown} calls, the newest first`),
        h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column)))),
        body,
      ),
    ),
  );
  return { called };
}

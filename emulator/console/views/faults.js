import { confirmed } from "../dialogs.js";
import { count, plural } from "../format.js";
import { html, nothing } from "../lit-html/lit-html.js";
import { act, notify } from "../notices.js";
import { empty, field, header, newFieldID, options, table } from "../parts.js";
import { ask } from "../service.js";

// Each kind with what it does and the parameters that it takes.
const kinds = {
  status: ["Answers with an HTTP status.", ["status", "retryAfter", "commit"]],
  reset: ["Drops the connection.", ["commit"]],
  timeout: ["Never answers.", ["commit"]],
  brokenJSON: ["Carries the call out and ends the answer in its middle.", []],
  errorInside: ["Answers HTTP 200 with a failure in it.", ["commit"]],
  expiredToken: ["Ends the caller's session before the call.", []],
  slow: ["Waits before the call.", ["milliseconds"]],
  defaultLimit: ["Limits how many rows a read answers when it names no limit.", ["limit"]],
  keepsPart: ["Keeps a part of what a write brings, and answers as if it had kept all.", ["rows"]],
  otherForms: ["Reads values of rows back in another form.", []],
  late: ["Does not find what was just made.", ["milliseconds"]],
};
const parameters = {
  status: ["Status", { min: 400, max: 599, placeholder: "500" }],
  retryAfter: ["Retry after, seconds", { min: 0, placeholder: "none" }],
  milliseconds: ["Milliseconds", { min: 0, placeholder: "1000" }],
  limit: ["Rows", { min: 1, placeholder: "1" }],
  rows: ["Rows that are kept", { min: 0, placeholder: "0" }],
};
const selection = {
  after: ["Calls that pass first", { min: 0, placeholder: "0" }],
  count: ["Calls that are hit", { min: 1, placeholder: "all" }],
  probability: ["Probability", { min: 0, max: 1, step: "any", placeholder: "1" }],
};

const numberOf = ({ hit, ...fault }) => fault;

/** What goes wrong on purpose. */
export function faults({ redraw }) {
  let played = [];
  let endpoints = [];
  let kind = "status";
  const ids = Object.fromEntries(
    ["kind", "endpoint", ...Object.keys({ ...parameters, ...selection })].map((name) => [name, newFieldID()]),
  );

  async function load() {
    if (endpoints.length === 0) endpoints = (await ask("platform")).endpoints;
    played = (await ask("faults")).faults;
  }
  const put = async (faults) => {
    await ask("faults", { method: "PUT", body: { faults } });
    await load();
  };
  const add = (event) => {
    event.preventDefault();
    const { endpoint, commit, ...rest } = Object.fromEntries(new FormData(event.target));
    const numbers = Object.entries(rest).filter(([name, value]) => name !== "kind" && value !== "");
    const fault = {
      kind,
      ...(endpoint === "" ? {} : { endpoint }),
      ...(commit ? { commit: true } : {}),
      ...Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)])),
    };
    void act("The fault is played from now on", () => put([...played.map(numberOf), fault]));
  };
  const remove = (index) => () => act("The fault is removed", () => put(played.toSpliced(index, 1).map(numberOf)));
  const removeAll = async () => {
    const message = "Calls are answered as they should be, and the counts of calls that were hit are gone.";
    if (!(await confirmed({ title: "Remove all faults?", message, action: "Remove all" }))) return;
    await act("All faults are removed", async () => {
      await ask("faults", { method: "DELETE" });
      await load();
    });
  };

  const number = ([name, [label, { min, max, step = 1, placeholder }]]) =>
    field(
      label,
      ids[name],
      html`<input
        id=${ids[name]}
        name=${name}
        type="number"
        min=${min}
        max=${max ?? nothing}
        step=${step}
        placeholder=${placeholder}
      />`,
    );
  const form = () => {
    const [meaning, taken] = kinds[kind];
    return html`
      <form class="panel" aria-label="New fault" @submit=${add}>
        <div class="toolbar">
          ${field(
            "Kind",
            ids.kind,
            html`<select
              id=${ids.kind}
              name="kind"
              data-key="f"
              @change=${({ target }) => {
                kind = target.value;
                redraw();
              }}
            >
              ${options(
                Object.keys(kinds).map((name) => [name]),
                kind,
              )}
            </select>`,
          )}
          ${field(
            "Endpoint",
            ids.endpoint,
            html`<select id=${ids.endpoint} name="endpoint">
              ${options([["", "all endpoints"], ...endpoints.map((name) => [name])])}
            </select>`,
          )}
          ${Object.entries(parameters)
            .filter(([name]) => taken.includes(name))
            .map(number)}
        </div>
        <p class="quiet">${meaning}</p>
        ${taken.includes("commit") ? html`<label class="check"><input name="commit" type="checkbox" /> Carry the call out first</label>` : nothing}
        <fieldset class="toolbar">
          <legend>Which calls</legend>
          ${Object.entries(selection).map(number)}
        </fieldset>
        <button class="primary">Add fault</button>
      </form>
    `;
  };
  const describe = ({ kind, endpoint, hit, ...rest }) =>
    Object.entries(rest)
      .map(([name, value]) => (value === true ? name : `${name} ${typeof value === "number" ? count(value) : value}`))
      .join(", ");
  const cells = (fault, index) => [
    fault.kind,
    [fault.endpoint ?? "all endpoints"].flat().join(", "),
    describe(fault),
    fault.hit,
    html`<button type="button" class="plain" aria-label="Remove fault ${index + 1}" @click=${remove(index)}>
      Remove
    </button>`,
  ];

  return {
    title: "Faults",
    load,
    called: () => void load().then(redraw, (error) => notify(error.message, "bad")),
    template: () => html`
      ${header("Faults", {
        note: "What goes wrong on purpose",
        actions: html`<button type="button" class="danger" ?disabled=${played.length === 0} @click=${removeAll}>
          Remove all faults
        </button>`,
      })}
      ${table(
        `${plural(played.length, "fault")} played`,
        ["Kind", "Endpoint", "Details", { label: "Calls hit", kind: "number" }, { label: "Actions", kind: "last" }],
        played.map(cells),
        empty("All goes well", "Add a fault to see how a client bears it."),
      )}
      <h2>New fault</h2>
      ${form()}
    `,
  };
}

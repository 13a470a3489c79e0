import { repeat } from "./lit-html/directives/repeat.js";
import { html, nothing } from "./lit-html/lit-html.js";
import { count, heading, printable } from "./parts.js";
import { ask, page } from "./service.js";

const longest = 500;

const duration = (milliseconds) => milliseconds && `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;

const text = (label, value) =>
  value === null
    ? nothing
    : html`<div>
        <small>${label}</small>
        <pre tabindex="0" role="region" aria-label=${label}>${printable(JSON.stringify(value, undefined, 2))}</pre>
      </div>`;

function callTemplate(call) {
  const { time, endpoint, email, mutating, status, failure, fault, remark } = call;
  const remarks = [fault === null ? null : `Fault: ${fault}`, failure, remark].filter((each) => each !== null);
  return html`<li>
    <details>
      <summary>
        <span class="quiet">${new Date(time).toISOString().slice(11, 23)}</span>
        <code class=${mutating ? "change" : ""}>${endpoint}</code>
        <span class="wide">${printable(email ?? "")}</span>
        <span class="quiet wide">${duration(call.duration)}</span>
        <span class="pill ${status === 200 ? "good" : "bad"}">${status === 0 ? "no answer" : status}</span>
        ${remarks.map((remark) => html`<span class="why bad">${printable(remark)}</span>`)}
      </summary>
      <div class="texts">
        ${text("Request", call.request)} ${text("Answer", call.answer)} ${text("Headers", call.headers)}
      </div>
    </details>
  </li>`;
}

/** The call log, which grows while one looks: the newest call first, each with its request and its answer. */
export function calls() {
  let [known, kind, words] = [[], "", ""];

  const fits = (call) => {
    if ((kind === "changes" && !call.mutating) || (kind === "failures" && call.status === 200)) return false;
    const { endpoint, email, failure, fault, status, request } = call;
    return [endpoint, email, failure, fault, status, JSON.stringify(request)].join(" ").toLowerCase().includes(words);
  };
  const narrow = ({ currentTarget }) => {
    [kind, words] = new FormData(currentTarget).getAll("narrow").map((value) => value.trim().toLowerCase());
    page.draw();
  };

  return {
    title: "Calls",
    load: async () => {
      if (known.length > 0) return;
      const { last } = await ask("calls", { since: Number.MAX_SAFE_INTEGER });
      known = (await ask("calls", { since: Math.max(0, last - longest) })).calls;
    },
    called: (calls) => {
      const end = known.at(-1)?.sequence ?? 0;
      known = [...known, ...calls.filter(({ sequence }) => sequence > end)].slice(-longest);
    },
    content: () => {
      const shown = known.filter(fits);
      const all = `${count(known.length)} ${known.length === 1 ? "call" : "calls"}`;
      return html`
        ${heading("Calls", { description: shown.length === known.length ? all : `${count(shown.length)} of ${all}` })}
        <form class="bar" aria-label="Filter" @input=${narrow} @submit=${(event) => event.preventDefault()}>
          <select name="narrow" aria-label="Show">
            ${["all calls", "changes", "failures"].map((each) => html`<option>${each}</option>`)}
          </select>
          <input name="narrow" type="search" aria-label="Search" placeholder="Endpoint, address, text" />
        </form>
        <ol class="scroll" ?hidden=${shown.length === 0}>
          ${repeat(shown.toReversed(), ({ sequence }) => sequence, callTemplate)}
        </ol>
        <p class="empty" ?hidden=${shown.length > 0}>
          ${known.length === 0 ? "Nobody has called yet" : "No call fits"}
        </p>
      `;
    },
  };
}

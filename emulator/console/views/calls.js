import { effectOf } from "../effects.js";
import { count, duration, json, plural, time } from "../format.js";
import { repeat } from "../lit-html/directives/repeat.js";
import { html, nothing } from "../lit-html/lit-html.js";
import { copyText } from "../notices.js";
import { empty, field, header, newFieldID, options, pill } from "../parts.js";
import { ask } from "../service.js";
import { clientCode, curlCommand, isWhole } from "../snippets.js";

const longest = 500;
const pauseMs = 60_000;
const kinds = [
  ["", "all calls"],
  ["changes", "changes"],
  ["failures", "failures"],
];

const failedIn = ({ status }) => status !== 200;

/**
 * Calls by run, the newest first: those of one session, for a token that serves many programs until a minute passes
 * without a call. Whoever has no session is grouped by the address that they gave.
 */
export function runsOf(calls) {
  const current = new Map();
  const runs = [];
  for (const call of calls) {
    const key = call.session ?? `without a session: ${call.email}`;
    let run = current.get(key);
    if (!run || call.time - run.end > pauseMs) {
      run = { id: call.sequence, email: null, start: call.time, end: call.time, calls: [] };
      current.set(key, run);
      runs.push(run);
    }
    run.calls.push(call);
    run.email ??= call.email;
    run.end = Math.max(run.end, call.time + (call.duration ?? 0));
  }
  return runs.sort((one, other) => other.calls.at(-1).sequence - one.calls.at(-1).sequence);
}

/** The call log, which grows while one looks. */
export function calls({ redraw }) {
  const ids = { kind: newFieldID(), words: newFieldID() };
  const filter = { kind: "", words: "" };
  let known = [];

  const fits = (call) => {
    if (filter.kind === "changes" && !call.mutating) return false;
    if (filter.kind === "failures" && !failedIn(call)) return false;
    const { endpoint, email, failure, fault, status } = call;
    const words = [endpoint, email, failure, fault, status, JSON.stringify(call.request)].join(" ").toLowerCase();
    return words.includes(filter.words);
  };
  const narrow = (changes) => {
    Object.assign(filter, changes);
    redraw();
  };

  return {
    title: "Calls",
    load: async () => {
      if (known.length > 0) return;
      const { last } = await ask("calls", { query: { since: Number.MAX_SAFE_INTEGER } });
      known = (await ask("calls", { query: { since: Math.max(0, last - longest) } })).calls;
    },
    called: (calls) => {
      const end = known.at(-1)?.sequence ?? 0;
      known = [...known, ...calls.filter(({ sequence }) => sequence > end)].slice(-longest);
    },
    template: () => {
      const shown = known.filter(fits);
      const note =
        shown.length === known.length
          ? plural(known.length, "call")
          : `${count(shown.length)} of ${plural(known.length, "call")}`;
      return html`
        ${header("Calls", { note: known.length === longest ? `The last ${note}` : note })}
        <div class="toolbar">
          ${field(
            "Show",
            ids.kind,
            html`<select id=${ids.kind} @change=${({ target }) => narrow({ kind: target.value })}>
              ${options(kinds)}
            </select>`,
          )}
          ${field("Search", ids.words, html`<input id=${ids.words} type="search" data-key="f" aria-keyshortcuts="f" placeholder="Endpoint, address, text" @input=${({ target }) => narrow({ words: target.value.trim().toLowerCase() })} />`)}
        </div>
        ${repeat(runsOf(shown), ({ id }) => id, runTemplate)}
        ${shown.length > 0 ? nothing : known.length === 0 ? empty("Nobody has called yet") : empty("No call fits")}
      `;
    },
  };
}

function runTemplate(run) {
  const { email, start, end, calls } = run;
  const failures = calls.filter(failedIn).length;
  const length = Math.max(1, end - start);
  return html`
    <details class="run" open>
      <summary>
        <h2>${email ?? "Not signed in"}</h2>
        <span class="quiet">${time(start)} UTC · ${plural(calls.length, "call")} in ${duration(end - start)}</span>
        ${failures === 0 ? nothing : pill(`${count(failures)} failed`, "bad")}
      </summary>
      <ol>
        ${repeat(
          calls.toReversed(),
          ({ sequence }) => sequence,
          (call) => callTemplate(call, start, length),
        )}
      </ol>
    </details>
  `;
}

/** Where a call's bar begins and how long it is, in hundredths of its run. */
function bar(call, start, length) {
  const from = Math.min(99, ((call.time - start) / length) * 100);
  const width = Math.min(100 - from, Math.max(1, ((call.duration ?? 0) / length) * 100));
  return `--from: ${from.toFixed(1)}%; --width: ${width.toFixed(1)}%`;
}

function callTemplate(call, start, length) {
  const { endpoint, effect, status, failure, fault, mutating, remark } = call;
  const unanswered = status === 0;
  const changed = effectOf(call);
  return html`<li>
    <details class="call">
      <summary>
        <span class="offset">+${duration(Math.max(0, call.time - start))}</span>
        <span class="endpoint"
          ><code>${endpoint}</code>${fault === null ? nothing : pill(`fault: ${fault}`, "busy")}</span
        >
        <span class="effect ${mutating ? "mutating" : ""}">${effect}</span>
        <span class="bar" aria-hidden="true"
          ><span .style=${bar(call, start, length)} class=${failedIn(call) ? "bad" : ""}></span
        ></span>
        <span class="took">${duration(call.duration)}</span>
        <span class="status">${pill(unanswered ? "no answer" : status, failedIn(call) ? "bad" : "good")}</span>
        ${failure === null ? nothing : html`<span class="why">${failure}</span>`}
        ${remark === null ? nothing : html`<span class="why">${remark}</span>`}
      </summary>
      ${changed === "" ? nothing : html`<p>${changed}</p>`}
      <h3>Request</h3>
      <pre tabindex="0">${json(call.request)}</pre>
      ${
        call.answer === null
          ? nothing
          : html`<h3>Answer</h3>
              <pre tabindex="0">${json(call.answer)}</pre>`
      }
      ${
        call.headers === null
          ? nothing
          : html`<details class="headers">
              <summary>Headers${call.email === null ? "" : ` of ${call.email}`}</summary>
              <pre tabindex="0">${json(call.headers)}</pre>
            </details>`
      }
      ${
        isWhole(call)
          ? html`<p>
              <button type="button" @click=${() => copyText("the command", curlCommand(call))}>Copy as curl</button>
              <button type="button" @click=${() => copyText("the line", clientCode(call))}>Copy as client code</button>
            </p>`
          : nothing
      }
    </details>
  </li>`;
}

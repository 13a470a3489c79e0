import { plural, time } from "../format.js";
import { html } from "../lit-html/lit-html.js";
import { notify } from "../notices.js";
import { copyable, empty, header, pill, table } from "../parts.js";
import { ask } from "../service.js";

const intervalMs = 2000;
const moods = { completed: "good", failed: "bad" };

/** Generated apps and how far they are. */
export function apps({ redraw }) {
  let shown = [];
  const load = async () => void (shown = (await ask("apps")).apps);
  const isUnderWay = ({ status }) => !Object.hasOwn(moods, status);
  const timer = setInterval(() => {
    if (shown.some(isUnderWay)) load().then(redraw, (error) => notify(error.message, "bad"));
  }, intervalMs);
  const cells = ({ id, status, message, owner, prompt, created }) => [
    prompt,
    html`<span title=${message ?? ""}>${pill(status, moods[status] ?? "busy")}</span>`,
    owner,
    time(created),
    copyable(id),
  ];
  return {
    title: "Apps",
    load,
    end: () => clearInterval(timer),
    template: () => html`
      ${header("Apps")}
      ${table(
        plural(shown.length, "app"),
        ["Prompt", "Status", "Owner", "Begun (UTC)", { label: "ID", kind: "last" }],
        shown.map(cells),
        empty("No app was generated", "createappwithprompt generates one."),
      )}
    `,
  };
}

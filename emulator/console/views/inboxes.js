import { plural, time } from "../format.js";
import { html } from "../lit-html/lit-html.js";
import { emailOf } from "../model.js";
import { copyable, empty, header, table } from "../parts.js";
import { ask } from "../service.js";

const columns = [
  "To",
  "Message",
  { label: "Badge", kind: "number" },
  "From",
  "Sent (UTC)",
  { label: "App", kind: "last" },
];
const cells = ({ time: sent, email, message, badgeCount, appID, senderID }) => [
  email,
  message ?? "",
  badgeCount ?? "",
  emailOf(senderID),
  time(sent),
  copyable(appID),
];

/** What was notified, the newest first. */
export function inboxes() {
  let sent = { inbox: [], pushes: [] };
  return {
    title: "Inboxes",
    load: async () => void (sent = await ask("notifications")),
    template: () => html`
      ${header("Inboxes")}
      ${table(`${plural(sent.inbox.length, "message")} in the apps`, columns, sent.inbox.toReversed().map(cells), empty("Nothing is unread"))}
      ${table(`${plural(sent.pushes.length, "message")} to devices`, columns, sent.pushes.toReversed().map(cells), empty("Nothing was pushed"))}
    `,
  };
}

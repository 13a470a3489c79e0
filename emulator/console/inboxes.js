import { h, table, time } from "./elements.js";
import { ask } from "./service.js";

const columns = ["Sent", "To", "Message", "Badge", "App", "From"];
const cells = ({ time: sent, email, message, badgeCount, appID, senderID }) => [
  time(sent),
  email,
  message ?? "",
  badgeCount ?? "",
  appID,
  senderID,
];

/** What was notified, the newest first. */
export async function inboxes(root) {
  async function refresh() {
    const { inbox, pushes } = await ask("notifications");
    root.replaceChildren(
      h("h2", {}, "Inboxes"),
      table("Unread in the apps", columns, inbox.toReversed().map(cells)),
      h("h3", {}, "Push messages"),
      table("Sent to devices", columns, pushes.toReversed().map(cells)),
    );
  }
  await refresh();
  return { refresh };
}

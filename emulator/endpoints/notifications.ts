import type { Handler } from "../data/callContext.ts";
import type { Database } from "../data/database.ts";
import { userByEmail } from "../data/people.ts";
import { forbidden, userNotFoundFor } from "../data/platformError.ts";
import { findApp, mayEdit } from "./apps.ts";

/** A notification in somebody's inbox, or a push message to their devices. */
export interface SentNotification {
  userID: string;
  email: string;
  appID: string;
  senderID: string;
  /** Null for a push that only sets the badge. */
  message: string | null;
  badgeCount: number | null;
  /** Milliseconds since the epoch. */
  time: number;
}

export const sendnotification: Handler<"sendnotification"> = (request, call) => {
  const { appID, email, message, badgeCount } = request;
  const { database, newID, now, user, habits } = call;
  const usual = habits.defaultChannel === "both" ? "default" : "inApp";
  const channel = request.channel === "default" ? usual : (request.channel ?? usual);
  const app = findApp(call, appID);
  // An app that does not exist has no admins either, so it is refused in the same way (assumed).
  if (!app || !mayEdit(call, app)) throw forbidden("Only app admins or authors can send notifications for this app");
  const recipient = userByEmail(database, email);
  if (!recipient) throw userNotFoundFor(email);
  const hasMessage = message !== undefined && message !== "";
  if (channel !== "push") {
    database.run(
      `INSERT INTO notifications (id, user_id, app_id, sender_id, message, badge, unread, created)
       VALUES (?, ?, ?, ?, ?, ?, 1, ?)`,
      ...[newID(), recipient.id, appID, user.id, message ?? null, badgeCount ?? null, now],
    );
  }
  if (channel !== "inApp") {
    database.run(
      "INSERT INTO pushes (user_id, app_id, sender_id, message, badge, created) VALUES (?, ?, ?, ?, ?, ?)",
      ...[recipient.id, appID, user.id, message ?? null, badgeCount ?? null, now],
    );
  }
  return {
    ok: true,
    appID,
    email,
    channel,
    hasMessage,
    badgeCount: badgeCount ?? null,
    notificationCount: channel === "push" ? 0 : 1,
    pushCount: channel === "inApp" ? 0 : 1, // one for each user; how many devices they have is not known (assumed)
  };
};

const columns =
  "n.user_id AS userID, u.email, n.app_id AS appID, n.sender_id AS senderID, n.message, n.badge AS badgeCount, n.created AS time";

/** Unread notifications and push messages, oldest first; of one user when an address is given. */
export function listDelivered(
  database: Database,
  email?: string,
): { inbox: SentNotification[]; pushes: SentNotification[] } {
  const from = (table: string) =>
    database.all<SentNotification>(
      `SELECT ${columns} FROM ${table} n JOIN users u ON u.id = n.user_id WHERE ? IS NULL OR u.email = ? ORDER BY n.seq`,
      email ?? null,
      email ?? null,
    );
  return { inbox: from("notifications"), pushes: from("pushes") };
}

import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { id } from "./values.ts";

export const sendnotification = endpoint({
  summary: "Notifies a user about an app: in the app, by push, or by a badge alone.",
  path: "/api/sendnotification",
  auth: "token",
  effect: "create",
  request: z.object({
    appID: id.describe("App that the requesting user can edit."),
    // Any text is allowed: the platform answers "User not found for …" when the address belongs to nobody.
    email: z.string().min(1).describe("E-mail address of the recipient."),
    message: z.string().optional().describe("Without it, channel `push` sends only the badge."),
    badgeCount: z.number().optional().describe("Absolute number on the badge."),
    channel: z.enum(["push", "inApp", "default"]).optional(),
  }),
  answer: z.object({
    ok: z.boolean(),
    appID: id,
    email: z.string(),
    channel: z.string(),
    hasMessage: z.boolean(),
    badgeCount: z.number().nullable(),
    notificationCount: z.number(),
    pushCount: z.number(),
  }),
  wrap: (answer) => answer,
  unwrap: (wire) => wire,
  errors: ["invalidRequest", "forbidden", "notFound"],
});

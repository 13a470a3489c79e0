import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { holderIn, places } from "./envelopes.ts";
import { email, id } from "./values.ts";
import { firstOf } from "./wire.ts";

export const createappwithprompt = endpoint({
  summary: "Starts the generation of an app from a text; the answer's link carries the app ID.",
  path: "/api/createappwithprompt",
  auth: "token+key",
  effect: "create",
  request: z.object({
    userEmail: email.describe("Becomes the owner of the app."),
    appPrompt: z.string().min(1).describe("Text that describes the app."),
    attachments: z.array(z.unknown()).optional(),
  }),
  answer: z.object({
    link: z.string().describe("{app_server}/workspace/apps/<app_id>."),
  }),
  // A string is documented.
  wrap: (answer) => answer.link,
  unwrap: (wire) => {
    const link = typeof wire === "string" ? wire : firstOf(wire, ...places.createappwithprompt.slice(1));
    return { link: typeof link === "string" ? link.trim() : link };
  },
  errors: ["forbidden", "invalidRequest"],
});

export const createappwithpromptStatus = endpoint({
  summary: "Returns the progress of an app's generation. The words it uses are not documented.",
  path: "/api/createappwithprompt/status",
  auth: "token+key",
  effect: "read",
  request: z.object({ appID: id }),
  answer: z.object({ status: z.string().describe("The platform's own word."), message: z.string().optional() }),
  // `status` beside the body is that of the call; the status of the generation is inside of it (assumed).
  wrap: (answer) => ({ body: answer }),
  unwrap: (wire) => holderIn(wire, "createappwithpromptStatus"),
  // The word of a generation that failed stands in the body, and is an answer.
  wordsAt: [""],
  errors: ["notFound", "forbidden"],
});

export const sendnotification = endpoint({
  summary: "Notifies a user about an app: in the app, by push, or by a badge alone.",
  path: "/api/sendnotification",
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

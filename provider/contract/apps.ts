import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { email, id } from "./values.ts";
import { firstOf, isObject, refusalIn } from "./wire.ts";

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
  answer: z.object({ link: z.string().describe("{app_server}/workspace/apps/<app_id>") }),
  // A string is documented.
  wrap: (answer) => answer.link,
  unwrap: (wire) => {
    const link = firstOf(wire, "body.link", "body.url", "link", "url", "body", "result") ?? wire;
    return { link: typeof link === "string" ? link.trim() : undefined };
  },
  errors: ["forbidden", "invalidRequest"],
});

export const createappwithpromptStatus = endpoint({
  summary: "Tells how far the generation of an app is. The words it uses are not documented.",
  path: "/api/createappwithprompt/status",
  auth: "token+key",
  effect: "read",
  request: z.object({ appID: id }),
  answer: z.object({ status: z.string().describe("The platform's own word."), message: z.string().optional() }),
  // `status` beside the body says how the call went, so the generation's own status stands inside it (assumed).
  wrap: (answer) => ({ body: answer }),
  unwrap: (wire) => {
    const found = firstOf(wire, "body.status", "body", "result.status", "result", "status") ?? wire;
    const message = firstOf(wire, "body.message", "result.message", "message");
    return { status: found, message: isObject(found) || typeof message !== "string" ? undefined : message };
  },
  // A generation that failed is an answer. Its word stands inside the body; beside it only `failed` is one (assumed).
  refusal: (wire) => {
    if (!isObject(wire) || wire["status"] === "failed") return undefined;
    return refusalIn({ ...wire, body: undefined });
  },
  errors: ["notFound", "forbidden"],
});

/** App ID in a link of either form, `…/workspace/apps/<app_id>` or `…/app/<app_id>`; undefined when there is none. */
export function appIDIn(link: string): string | undefined {
  return /\/apps?\/([^/?#\s]+)/.exec(link)?.[1];
}

/** Link to the finished app, `{app_server}/app/<app_id>`, from the link that the generation answered. */
export function finishedAppLink(link: string): string | undefined {
  const found = /^(.*?)(?:\/workspace)?\/apps?\/([^/?#\s]+)/.exec(link);
  return found ? `${found[1] ?? ""}/app/${found[2] ?? ""}` : undefined;
}

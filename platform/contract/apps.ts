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

/** Meanings of a generation's status word. */
export const generationState = z.enum(["pending", "ready", "failed"]);

export type GenerationState = z.output<typeof generationState>;

// The platform's words are not documented: these are assumed, everything else is pending and reported by its word.
const usualWords: Readonly<Record<string, GenerationState>> = {
  ...Object.fromEntries(
    ["completed", "complete", "ready", "done", "success", "finished"].map((word) => [word, "ready"]),
  ),
  ...Object.fromEntries(["failed", "error", "cancelled", "canceled"].map((word) => [word, "failed"])),
};

/** The meaning of a status word: that of `words`, else the usual one, else `pending`. Ignores letter case. */
export function stateOf(word: string, words: Readonly<Record<string, GenerationState>> = {}): GenerationState {
  const spelled = Object.entries(words).find(([key]) => key.toLowerCase() === word.toLowerCase());
  return spelled?.[1] ?? usualWords[word.toLowerCase()] ?? "pending";
}

// A link that people follow has no user name before the server's, and no invisible characters.
const linkForm =
  /^(https?:\/\/[^\s\p{C}/@?#\\"'<>]+(?:\/[^\s\p{C}?#\\"'<>]+?)??)(?:\/workspace)?\/apps?\/([^\s\p{C}/?#\\"'<>]+)(?=$|[/?#])[^\s\p{C}]*$/u;

/** Finds the app ID in a link `…/workspace/apps/<app_id>` or `…/app/<app_id>`; undefined when there is none. */
export const appIDIn = (link: string): string | undefined => linkForm.exec(link)?.[2];

/** Makes the link to the finished app, `{app_server}/app/<app_id>`, of the generation's link; undefined for any other. */
export function toFinishedAppLink(link: string): string | undefined {
  const [, server, id] = linkForm.exec(link) ?? [];
  return server === undefined || id === undefined ? undefined : `${server}/app/${id}`;
}

/** True when a link to an app has the origin of this server. Apps have a server with an address of its own. */
export const leadsTo = (server: string, link: string): boolean =>
  URL.canParse(link) && URL.canParse(server) && new URL(link).origin === new URL(server).origin;

import { z } from "zod";
import type { Database } from "./database.ts";

/** What an operator sets on the platform's server. Every default is assumed. */
export const settings = z.strictObject({
  defaultLimit: z.int().min(1).default(1000).describe("Rows that a read answers when it names no limit."),
  maximumLimit: z.int().min(1).default(100_000).describe("Most rows that one read answers."),
  license: z.boolean().default(true).describe("Whether apps may be generated."),
  generationSeconds: z.number().min(0).default(1.5).describe("How long the generation of an app takes."),
  failingPrompts: z.string().min(1).optional().describe("Generations whose prompt contains this text fail."),
  memberForm: z.enum(["objects", "ids"]).default("objects").describe("What teammembers answers."),
  appServer: z.string().min(1).default("https://apps.example.com").describe("Address in the links to apps."),
  keyAlone: z
    .boolean()
    .default(false)
    .describe("Whether createappwithprompt takes the key without a token, as known clients send it."),
  userLookup: z.boolean().default(true).describe("Whether userid is enabled."),
  tokenSeconds: z.number().positive().optional().describe("Lifetime of a token; without it tokens do not expire."),
  strict: z.boolean().default(true).describe("Refuse values that do not fit a field's type."),
  allowedHosts: z.array(z.string().min(1)).default([]).describe("Hosts that files may be downloaded from."),
  maximumFileBytes: z.int().min(1).default(25_000_000).describe("Largest file that is downloaded."),
});

export type Settings = z.output<typeof settings>;

export function readSettings(database: Database): Settings {
  const kept = database.one<{ value: string }>("SELECT value FROM meta WHERE key = 'settings'");
  return settings.parse(kept ? JSON.parse(kept.value) : {});
}

export function writeSettings(database: Database, value: Settings): void {
  database.run("INSERT OR REPLACE INTO meta VALUES ('settings', ?)", JSON.stringify(value));
}

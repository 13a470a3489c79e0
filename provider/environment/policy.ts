import { z } from "zod";
import { seedRows } from "../resources/seedRows.ts";

const names = z.array(z.string().min(1));

/** A rule of a layer for that layer and all that extend it. */
const rule = z.strictObject({
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).meta({
    description:
      "What the rule is about: keys from the top of the file, * or a pattern such as *@example.com for any of them. Text with dots, or a list.",
  }),
  atMost: z.number().optional().meta({ description: "Largest number." }),
  atLeast: z.number().optional().meta({ description: "Smallest number." }),
  only: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .min(1)
    .optional()
    .meta({ description: "The values that it may have." }),
  fixed: z.literal(true).optional().meta({ description: "It stays as this layer and those below have it." }),
  never: z.literal(true).optional().meta({ description: "Nothing may have it; false counts as nothing." }),
  required: z.literal(true).optional().meta({ description: "Whatever may have it has it, said in the file." }),
  because: z.string().min(1).optional().meta({ description: "Why, for whoever breaks the rule." }),
});

export type Rule = z.output<typeof rule>;

const { removals } = seedRows.inputs.shape;

export const removed = z.strictObject({
  organizations: names.optional().meta({ description: "Organizations by key, with all that belongs to them." }),
  teams: names.optional().meta({ description: "Teams as organization/team, with their members." }),
  members: z
    .record(z.string().min(1), names)
    .optional()
    .meta({ description: "Members by organization/team, as e-mail addresses or user IDs." }),
  seeds: names.optional().meta({ description: "Seeds by key, with their rows." }),
  apps: names.optional().meta({ description: "Apps by key." }),
  rows: z
    .record(z.string().min(1), removals.unwrap())
    .optional()
    .meta({ description: "Rows by the key of their seed, as natural keys; of several labels a list of their values." }),
});

/** Content of `removed`. */
export type Removed = z.output<typeof removed>;

/**
 * True when a thing has a line, or belongs to something that has one: `["members", "acme/crew", "ada@example.com"]`.
 */
export function hasLine(removed: Removed, [kind = "", key = "", person]: readonly string[]): boolean {
  const { organizations = [], teams = [], members = {}, seeds = [], apps = [] } = removed;
  const lists: Readonly<Record<string, readonly string[]>> = { organizations, teams, seeds, apps };
  if (lists[kind]?.includes(key)) return true;
  if (kind !== "teams" && kind !== "members") return false;
  const [organization = ""] = key.split("/");
  if (organizations.includes(organization) || teams.includes(key)) return true;
  return kind === "members" && (members[key] ?? []).some((one) => one.toLowerCase() === person?.toLowerCase());
}

/** Rules of a file about its own changes. */
export const policy = {
  rules: z.array(rule).optional().meta({
    description: "Bounds that this file and all that extend it keep. No file above takes a rule out or replaces it.",
  }),
  removals: z.enum(["free", "declared"]).optional().meta({
    description: "declared: nothing is removed from the platform without its line under removed.",
  }),
  removed: removed.optional().meta({ description: "What leaves the platform, where removals is declared." }),
};

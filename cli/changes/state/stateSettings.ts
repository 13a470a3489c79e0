import type { z } from "zod";
import { factsOf } from "../../../provider/resources/model/resource.ts";
import type { Field } from "../model/changeSet.ts";
import { fieldOf, stable } from "../model/values.ts";
import { holdsSealed, openValue, type StateResource } from "./state.ts";

/** The part of a resource's definition that declares its inputs. */
export interface Shaped {
  inputs: z.ZodObject;
}

/** Settings of a declaration that a diff compares. */
interface Settings {
  values: ReadonlyMap<string, unknown>;
  /** Names of those whose change makes a new thing. */
  replacing: ReadonlySet<string>;
}

/**
 * The settings that an engine would compare: those whose change alone changes something on the platform, completed with
 * their defaults. What is known by the ID of another resource is left out, unless it is an ID in the file.
 */
export function toDeclaredSettings({ inputs }: Shaped, args: object, omit: readonly string[] = []): Settings {
  const declared = new Map<string, unknown>(Object.entries(args));
  const values = new Map<string, unknown>();
  const replacing = new Set<string>();
  for (const [name, schema] of Object.entries(inputs.shape)) {
    const { ignoredInDiff, computed, replaces } = factsOf(schema);
    if (ignoredInDiff || computed || omit.includes(name) || mentions(declared.get(name))) continue;
    const isOfAnother = name === "organizationID" || name === "teamID" || name === "email" || name === "userID";
    if (isOfAnother && !declared.has(name)) continue;
    const parsed = (schema as z.ZodType).safeParse(declared.get(name));
    if (!parsed.success) continue;
    values.set(name, parsed.data);
    if (replaces) replacing.add(name);
  }
  return { values, replacing };
}

/** True if a value names another entry of the file, whose ID the state has. */
const mentions = (value: unknown): boolean =>
  typeof value === "object" && value !== null && ("app" in value || (Array.isArray(value) && value.some(isMention)));
const isMention = (value: unknown): boolean => typeof value === "object" && value !== null && "team" in value;

/** The settings that differ from the applied ones; a secret that can't be opened counts as equal. */
export function findUnapplied({ values }: StateResource, settings: Settings): Field[] {
  return [...settings.values].flatMap(([name, after]) => {
    const isSecret = holdsSealed(values[name]);
    const before = openValue(values[name]);
    if (!before || stable(before.value ?? null) === stable(after ?? null)) return [];
    return [fieldOf(name, before.value ?? undefined, after ?? undefined, isSecret)];
  });
}

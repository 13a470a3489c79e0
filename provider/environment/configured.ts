import { z } from "zod";
import type { Mapping, Problem, Value } from "../layers/document.ts";
import { formsAt, type KeyPath } from "../layers/grammar.ts";
import { environmentFile } from "./schema.ts";

/** The value of a key of the stack's configuration; undefined when it is not set. */
export type ConfigLookup = (key: string) => { text: string; secret: boolean } | undefined;

/** A file whose values from the configuration are in their places. */
export interface Configured {
  root: Value;
  /** Where secrets stand. */
  secrets: string[][];
  /** Texts that no message may show. */
  hidden: string[];
  /** Where values stand that only a stack knows, as JSON: what they are held against here is made up. */
  unknown: ReadonlySet<string>;
}

/** Parts of the file that are about the file itself, or that no program reads. */
const untouched = ["platform", "rules"];

/**
 * Puts values of the configuration in the place of `{ config: key }`, and defaults where a key is not set. Without a
 * configuration each stands for itself: its default, or a value that its place may have.
 */
export function fillConfigured(
  root: Value,
  configuration: ConfigLookup | undefined,
  report: (problem: Problem) => void,
): Configured {
  const found: Omit<Configured, "root"> & { unknown: Set<string> } = {
    secrets: [],
    hidden: [],
    unknown: new Set(),
  };
  const valueOf = (reference: Reference, path: string[]): Value => {
    const { key, at, fallback } = reference;
    if (!/^[\w.-]+$/.test(key)) {
      report({
        at,
        message: `config "${key}" must be a key of the project's own configuration, without its namespace; correct it`,
      });
      return fallback ?? { kind: "scalar", at, value: fitting(path, standIns(path)) };
    }
    const known = configuration?.(key);
    if (known) {
      if (known.secret) {
        found.secrets.push(path);
        found.hidden.push(known.text);
      }
      return { kind: "scalar", at, value: fitting(path, [known.text, parsed(known.text)]) };
    }
    if (fallback) return fallback;
    if (configuration) {
      report({
        at,
        message: `the configuration has no "${key}"; set it (config set ${key} …), or give it a default here`,
      });
    } else found.unknown.add(JSON.stringify(path));
    return { kind: "scalar", at, value: fitting(path, standIns(path)) };
  };
  const walk = (value: Value, path: string[]): Value => {
    if (value.kind === "scalar" || (path.length === 1 && untouched.includes(path[0] ?? ""))) return value;
    if (value.kind === "list")
      return { ...value, items: value.items.map((item, at) => walk(item, [...path, String(at)])) };
    const reference = referenceIn(value);
    if (reference && path.length > 0) return valueOf(reference, path);
    const entries = [...value.entries].map(
      ([key, { at, value }]) => [key, { at, value: walk(value, [...path, key]) }] as const,
    );
    return { ...value, entries: new Map(entries) };
  };
  return { root: walk(root, []), ...found };
}

/** True for a value with a reference to the configuration in it. */
export function holdsConfigured(value: Value): boolean {
  if (value.kind === "scalar") return false;
  if (value.kind === "list") return value.items.some(holdsConfigured);
  return referenceIn(value) !== undefined || [...value.entries.values()].some((entry) => holdsConfigured(entry.value));
}

interface Reference {
  key: string;
  at: Value["at"];
  fallback: Value | undefined;
}

/** A map that stands for a value of the configuration. */
function referenceIn({ entries }: Mapping): Reference | undefined {
  const config = entries.get("config")?.value;
  const fallback = entries.get("default")?.value;
  if (config?.kind !== "scalar" || typeof config.value !== "string") return undefined;
  return entries.size === (fallback ? 2 : 1) ? { key: config.value, at: config.at, fallback } : undefined;
}

/** The first of these that may stand at a path; else the first one, whose problem the check reports. */
function fitting(path: KeyPath, candidates: readonly unknown[]): unknown {
  const forms = formsAt(environmentFile, path);
  const fits = (candidate: unknown): boolean => forms.some((form) => (form as z.ZodType).safeParse(candidate).success);
  return candidates.find(fits) ?? candidates[0];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Values of each kind. */
function standIns(path: KeyPath): unknown[] {
  const words = formsAt(environmentFile, path).flatMap((form) => (form instanceof z.ZodEnum ? form.options : []));
  return [`configured-${path.join("-")}`, "configured@example.com", ...words, 1, 0, 0.5, false, [], {}];
}

/** True when only a stack knows a value, or one that contains it. */
export const isUnknown = (unknown: ReadonlySet<string>, path: readonly string[]): boolean =>
  unknown.size > 0 && path.some((_, at) => unknown.has(JSON.stringify(path.slice(0, at + 1))));

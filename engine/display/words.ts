import type { Op, RunKind } from "../events.ts";
import type { Style } from "../terminal/colors.ts";

/** How an operation is shown: a glyph of two columns, its colour, and its words for each stage. */
interface OpWords {
  glyph: string;
  style: Style;
  planned: string;
  doing: string;
  done: string;
  failed: string;
  /** In the summary of a real run. */
  counted: string;
}

// The vocabulary is that of Pulumi's own progress display.
export const opWords: Record<Op, OpWords> = {
  same: { glyph: "  ", style: "reset", planned: "", doing: "", done: "", failed: "failed", counted: "unchanged" },
  create: verb("+ ", "green", "create", "creating", "created"),
  update: verb("~ ", "yellow", "update", "updating", "updated"),
  delete: verb("- ", "red", "delete", "deleting", "deleted"),
  replace: verb("+-", "magentaBright", "replace", "replacing", "replaced"),
  "create-replacement": {
    ...verb("++", "greenBright", "create replacement", "creating replacement", "created replacement"),
    failed: "creating failed",
    counted: "created replacement",
  },
  "delete-replaced": {
    ...verb("--", "redBright", "delete original", "deleting original", "deleted original"),
    failed: "deleting failed",
    counted: "deleted",
  },
  refresh: verb("~ ", "yellow", "refresh", "refreshing", "refreshed"),
  read: verb("> ", "cyanBright", "read", "reading", "read"),
  "read-replacement": {
    ...verb(">>", "magentaBright", "read for replacement", "reading for replacement", "read for replacement"),
    failed: "reading failed",
  },
  "read-discard": verb("< ", "red", "discard", "discarding", "discarded"),
  "discard-replaced": {
    ...verb("<<", "red", "discard original", "discarding original", "discarded original"),
    failed: "discarding failed",
    counted: "discarded",
  },
  "remove-pending-replace": { ...verb("~ ", "reset", "", "", ""), failed: "failed", counted: "replacement completed" },
};

function verb(glyph: string, style: Style, planned: string, doing: string, done: string): OpWords {
  return { glyph, style, planned, doing, done, failed: `${doing} failed`, counted: done };
}

/** True if a step reads an existing resource that is not managed. */
export const isLookUp = (op: Op): boolean => op === "read" || op === "read-replacement" || op === "read-discard";

/** True if a step is a part of a replacement. */
export const isPartOfReplacement = (op: Op): boolean =>
  op === "create-replacement" || op === "delete-replaced" || op === "discard-replaced";

const kinds: Record<RunKind, string> = { update: "Updating", refresh: "Refreshing", destroy: "Destroying" };

/** `Previewing update (dev):` or `Updating (dev):`. */
export function heading(kind: RunKind, preview: boolean, stack: string): string {
  return `${preview ? `Previewing ${kind}` : kinds[kind]} (${stack}):`;
}

export const plural = (count: number, noun: string): string => (count === 1 ? noun : `${noun}s`);

export const severities = {
  error: { style: "red", noun: "error", prefix: "error:" },
  warning: { style: "yellow", noun: "warning", prefix: "warning:" },
  info: { style: "magenta", noun: "message", prefix: "" },
} as const;
export const shownSeverities = ["error", "warning", "info"] as const;

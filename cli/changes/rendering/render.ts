import type { ChangeSet } from "../model/changeSet.ts";
import type { Format } from "./formats.ts";
import { json } from "./json.ts";
import { markdown } from "./markdown.ts";
import { terminal } from "./terminal.ts";

const renderers: Record<Format, (set: ChangeSet) => string> = { md: markdown, json, text: terminal };

/** The report in a format; the same report makes the same text. */
export const render = (set: ChangeSet, format: Format): string => renderers[format](set);

import type { ChangeSet } from "../model/changeSet.ts";
import { html } from "./html.ts";
import { json } from "./json.ts";
import { markdown } from "./markdown.ts";
import { terminal } from "./terminal.ts";

const renderers = { md: markdown, json, html, text: terminal };

/** How a report may be written. */
export type Format = keyof typeof renderers;
export const formats = Object.keys(renderers) as Format[]; // the keys of what stands above

/** The report in a format; the same report makes the same text. */
export const render = (set: ChangeSet, format: Format): string => renderers[format](set);

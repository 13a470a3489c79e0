import { createHash } from "node:crypto";
import type { ChangeSet } from "../model/changeSet.ts";
import { isConfusable } from "./confusables.ts";
import { script, style } from "./page.ts";
import { toVisible } from "./text.ts";
import { viewOf } from "./view.ts";

/**
 * The report as one file that loads nothing and may load nothing. The data stand in it as JSON in which nothing ends an
 * element; the script writes them as text.
 */
export function html(set: ChangeSet): string {
  const data = JSON.stringify(seen(viewOf(set))).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const policy = `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Report of microapps</title>
<style>${style}</style>
</head>
<body>
<header>
<h1 id="title">Report</h1>
</header>
<main id="report">
<form id="find" role="search">
<span><label for="filter">Filter by name, label or value</label> <input id="filter" type="search" autocomplete="off"></span>
<span><label for="op">Show</label> <select id="op"><option value="">all</option><option value="remove">removed</option><option value="change">changed</option><option value="add">added</option></select></span>
<span id="count" role="status"></span>
</form>
</main>
<noscript><p>The report needs JavaScript to be shown; nothing of it is loaded from elsewhere.</p></noscript>
<script type="application/json" id="data">${data}</script>
<script>${script}</script>
</body>
</html>
`;
}

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** The value with all texts such that everything in them is seen. */
function seen(value: unknown): unknown {
  if (typeof value === "string")
    return `${toVisible(value)}${isConfusable(value) ? " (letters of several scripts)" : ""}`;
  if (Array.isArray(value)) return value.map(seen);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [toVisible(name), seen(inner)]));
}

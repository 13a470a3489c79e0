import { formatCount } from "../../../provider/messages/text.ts";
import { fileOf } from "../../between/editor/edits.ts";
import type { PullItem } from "../../between/pull.ts";
import type { Pulled } from "../../between/pull.ts";
import type { Look } from "../../changes/drift/drift.ts";
import { cut, cutBoth, signs, valueTexts, toVisible } from "../../changes/rendering/text.ts";

interface Shown {
  environment: string;
  pulled: Pulled;
  look: Look;
  isWritten: boolean;
}

/** An item as the command line takes it: `countries/AT`, `acme/eng/ada@example.com`. */
export const itemName = ({ thing, change }: PullItem): string => `${thing}/${change.name}`;

/** One item in one line, with the files that it changes. */
export function describeItem({ kind, thing, change, edits, refused }: PullItem): string {
  const { op, name, fields } = change;
  const parts = fields.map((field) => {
    const [before, after] = cutBoth(...valueTexts(field.before, field.after), 60);
    const label = change.kind === "setting" ? "" : `${toVisible(field.name)} `;
    if (op === "add") return `${label}${toVisible(after)}`;
    return `${label}${toVisible(before) || "nothing"} → ${toVisible(after) || "nothing"}`;
  });
  const files = [...new Set(edits.map(fileOf))].join(", ");
  const what =
    `${signs[op]} ${kind} ${toVisible(thing)} ${change.kind === "setting" && op === "remove" ? "" : cut(toVisible(name), 120)}`.trimEnd();
  const about = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return `  ${what}${about}${refused === undefined ? `  (${toVisible(files)})` : `\n      left: ${toVisible(refused)}`}`;
}

/** Describes a pull for a terminal. */
export function describePull({ environment, pulled, look, isWritten }: Shown, wasAsked: boolean): string {
  const { items, files } = pulled;
  const lines = [toVisible(environment)];
  if (!wasAsked || items.some(({ refused }) => refused !== undefined))
    lines.push(...items.filter(({ refused }) => !wasAsked || refused !== undefined).map(describeItem));
  for (const text of look.unread) lines.push(`  not read: ${toVisible(text)}`);
  for (const text of look.notes) lines.push(`  ${toVisible(text)}`);
  const names = files.map(({ file }) => toVisible(file)).join(", ");
  const taken = items.filter(({ refused }) => refused === undefined).length;
  if (items.length === 0 && look.unread.length === 0) lines.push("  the files say what is live");
  else if (isWritten)
    lines.push(
      `${formatCount(taken, "change")} written into ${names}: look at the diff, then run up, which updates the state alone`,
    );
  else if (files.length > 0) lines.push(`${formatCount(taken, "change")} for ${names}; --yes writes`);
  return `${lines.join("\n")}\n`;
}

/** The same as data. */
export const toJson = ({ environment, pulled, look, isWritten }: Shown): object => ({
  environment,
  items: pulled.items.map(({ kind, thing, change, edits, refused }) => ({
    kind,
    thing,
    change,
    files: [...new Set(edits.map(fileOf))],
    ...(refused === undefined ? {} : { refused }),
  })),
  files: pulled.files.map(({ file }) => file),
  written: isWritten,
  unread: look.unread,
  notes: look.notes,
});

import type { Op } from "../events.ts";
import { headline, type Paint } from "../terminal/colors.ts";
import { wrapLine } from "../terminal/columns.ts";
import { oneLine, printable } from "../terminal/text.ts";
import { changeLines, topKey, type Print, propertyLines } from "./properties.ts";
import { type EventOf, type Message, messagesOf, type ResourceRow, type Rows } from "./rows.ts";
import { isLookUp, opWords, plural, severities } from "./words.ts";

/** Prints all messages by resource, each with an empty line after it. What a program prints keeps its lines. */
export function diagnostics(rows: Rows, paint: Paint, { color, width }: { color: boolean; width: number }): string[] {
  const repeated = repeatedErrors(rows);
  const groups = rows.all.flatMap((row) => {
    const blocks = blocksOf(row, repeated)
      .map((block) =>
        block.flatMap((message) => {
          const lines = messageLines(message, paint, color).map((line) => `    ${line}`.trimEnd());
          return message.printed ? lines : lines.flatMap((line) => wrapLine(line, width));
        }),
      )
      .filter((lines) => lines.some((line) => line.trim() !== ""));
    if (blocks.length === 0) return [];
    const head = `  ${paint("blueBright", `${oneLine(row.step.resourceType)} (${oneLine(row.step.name)}):`)}`;
    return [head, ...blocks.flatMap((lines) => [...lines, ""])];
  });
  return groups.length === 0 ? [] : [paint(headline, "Diagnostics:"), ...groups];
}

/** Groups errors by text: the first resource shows each, with the number of the others. */
function repeatedErrors(rows: Rows): Map<string, { first: ResourceRow; others: number }> {
  const repeated = new Map<string, { first: ResourceRow; others: number }>();
  for (const row of rows.all) {
    for (const text of new Set(messagesOf(row, "error").map((message) => message.text))) {
      const known = repeated.get(text);
      if (known) known.others++;
      else repeated.set(text, { first: row, others: 0 });
    }
  }
  return repeated;
}

/** Keeps messages together, and the lines of each stream. */
function blocksOf(row: ResourceRow, repeated: ReturnType<typeof repeatedErrors>): Message[][] {
  const shown = row.messages.flatMap((message) => {
    const same = message.severity === "error" && !message.printed ? repeated.get(message.text) : undefined;
    if (same && same.first !== row) return [];
    const others = same?.others ? ` (and ${same.others} more ${plural(same.others, "resource")})` : "";
    return { ...message, text: message.text.trimEnd() + others };
  });
  return [...Map.groupBy(shown, ({ printed }) => printed).values()];
}

/** Prints one message without the empty lines at its end. */
export function messageLines({ severity, text, printed }: Message, paint: Paint, color: boolean): string[] {
  const shown = printable(text, color).trimEnd();
  if (shown === "" && !printed) return [];
  const { style, prefix } = severities[severity];
  return (printed || prefix === "" ? shown : `${paint(style, prefix)} ${shown}`).split("\n");
}

/** Prints the outputs of the stack: in a preview those that change, after a run all of them. */
export function outputs(rows: Rows, summary: EventOf<"summary">, print: Print): string[] {
  const lines = outputLines(rows, summary, print);
  return lines.length === 0 ? [] : [print.paint(headline, "Outputs:"), ...lines, ""];
}

function outputLines(rows: Rows, summary: EventOf<"summary">, print: Print): string[] {
  // In a new stack everything is new, so that marks would mean nothing.
  if (rows.stack.step.op === "create" && summary.outputChanges.every(({ kind }) => kind === "add")) {
    return propertyLines(summary.outputs, 4, "green", print);
  }
  const changed = new Set(summary.outputChanges.map(({ path }) => topKey(path)));
  const same = Object.entries(summary.preview ? {} : summary.outputs).filter(([name]) => !changed.has(name));
  return [
    ...changeLines(summary.outputChanges, 4, print),
    ...propertyLines(Object.fromEntries(same), 4, undefined, print),
  ];
}

const countedOps = (Object.keys(opWords) as Op[]).filter((op) => op !== "same" && !isLookUp(op)); // the keys of a record

/** Prints how many resources change, and how. */
export function resources(rows: Rows, summary: EventOf<"summary">, paint: Paint): string[] {
  const changed = countedOps.flatMap((op) => {
    const count = summary.changes[op] ?? 0;
    return count > 0 ? [{ op, count }] : [];
  });
  const total = changed.reduce((sum, { count }) => sum + count, 0);
  const same = summary.changes.same ?? 0;
  const pieces = [
    ...(changed.length > 1 ? [paint("bold", `${total} ${plural(total, "change")}`)] : []),
    ...(same > 0 ? [`${same} unchanged`] : []),
  ];
  const errored = rows.all.filter((row) => messagesOf(row, "error").length > 0).length;
  return [
    paint(headline, "Resources:"),
    ...changed.map(({ op, count }) => {
      const { glyph, style, counted } = opWords[op];
      return `    ${paint(style, `${glyph}${count} ${summary.preview ? `to ${op}` : counted}`)}`;
    }),
    ...(pieces.length > 0 ? [`    ${pieces.join(". ")}`] : []),
    ...(errored > 0 ? [`    ${paint("red", `${errored} errored`)}`] : []),
  ];
}

/** Prints `Duration: 3s` of a real run, rounded up to seconds. */
export function duration(summary: EventOf<"summary">, paint: Paint): string[] {
  if (summary.preview) return [];
  const seconds = Math.ceil(summary.seconds);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const parts = [...(hours > 0 ? [`${hours}h`] : []), ...(minutes > 0 ? [`${minutes % 60}m`] : []), `${seconds % 60}s`];
  return ["", `${paint(headline, "Duration:")} ${parts.join("")}`];
}

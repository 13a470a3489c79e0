import { isUnchanged, stops, type Change, type ChangeSet, type Section, type Thing } from "../model/changeSet.ts";
import { sealLines } from "./sealLines.ts";
import { cut, signs, summary, valueText, verbs, visible } from "./text.ts";

const nothing: Record<ChangeSet["kind"], string> = {
  report: "  nothing changes",
  events: "  nothing changes",
  drift: "  no drift",
  changes: "  nothing differs",
};

/** Changes of one thing that are shown; a file has all of them. */
const maxShown = 20;

/** The report for a terminal, in lines without colour and without anything that moves a cursor. */
export function terminal(set: ChangeSet): string {
  const lines: string[] = [];
  if (set.base) {
    const behind =
      set.base.behind === undefined
        ? ""
        : `, which has ${set.base.behind} commits that the branch lacks: shown from where it began`;
    lines.push(`Compared with ${visible(set.base.ref)} (${set.base.commit.slice(0, 12)})${behind}`);
  }
  for (const { text } of set.flags) lines.push(`! ${visible(text)}`);
  for (const environment of set.environments) {
    lines.push("", visible(environment.name));
    for (const text of stops(environment)) lines.push(`  stopped: ${visible(text)}`);
    for (const { text } of environment.flags) lines.push(`  ! ${visible(text)}`);
    for (const note of environment.notes) lines.push(`  ${visible(note)}`);
    if (isUnchanged(environment)) lines.push(nothing[set.kind]);
    else sectionLines(lines, set.kind === "report" ? "this change" : "", environment.change);
    if (environment.pending && (environment.pending.things.length > 0 || environment.pending.why !== undefined)) {
      sectionLines(lines, "pending", environment.pending);
    }
    for (const line of sealLines(environment)) lines.push(`  ${visible(line)}`);
  }
  return `${lines.map(unheard).join("\n").trimStart()}\n`;
}

/** A line that no pipeline takes for a command: one obeys what a line begins with, another what stands in it. */
const unheard = (line: string): string =>
  line
    .replace(/^(\s*):(?=:)/, "$1\\u003a")
    .replace(/^(\s*)\//, "$1\\u002f")
    .replace(/##(?=\[|vso\[)/g, "#\\u0023");

function sectionLines(lines: string[], name: string, { compared, why, things, calls }: Section): void {
  const reason = why === undefined ? "" : `${compared ? "not whole" : "not compared"}: ${visible(why)}`;
  const about = calls === undefined ? "" : `about ${calls} calls`;
  const head = [name, [reason, about].filter((part) => part !== "").join("; ")]
    .filter((part) => part !== "")
    .join(": ");
  if (head !== "") lines.push(`  ${head}`);
  for (const thing of things) thingLines(lines, thing);
}

function thingLines(lines: string[], thing: Thing): void {
  const { kind, name, op, place, notes, changes, omitted, accepted } = thing;
  const what = summary(thing);
  const where = place === undefined ? "" : `  (${visible(place)})`;
  lines.push(`  ${signs[op]} ${kind} ${visible(name)} ${verbs[op]}${what === "" ? "" : `: ${what}`}${where}`);
  for (const note of notes) lines.push(`      ${visible(note)}`);
  if (accepted !== undefined) lines.push(`      accepted: ${visible(accepted)}`);
  for (const change of changes.slice(0, maxShown)) lines.push(`      ${changeLine(change)}`);
  const more = changes.length - Math.min(changes.length, maxShown) + omitted;
  if (more > 0) lines.push(`      and ${more} more`);
}

function changeLine({ kind, op, name, fields, accepted }: Change): string {
  const shown = (value: unknown): string => (value === undefined ? "nothing" : cut(visible(valueText(value)), 60));
  const parts = fields.map((field) => {
    const label = kind === "setting" ? "" : `${visible(field.name)} `;
    if (op === "add") return `${label}${shown(field.after)}`;
    return op === "remove"
      ? `${label}${shown(field.before)}`
      : `${label}${shown(field.before)} → ${shown(field.after)}`;
  });
  return `${signs[op]} ${cut(visible(name), 120)}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}${accepted === undefined ? "" : ` (accepted: ${visible(accepted)})`}`;
}

import { isUnchanged, stops, type Change, type ChangeSet, type Section, type Thing } from "../model/changeSet.ts";
import { sealLines } from "./sealLines.ts";
import { cut, signs, summary, valueText, verbs, toVisible } from "./text.ts";

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
    lines.push(`Compared with ${toVisible(set.base.ref)} (${set.base.commit.slice(0, 12)})${behind}`);
  }
  for (const { text } of set.flags) lines.push(`! ${toVisible(text)}`);
  for (const environment of set.environments) {
    lines.push("", toVisible(environment.name));
    for (const text of stops(environment)) lines.push(`  stopped: ${toVisible(text)}`);
    for (const { text } of environment.flags) lines.push(`  ! ${toVisible(text)}`);
    for (const note of environment.notes) lines.push(`  ${toVisible(note)}`);
    if (isUnchanged(environment)) lines.push(nothing[set.kind]);
    else sectionLines(lines, set.kind === "report" ? "this change" : "", environment.change);
    if (environment.pending && (environment.pending.things.length > 0 || environment.pending.why !== undefined)) {
      sectionLines(lines, "pending", environment.pending);
    }
    for (const line of sealLines(environment)) lines.push(`  ${toVisible(line)}`);
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
  const reason = why === undefined ? "" : `${compared ? "not whole" : "not compared"}: ${toVisible(why)}`;
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
  const where = place === undefined ? "" : `  (${toVisible(place)})`;
  lines.push(`  ${signs[op]} ${kind} ${toVisible(name)} ${verbs[op]}${what === "" ? "" : `: ${what}`}${where}`);
  for (const note of notes) lines.push(`      ${toVisible(note)}`);
  if (accepted !== undefined) lines.push(`      accepted: ${toVisible(accepted)}`);
  for (const change of changes.slice(0, maxShown)) lines.push(`      ${changeLine(change)}`);
  const more = changes.length - Math.min(changes.length, maxShown) + omitted;
  if (more > 0) lines.push(`      and ${more} more`);
}

function changeLine({ kind, op, name, fields, accepted }: Change): string {
  const shown = (value: unknown): string => (value === undefined ? "nothing" : cut(toVisible(valueText(value)), 60));
  const parts = fields.map((field) => {
    const label = kind === "setting" ? "" : `${toVisible(field.name)} `;
    if (op === "add") return `${label}${shown(field.after)}`;
    return op === "remove"
      ? `${label}${shown(field.before)}`
      : `${label}${shown(field.before)} → ${shown(field.after)}`;
  });
  return `${signs[op]} ${cut(toVisible(name), 120)}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}${accepted === undefined ? "" : ` (accepted: ${toVisible(accepted)})`}`;
}

import { besideAlike } from "../../platform/messages/text.ts";
import { type Change, type ChangeSet, type EnvironmentChanges, isUnchanged, shownPlan, stops } from "./changeSet.ts";
import {
  besides,
  cut,
  inWords,
  type MergedThing,
  mergeThings,
  openPart,
  signs,
  summary,
  toVisible,
  valueText,
  verbs,
} from "./text.ts";

const nothing: Record<ChangeSet["kind"], string> = {
  report: "  nothing changes",
  drift: "  no drift",
  between: "  nothing differs",
};

/** Changes of one thing that are shown; a file has all of them. */
const maxShown = 20;

/** The report for a terminal, without colour or anything that moves a cursor. Equal changes of environments stand once. */
export function terminal(set: ChangeSet): string {
  const lines: string[] = [];
  if (set.base) {
    const behind =
      set.base.behind === undefined
        ? ""
        : `, which has ${set.base.behind} commits that the branch lacks: shown from where it began`;
    lines.push(`Compared with ${toVisible(set.base.ref)} (${set.base.commit.slice(0, 12)})${behind}`);
  }
  const { count, files } = set.alsoChanged ?? { count: 0, files: [] };
  if (count > 0) {
    const more = count - Math.min(count, maxShown);
    lines.push("Also changed, may run in the pipeline:");
    lines.push(...files.slice(0, maxShown).map((file) => `  ${cut(toVisible(file), 200)}`));
    if (more > 0) lines.push(`  and ${more} more: look at the diff`);
  }
  for (const environment of set.environments) {
    lines.push("", toVisible(environment.name));
    for (const text of stops(environment)) lines.push(`  stopped: ${toVisible(text)}`);
    for (const { text } of environment.flags) lines.push(`  ! ${toVisible(text)}`);
    for (const note of environment.notes) lines.push(`  ${toVisible(note)}`);
    if (isUnchanged(environment)) lines.push(nothing[set.kind]);
    lines.push(...openLines(environment));
    const plan = shownPlan(environment);
    if (plan !== undefined) lines.push(`  plan ${plan}`);
  }
  const isOne = set.environments.length === 1;
  const sections = [
    {
      title: set.kind === "report" ? "this change" : "",
      things: mergeThings(set.environments, (one) => one.change.things),
    },
    { title: "pending besides", things: mergeThings(set.environments, besides) },
  ];
  for (const { title, things } of sections) {
    if (things.length === 0) continue;
    if (!isOne) lines.push("");
    if (title !== "") lines.push(`  ${title}`);
    for (const thing of things) thingLines(lines, thing, isOne);
  }
  return `${lines.map(unheard).join("\n").trimStart()}\n`;
}

/** A line that no pipeline takes for a command: one obeys what a line begins with, another what stands in it. */
const unheard = (line: string): string =>
  line
    .replace(/^(\s*):(?=:)/, "$1\\u003a")
    .replace(/^(\s*)\//, "$1\\u002f")
    .replace(/##(?=\[|vso\[)/g, "#\\u0023");

/** Lines on what is not compared, and how much is pending. */
function openLines({ change, pending }: EnvironmentChanges): string[] {
  const open = (what: string, reason: string | undefined): string[] =>
    reason === undefined ? [] : [`  ${what}${toVisible(reason)}`];
  const count = pending?.things.length ?? 0;
  return [
    ...open("", openPart(change)),
    ...(count > 0 ? [`  pending: ${count === 1 ? "1 thing" : `${count} things`}`] : []),
    ...open("pending: ", openPart(pending)),
  ];
}

/** Environments behind a line, where not all have it. */
const only = (environments: readonly string[], isAll: boolean): string =>
  isAll ? "" : ` in ${inWords(environments.map(toVisible))}`;

function thingLines(
  lines: string[],
  { kind, name, heads, changes, omitted, environments }: MergedThing,
  isOne: boolean,
): void {
  for (const { value, environments: where, places } of heads) {
    const what = summary(value);
    const place = places.length === 0 ? "" : `  (${places.map(toVisible).join(" ")})`;
    const { op, notes, accepted } = value;
    lines.push(
      `  ${signs[op]} ${kind} ${toVisible(name)} ${verbs[op]}${what === "" ? "" : `: ${what}`}${only(where, isOne)}${place}`,
    );
    for (const note of notes) lines.push(`      ${toVisible(note)}`);
    if (accepted !== undefined) lines.push(`      accepted: ${toVisible(accepted)}`);
  }
  for (const change of changes.slice(0, maxShown))
    lines.push(
      `      ${changeLine(change.value)}${only(change.environments, change.environments.length === environments.length)}`,
    );
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
      : `${label}${shown(field.before)} → ${shown(field.after)}${besideAlike(field.before, field.after)}`;
  });
  return `${signs[op]} ${cut(toVisible(name), 120)}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}${accepted === undefined ? "" : ` (accepted: ${toVisible(accepted)})`}`;
}

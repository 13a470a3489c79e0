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
  report: "nothing changes",
  drift: "no drift",
  between: "nothing differs",
};

/** Changes of one thing that are shown; a file has all of them. */
const maxShown = 20;

/** The report for a terminal, without colour or anything that moves a cursor. Equal changes of environments stand once. */
export function terminal(set: ChangeSet): string {
  const lines: string[] = [];
  const { base, environments } = set;
  if (base) {
    const { behind } = base;
    const lacking =
      behind === undefined ? "" : `, which has ${behind} commits that the branch lacks: shown from where it began`;
    lines.push(`Compared with ${toVisible(base.ref)} (${base.commit.slice(0, 12)})${lacking}`);
  }
  const { count, files } = set.alsoChanged ?? { count: 0, files: [] };
  if (count > 0) {
    const shown = files.slice(0, maxShown);
    lines.push("Also changed, may run in the pipeline:", ...shown.map((file) => `  ${cut(toVisible(file), 200)}`));
    if (count > shown.length) lines.push(`  and ${count - shown.length} more: look at the diff`);
  }
  for (const environment of environments) {
    const plan = shownPlan(environment);
    const texts = [
      ...stops(environment).map((text) => `stopped: ${text}`),
      ...environment.flags.map(({ text }) => `! ${text}`),
      ...environment.notes,
      ...(isUnchanged(environment) ? [nothing[set.kind]] : []),
      ...openLines(environment),
      ...(plan === undefined ? [] : [`plan ${plan}`]),
    ];
    lines.push("", toVisible(environment.name), ...texts.map((text) => `  ${toVisible(text)}`));
  }
  if (environments.some((one) => shownPlan(one) !== undefined))
    lines.push("", "up --plan with the digest of a plan does just that, or nothing.");
  const isOne = environments.length === 1;
  const sections = [
    [set.kind === "report" ? "this change" : "", mergeThings(environments, (one) => one.change.things)],
    ["pending besides", mergeThings(environments, besides)],
  ] as const;
  for (const [title, things] of sections) {
    if (things.length === 0) continue;
    if (!isOne) lines.push("");
    if (title !== "") lines.push(`  ${title}`);
    for (const thing of things) lines.push(...thingLines(thing, isOne));
  }
  if (set.kind === "drift" && environments.some(({ change }) => change.things.length > 0))
    lines.push("", "pull takes it into the files, up --refresh repairs it, drift --tolerate leaves it for a time");
  return `${lines.map(unheard).join("\n").trimStart()}\n`;
}

/** A line that no pipeline takes for a command: one obeys what a line begins with, another what stands in it. */
const unheard = (line: string): string =>
  line
    .replace(/^(\s*):(?=:)/, "$1\\u003a")
    .replace(/^(\s*)\//, "$1\\u002f")
    .replace(/##(?=\[|vso\[)/g, "#\\u0023");

/** What is not compared, and how much is pending. */
function openLines({ change, pending }: EnvironmentChanges): string[] {
  const { things = [] } = pending ?? {};
  const open = openPart(pending);
  return [
    ...[openPart(change) ?? []].flat(),
    ...(things.length > 0 ? [`pending: ${things.length === 1 ? "1 thing" : `${things.length} things`}`] : []),
    ...(open === undefined ? [] : [`pending: ${open}`]),
  ];
}

/** Environments behind a line, where not all have it. */
const only = (environments: readonly string[], isAll: boolean): string =>
  isAll ? "" : ` in ${inWords(environments.map(toVisible))}`;

function thingLines({ kind, name, heads, changes, omitted, environments }: MergedThing, isOne: boolean): string[] {
  const headLines = heads.flatMap(({ value, environments: where, places }) => {
    const { op, notes, accepted } = value;
    const what = summary(value);
    const place = places.length === 0 ? "" : `  (${places.map(toVisible).join(" ")})`;
    return [
      `  ${signs[op]} ${kind} ${toVisible(name)} ${verbs[op]}${what === "" ? "" : `: ${what}`}${only(where, isOne)}${place}`,
      ...[...notes, ...(accepted === undefined ? [] : [`accepted: ${accepted}`])].map(
        (text) => `      ${toVisible(text)}`,
      ),
    ];
  });
  const shown = changes.slice(0, maxShown);
  const more = changes.length - shown.length + omitted;
  return [
    ...headLines,
    ...shown.map(
      (change) =>
        `      ${changeLine(change.value)}${only(change.environments, change.environments.length === environments.length)}`,
    ),
    ...(more > 0 ? [`      and ${more} more`] : []),
  ];
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

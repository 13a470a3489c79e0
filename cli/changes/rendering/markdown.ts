import {
  isUntouched,
  stops,
  type Change,
  type ChangeSet,
  type EnvironmentChanges,
  type Field,
  type Thing,
} from "../model/changeSet.ts";
import { checklist, leads, type CheckItem } from "./checklist.ts";
import { code, Comment, type Details } from "./comment.ts";
import { findDone, besides, mergeThings, openPart, saysMore, group, type MergedThing, type Shared } from "./merged.ts";
import { cutBoth, inWords, toSigned, signs, summary, totals, valueText, valueTexts, verbs, toVisible } from "./text.ts";

/** Bytes that a report has at most: a comment of GitHub takes 65,536 characters. */
const maxBytes = 60_000;
/** Bytes reserved for the line that counts the parts left out. */
const reserve = 600;
/** Bytes that flags may have: they are never cut for anything else. */
const maxFlagBytes = 50_000;
const limits = {
  name: 120,
  value: 80,
  row: 200,
  sentence: 500,
  flag: 4_000,
  listed: 50,
  environments: 12,
  names: 30,
  places: 3,
  open: 12,
};

/** Beginning of a report's first line, by which a bot finds its comment. */
export const marker = ({ kind }: Pick<ChangeSet, "kind">): string => `<!-- microapps-${kind} -->`;

/** The report as a comment: counts of all, tables first, details folded. The same report makes the same bytes. */
export function markdown(set: ChangeSet): string {
  if (set.flags.length === 0 && set.environments.every(isUntouched)) return `${marker(set)} ${nothingChanges(set)}\n`;
  const page = new Comment(maxBytes - reserve);
  const checks = checkLines(set);
  const bytes = Buffer.byteLength(checks.flags.join("\n")) + 100;
  page.reserve(bytes);
  // A table that is cut must keep its head.
  for (const line of [marker(set), "", `## ${title(set)}`, "", ...overview(set)]) page.row(line);
  const found = group(
    set.environments.flatMap((each) => stops(each).map((value) => ({ environment: each.name, value }))),
  );
  const stopping = found.map(({ value, environments }) => `- ${named(environments)} ${code(value, limits.sentence)}`);
  page.list("What stops it", stopping, limits.listed);
  page.reserve(-bytes);
  page.list("Look at these before you merge", [...checks.flags, ...checks.others], Infinity);
  for (const line of noteLines(set)) page.line("", line);
  const details: Details[] = [];
  section(page, details, set, { title: "", pending: false, thingsOf: ({ change }) => change.things });
  section(page, details, set, { title: "Pending besides", pending: true, thingsOf: besides });
  const few = details.reduce((sum, { rows }) => sum + rows.length, 0) <= limits.open;
  page.details(details.map((each) => ({ ...each, isOpen: few })));
  return page.end();
}

/** Environments in a sentence. */
function named(environments: readonly string[]): string {
  const names = environments.slice(0, limits.environments).map((name) => code(name, limits.name));
  const more = environments.length - names.length;
  return inWords(more > 0 ? [...names, `${more} more`] : names);
}

/** The list for whoever approves; flags that have no room make a line that nobody can miss. */
function checkLines(set: ChangeSet): { flags: string[]; others: string[] } {
  const items = checklist(set);
  const lines = (is: (item: CheckItem) => boolean): string[] => items.filter(is).map((item) => checkLine(item));
  const flags = lines(({ about }) => about === "flags");
  const shown: string[] = [];
  let left = maxFlagBytes;
  for (const line of flags) if ((left -= Buffer.byteLength(line) + 1) >= 0) shown.push(line);
  const missing = flags.length - shown.length;
  const more = `- [ ] ⛔ ${missing} more of these have no room here: read all of them in the report in JSON before you approve`;
  return { flags: missing === 0 ? shown : [...shown, more], others: lines(({ about }) => about !== "flags") };
}

function checkLine({ about, environments, names }: CheckItem): string {
  const where = environments.length === 0 ? "" : `${named(environments)}: `;
  if (about === "flags") return `- [ ] ${where}${code(names.join(), limits.flag)}`;
  const listed = names.slice(0, limits.names).map((name) => code(name, limits.name));
  const more = names.length - listed.length;
  return `- [ ] ${leads[about]}, ${where}${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const titles: Record<ChangeSet["kind"], string> = {
  report: "What this change does",
  drift: "What was changed by hand",
  changes: "What differs",
};

function title(set: ChangeSet): string {
  const { base } = set;
  if (!base) return titles[set.kind];
  const behind =
    base.behind === undefined
      ? ""
      : `; the branch lacks ${base.behind} commits of it, so this is shown from where it began`;
  return `${titles[set.kind]}, compared with ${code(base.ref, limits.name)} (${code(base.commit.slice(0, 12), 12)})${behind}`;
}

function nothingChanges(set: ChangeSet): string {
  const names = set.environments.map(({ name }) => name);
  const what = set.kind === "drift" ? "No drift" : set.kind === "changes" ? "Nothing differs" : "Nothing changes";
  const where = names.length === 0 ? "" : ` in ${named(names)}`;
  const waiting = set.environments.filter(({ pending }) => (pending?.things.length ?? 0) > 0);
  const pending = waiting
    .map((each) => `${code(each.name, limits.name)} ${pendingCount(each)}`)
    .slice(0, limits.listed);
  const first = pending.length === 0 ? "" : ` Pending from before: ${pending.join(", ")}.`;
  return [
    `${what}${where}${set.base ? `, compared with ${code(set.base.ref, limits.name)}` : ""}.${first}`,
    ...openLines(set),
  ].join(" ");
}

/** Lines about pending changes that can't be found out, one for the environments that share the reason. */
function openLines({ environments }: ChangeSet): string[] {
  const entries = environments.flatMap(({ name, pending }) =>
    (openPart(pending) ?? "") === "" ? [] : [{ environment: name, value: openPart(pending) ?? "" }],
  );
  return group(entries).map(
    ({ value, environments: where }) => `Pending in ${named(where)}: ${code(value, limits.sentence)}.`,
  );
}

function noteLines(set: ChangeSet): string[] {
  const notes = group(
    set.environments.flatMap(({ name, notes }) => notes.map((value) => ({ environment: name, value }))),
  );
  const uncompared = group(
    set.environments.flatMap(({ name, change }) =>
      openPart(change) === undefined ? [] : [{ environment: name, value: openPart(change) ?? "" }],
    ),
  );
  const done = group(
    set.environments.flatMap((each) =>
      findDone(each).map(({ kind, name }) => ({ environment: each.name, value: `${kind} ${name}` })),
    ),
  );
  return [
    ...[...uncompared, ...notes].map(
      ({ value, environments }) => `${named(environments)}: ${code(value, limits.sentence)}`,
    ),
    ...done.map(
      ({ value, environments }) =>
        `${named(environments)}: ${code(value, limits.name)} is so already, an update has nothing to do`,
    ),
    ...openLines(set),
  ];
}

function overview(set: ChangeSet): string[] {
  const rows = set.environments.map((environment) => {
    const { things, people, rows } = totals(environment.change);
    const changed = { remove: things.remove, change: things.change + things.replace, add: things.add };
    const counts = environment.change.compared
      ? [toSigned(changed), toSigned(people), toSigned(rows)]
      : ["not compared", "", ""];
    const stopped = stops(environment).length;
    return `| ${[code(environment.name, limits.name), ...counts, pendingCount(environment), stopped > 0 ? `${stopped} ⛔` : ""].join(" | ")} |`;
  });
  return [
    "| environment | things | people | rows | pending | stops |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ];
}

function pendingCount(environment: EnvironmentChanges): string {
  const { change, pending } = environment;
  if (!pending) return "";
  if (!pending.compared) return "not compared";
  const count = pending.things.length;
  const isSame = count > 0 && count === change.things.length && besides(environment).length === 0;
  const what = isSame ? "the same" : `${count} ${count === 1 ? "thing" : "things"}`;
  if (count === 0) return pending.why === undefined ? "nothing" : "not whole";
  return `${what}${pending.calls === undefined ? "" : `, about ${pending.calls} calls`}`;
}

function section(
  page: Comment,
  details: Details[],
  set: ChangeSet,
  {
    title,
    pending,
    thingsOf,
  }: { title: string; pending: boolean; thingsOf: (environment: EnvironmentChanges) => readonly Thing[] },
): void {
  const things = mergeThings(set.environments, thingsOf);
  if (things.length === 0) return;
  const isOne = set.environments.length === 1;
  const columns = ["", "", "", "what", ...(isOne ? [] : ["in"]), "where"];
  page.line(
    ...(title === "" ? [] : ["", `**${title}**`]),
    "",
    `| ${columns.join(" | ")} |`,
    `|${" --- |".repeat(columns.length)}`,
  );
  for (const thing of things) {
    for (const head of thing.heads) page.row(thingRow(head, isOne));
    const { kind, name, changes, omitted, heads } = thing;
    const what = heads.length === 1 && heads[0] ? summary(heads[0].value) || verbs[heads[0].value.op] : "differs";
    const about = `${pending ? "pending " : ""}${kind} ${code(name, limits.name)}: ${what}`;
    details.push({
      title: about,
      isOpen: false,
      head: ["| | | | | before | after | where |", "| --- | --- | --- | --- | --- | --- | --- |"],
      rows: changes.filter(saysMore(thing)).map((change) => () => changeRows(change, thing)),
      omitted: heads.some(({ value: { op } }) => op === "change" || op === "replace") ? omitted : 0,
    });
  }
}

const where = (places: readonly string[]): string => {
  const more = places.length - limits.places;
  return (
    places
      .slice(0, limits.places)
      .map((place) => code(place, limits.name))
      .join(" ") + (more > 0 ? ` and ${more} more` : "")
  );
};

function thingRow({ value: thing, environments, places }: Shared<Thing>, isOne: boolean): string {
  const { kind, name, op, formerly, notes, guards, accepted } = thing;
  const renamed = formerly === undefined ? "" : ` (was ${code(formerly, limits.name)})`;
  const counts = summary(thing);
  const details = [
    ...(counts === "" || op !== "change" ? [verbs[op]] : []),
    ...(counts === "" ? [] : [counts]),
    ...(accepted === undefined ? [] : [`accepted: ${code(accepted, limits.sentence)}`]),
    ...notes.map((note) => code(note, limits.sentence)),
    ...(guards.length > 0 ? ["⛔"] : []), // each of them stands above
  ];
  const cells = [
    signs[op],
    kind,
    `${code(name, limits.name)}${renamed}`,
    details.join("; "),
    ...(isOne ? [] : [named(environments)]),
    where(places),
  ];
  return `| ${cells.join(" | ")} |`;
}

function changeRows({ value: change, environments, places }: Shared<Change>, thing: MergedThing): string {
  const { kind, op, name, fields, accepted } = change;
  const mark = accepted === undefined ? "" : ` accepted: ${code(accepted, limits.sentence)}`;
  const only = environments.length === thing.environments.length ? "" : ` in ${named(environments)} alone`;
  const start = [signs[op], kind, `${code(name, limits.name)}${mark}${only}`];
  const line = (label: string, before: string, after: string): string[] => [label, before, after];
  const ends = kind === "row" && op !== "change" ? cellsText(name, fields) : undefined;
  const lines =
    ends !== undefined || fields.length === 0
      ? [op === "add" ? line("", "", ends ?? "") : line("", ends ?? "", "")]
      : fields.map((field) => line(kind === "setting" ? "" : code(field.name, limits.name), ...valueCells(field)));
  return lines
    .map(
      (cells, at) =>
        `| ${[...(at === 0 ? start : ["", "", ""]), ...cells, at === 0 ? where(places) : ""].join(" | ")} |`,
    )
    .join("\n");
}

/** Cells of a row that comes or goes, on one line; those of its key are its name. */
function cellsText(name: string, fields: readonly Field[]): string | undefined {
  const cells = fields.flatMap((field) => {
    const value = field.before ?? field.after;
    return valueText(value) === name ? [] : [`${field.name} ${valueTexts(value, undefined)[0]}`];
  });
  return cells.length === 0 ? undefined : code(cells.join(", "), limits.row);
}

/** The old and the new value of a field; one that is not there is an empty cell. */
function valueCells({ before, after }: Field): [before: string, after: string] {
  const [was, is] = valueTexts(before, after);
  const texts = cutBoth(toVisible(was), toVisible(is), limits.value);
  const cell = (value: unknown, text: string): string => (value === undefined ? "" : code(text, limits.value + 2));
  return [cell(before, texts[0]), cell(after, texts[1])];
}

import { formatCount } from "../../platform/messages/text.ts";
import {
  type Change,
  type ChangeSet,
  type EnvironmentChanges,
  type Field,
  isUntouched,
  type Note,
  shownPlan,
  stops,
  type Thing,
} from "./changeSet.ts";
import {
  besides,
  cut,
  cutBoth,
  findDone,
  group,
  inWords,
  isConfusable,
  type MergedThing,
  mergeThings,
  openPart,
  saysMore,
  type Shared,
  signs,
  summary,
  toSigned,
  totals,
  toVisible,
  valueText,
  valueTexts,
  verbs,
} from "./text.ts";

/** Bytes that a report has at most: a comment of GitHub takes 65,536 characters. */
const maxBytes = 60_000;
/** Bytes reserved for the line that counts the parts left out. */
const reserve = 600;
const limits = {
  name: 120,
  value: 80,
  row: 200,
  sentence: 500,
  listed: 50,
  environments: 12,
  names: 30,
  places: 3,
  open: 12,
};

/** Beginning of a report's first line, by which a bot finds its comment. */
export const marker = ({ kind }: Pick<ChangeSet, "kind">): string => `<!-- microapps-${kind} -->`;

/**
 * The report as a comment: what people must not miss first, then counts of all, details folded. The same report makes the
 * same bytes.
 */
export function markdown(set: ChangeSet): string {
  const also = alsoLines(set);
  if (set.environments.every(isUntouched))
    return [`${marker(set)} ${nothingChanges(set)}`, ...also.flatMap((line) => ["", line]), ""].join("\n");
  const page = new Comment(maxBytes - reserve);
  for (const line of [marker(set), "", `## ${title(set)}`, ...also.flatMap((each) => ["", each])]) page.row(line);
  page.list("Look at these before you merge", checkLines(set), Infinity);
  page.row("");
  // A table that is cut must keep its head.
  for (const line of overview(set)) page.row(line);
  const found = group(
    set.environments.flatMap((each) => stops(each).map((value) => ({ environment: each.name, value }))),
  );
  const stopping = found.map(({ value, environments }) => `- ${named(environments)} ${code(value, limits.sentence)}`);
  page.list("What stops it", stopping, limits.listed);
  for (const line of noteLines(set)) page.line("", line);
  const details: Details[] = [];
  section(page, details, set, { title: "", pending: false, thingsOf: ({ change }) => change.things });
  section(page, details, set, { title: "Pending besides", pending: true, thingsOf: besides });
  const few = details.reduce((sum, { rows }) => sum + rows.length, 0) <= limits.open;
  page.details(details.map((each) => ({ ...each, isOpen: few })));
  return page.end();
}

/** The line of changed files that no declaration reads. */
function alsoLines({ alsoChanged: also }: ChangeSet): string[] {
  if (!also || also.count === 0) return [];
  const names = also.files.slice(0, limits.names).map((file) => code(file, limits.name));
  const more = also.count - names.length;
  const rest = more > 0 ? ` and ⛔ ${more} more, which have no room here: look at the diff` : "";
  return [`**Also changed**, may run in the pipeline: ${names.join(", ")}${rest}`];
}

/** Environments in a sentence. */
function named(environments: readonly string[]): string {
  const names = environments.slice(0, limits.environments).map((name) => code(name, limits.name));
  const more = environments.length - names.length;
  return inWords(more > 0 ? [...names, `${more} more`] : names);
}

const titles: Record<ChangeSet["kind"], string> = {
  report: "What this change does",
  drift: "What was changed by hand",
  between: "What differs",
};
const nothing: Record<ChangeSet["kind"], string> = {
  report: "Nothing changes",
  drift: "No drift",
  between: "Nothing differs",
};

function title({ base, kind }: ChangeSet): string {
  if (!base) return titles[kind];
  const behind =
    base.behind === undefined
      ? ""
      : `; the branch lacks ${base.behind} commits of it, so this is shown from where it began`;
  return `${titles[kind]}, compared with ${code(base.ref, limits.name)} (${code(base.commit.slice(0, 12), 12)})${behind}`;
}

function nothingChanges(set: ChangeSet): string {
  const names = set.environments.map(({ name }) => name);
  const where = names.length === 0 ? "" : ` in ${named(names)}`;
  const waiting = set.environments.filter(({ pending }) => (pending?.things.length ?? 0) > 0);
  const pending = waiting
    .map((each) => `${code(each.name, limits.name)} ${pendingCount(each)}`)
    .slice(0, limits.listed);
  const first = pending.length === 0 ? "" : ` Pending from before: ${pending.join(", ")}.`;
  return [
    `${nothing[set.kind]}${where}${set.base ? `, compared with ${code(set.base.ref, limits.name)}` : ""}.${first}`,
    ...openLines(set),
    ...planLines(set),
  ].join(" ");
}

/** The digests of plans, by which a run is held to what was looked at. */
const planLines = ({ environments }: ChangeSet): string[] =>
  environments.flatMap((environment) => {
    const plan = shownPlan(environment);
    return plan === undefined ? [] : [`Plan of ${code(environment.name, limits.name)}: ${code(plan, limits.name)}.`];
  });

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
  const entriesOf = (textsOf: (environment: EnvironmentChanges) => readonly string[]) =>
    group(set.environments.flatMap((each) => textsOf(each).map((value) => ({ environment: each.name, value }))));
  const uncompared = entriesOf(({ change }) => [openPart(change) ?? []].flat());
  const done = entriesOf((each) => findDone(each).map(({ kind, name }) => `${kind} ${name}`));
  return [
    ...[...uncompared, ...entriesOf(({ notes }) => notes)].map(
      ({ value, environments }) => `${named(environments)}: ${code(value, limits.sentence)}`,
    ),
    ...done.map(
      ({ value, environments }) =>
        `${named(environments)}: ${code(value, limits.name)} is so already, an update has nothing to do`,
    ),
    ...openLines(set),
    ...planLines(set),
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
  return ["| environment | things | people | rows | pending | stops |", "|-|-|-|-|-|-|", ...rows];
}

function pendingCount(environment: EnvironmentChanges): string {
  const { change, pending } = environment;
  if (!pending) return "";
  if (!pending.compared) return "not compared";
  const count = pending.things.length;
  const isSame = count > 0 && count === change.things.length && besides(environment).length === 0;
  const what = isSame ? "the same" : `${count} ${count === 1 ? "thing" : "things"}`;
  if (count === 0) return pending.why === undefined ? "nothing" : "not whole";
  return what;
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
    `|${"-|".repeat(columns.length)}`,
  );
  for (const thing of things) {
    for (const head of thing.heads) page.row(thingRow(head, isOne));
    const { kind, name, changes, omitted, heads } = thing;
    const what = heads.length === 1 && heads[0] ? summary(heads[0].value) || verbs[heads[0].value.op] : "differs";
    const about = `${pending ? "pending " : ""}${kind} ${code(name, limits.name)}: ${what}`;
    details.push({
      title: about,
      isOpen: false,
      head: ["| | | | | before | after | where |", "|-|-|-|-|-|-|-|"],
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

// What whoever merges must have looked at. Equal words of several environments stand once.

/** Begins an item, in the order of the list. */
const leads = {
  flags: "",
  removals: "What goes",
  admins: "Who gains or loses admin",
  guards: "Guards that are looser",
};

interface CheckEntry {
  about: keyof typeof leads;
  environment: string;
  text: string;
}

function checkLines({ kind, environments: all }: ChangeSet): string[] {
  if (kind !== "report") return [];
  const texts = group(
    all.flatMap(checksOf).map(({ environment, ...value }) => ({ environment, value })),
    ({ about, text }) => JSON.stringify([about, text]),
  );
  const order = Object.keys(leads);
  const lines = Map.groupBy(texts, ({ value, environments }) =>
    JSON.stringify([value.about, environments, value.about === "flags" ? value.text : ""]),
  );
  return [...lines.values()]
    .toSorted(([a], [b]) => order.indexOf(a?.value.about ?? "") - order.indexOf(b?.value.about ?? ""))
    .flatMap((some) => {
      const [first] = some;
      if (!first) return [];
      const { about } = first.value;
      if (about === "flags") return `- [ ] ${named(first.environments)}: ${code(first.value.text, limits.sentence)}`;
      const names = some.slice(0, limits.names).map(({ value }) => code(value.text, limits.name));
      const more = some.length - names.length;
      return `- [ ] ${leads[about]}, ${named(first.environments)}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    });
}

/** A note behind its place, where the note does not begin with it. */
const noteText = ({ text, place }: Note): string =>
  place === undefined || text.startsWith(`${place} `) ? text : `${place}: ${text}`;

function checksOf({ name, flags, change, pending }: EnvironmentChanges): CheckEntry[] {
  const found = new Map<string, CheckEntry>();
  const add = (about: CheckEntry["about"], text: string | undefined): void => {
    if (text !== undefined) found.set(`${about} ${text}`, { about, environment: name, text });
  };
  for (const flag of flags) add("flags", noteText(flag));
  for (const thing of [...change.things, ...(pending?.things ?? [])]) {
    for (const text of removalsOf(thing)) add("removals", text);
    for (const each of thing.changes) {
      if (each.kind === "person") add("admins", adminText(each, thing));
      if (each.kind === "setting" && thing.op !== "add" && thing.op !== "remove") add("guards", guardText(each, thing));
    }
  }
  return [...found.values()];
}

const countOf = (count: number | undefined, noun: string): string[] =>
  (count ?? 0) > 0 ? [formatCount(count ?? 0, noun)] : [];

/** Rows and people that leave a thing, or the thing with all that it has. */
function removalsOf({ kind, name, op, people, rows, changes }: Thing): string[] {
  const counts = [...countOf(people?.remove, "person"), ...countOf(rows?.remove, "row")];
  if (op === "remove") return [`${kind} ${name}${counts.length === 0 ? "" : ` with ${counts.join(" and ")}`}`];
  const replaced = op === "replace" ? [`${kind} ${name}, which is replaced`] : [];
  const leaving = changes.flatMap((each) => (each.kind === "person" && each.op === "remove" ? [each.name] : []));
  const isListed = leaving.length > 0 && leaving.length === (people?.remove ?? 0);
  return [
    ...replaced,
    ...(isListed ? leaving : countOf(people?.remove, "person")).map((text) => `${text} from ${name}`),
    ...countOf(rows?.remove, "row").map((text) => `${text} of ${name}`),
  ];
}

function adminText({ name, fields }: Change, { name: team }: Thing): string | undefined {
  const role = fields.find((field) => field.name === "role");
  const [was, is] = [role?.before === "admin", role?.after === "admin"];
  if (was === is) return undefined;
  return is ? `${name} becomes admin of ${team}` : `${name} is no admin of ${team} any more`;
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** By setting: true when a new value is as strict as the old one. */
const strict: Readonly<Record<string, (field: Field) => boolean>> = {
  maxRemovals: ({ before, after }) => isNumber(before) && isNumber(after) && after <= before,
  minAdmins: ({ before, after }) => isNumber(after) && after >= (isNumber(before) ? before : 0),
  keepSelf: ({ after }) => after !== false,
  onDestroy: ({ after }) => after === "retain",
  onConflict: ({ after }) => after === "error" || after === "keepLive",
  mode: ({ after }) => after !== "exact" && after !== "authoritative",
  adopt: ({ after }) => after === undefined || after === false,
  ignoreActionRules: ({ after }) => after !== true,
  sensitive: ({ after }) => after === true,
  secretLabels: ({ before, after }) =>
    Array.isArray(after) && Array.isArray(before) && before.every((label) => after.includes(label)),
};

function guardText({ name: setting, fields }: Change, { name }: Thing): string | undefined {
  const [field] = fields;
  if (!field || !Object.hasOwn(strict, setting) || strict[setting]?.(field)) return undefined;
  const [was, is] = cutBoth(...valueTexts(field.before, field.after), 60);
  return `${setting} of ${name}: ${was === "" ? "default" : was} → ${is === "" ? "default" : is}`;
}

/**
 * A text of others: inside of an element, in which every character that could mean something stands as its number. So no
 * text makes a link, an image, a mention, a heading, or ends the cell that it stands in.
 */
export function code(text: string, length: number): string {
  const encoded = cut(toVisible(text), length)
    .replace(/[^\p{L}\p{M}\p{N} ]/gu, (char) => `&#${char.codePointAt(0) ?? 0};`)
    // GitHub looks for addresses once entities are decoded, between elements alone.
    .replace(/&#64;|&#58;(?=&#47;)|(?<=www)&#46;/gi, "$&<!-- -->");
  return `<code>${encoded === "" ? "&#8203;" : encoded}</code>${isConfusable(text) ? " ⚠ letters of several scripts" : ""}`;
}

/** The changes of one thing, folded away unless they are few. */
interface Details {
  title: string;
  isOpen: boolean;
  head: readonly string[];
  rows: readonly (() => string)[];
  /** Changes that are counted and not listed anywhere. */
  omitted: number;
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** The lines of a report within a number of bytes; what does not fit is counted. */
class Comment {
  readonly #lines: string[] = [];
  #left: number;
  #cutRows = 0;
  #cutChanges = 0;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Adds lines that belong together, or none of them. */
  line(...lines: string[]): boolean {
    const bytes = sizeOf(lines);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#lines.push(...lines);
    return true;
  }

  /** Adds a line that counts as cut when there is no room for it. */
  row(line: string): void {
    if (!this.line(line)) this.#cutRows++;
  }

  /** Adds a list with its title, and counts the entries left out. */
  list(title: string, lines: readonly string[], max: number): void {
    if (lines.length === 0) return;
    this.line("", `### ${title}`, "");
    let shown = 0;
    for (const line of lines.slice(0, max)) if (this.line(line)) shown++;
    if (lines.length > shown)
      this.#lines.push(`- ⛔ ${lines.length - shown} more have no room here: they are in the report in JSON`);
  }

  /** Gives each of them its share of the room that is left: what a small one does not need the larger ones have. */
  details(all: readonly Details[]): void {
    const bySize = all.toSorted((a, b) => a.rows.length - b.rows.length);
    let left = this.#left;
    const blocks = new Map<Details, string[]>();
    for (const [index, each] of bySize.entries()) {
      const block = this.#block(each, left / (bySize.length - index));
      blocks.set(each, block);
      left -= sizeOf(block);
    }
    for (const each of all) this.line(...(blocks.get(each) ?? []));
  }

  #block({ title, isOpen, head, rows: made, omitted }: Details, share: number): string[] {
    const opening = ["", isOpen ? "<details open>" : "<details>", `<summary>${title}</summary>`, "", ...head];
    const closing = ["", "</details>"];
    let room = share - sizeOf([...opening, ...closing]) - 100;
    const rows: string[] = [];
    for (const make of made) {
      const row = make();
      room -= Buffer.byteLength(row) + 1;
      if (room < 0) break;
      rows.push(row);
    }
    const hidden = made.length - rows.length;
    this.#cutChanges += hidden;
    if (rows.length === 0) return [];
    const more = hidden + omitted === 0 ? [] : ["", `${hidden + omitted} more are not shown here.`];
    return [...opening, ...rows, ...more, ...closing];
  }

  end(): string {
    if (this.#cutRows + this.#cutChanges > 0) {
      const parts = [
        ...(this.#cutRows > 0 ? [`${this.#cutRows} lines of the tables`] : []),
        ...(this.#cutChanges > 0 ? [`${this.#cutChanges} changes`] : []),
      ];
      this.#lines.push(
        "",
        `Cut here: ${parts.join(" and ")}. All that is listed is in \`microapps report --format json\`; the counts above are of all.`,
      );
    }
    return `${this.#lines.join("\n")}\n`;
  }
}

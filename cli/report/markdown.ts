import { formatCount } from "../../platform/messages/text.ts";
import {
  type Change,
  type ChangeSet,
  type EnvironmentChanges,
  type Field,
  isComplete,
  isUntouched,
  placed,
  shownPlan,
  stops,
  type Thing,
} from "./changeSet.ts";
import {
  besides,
  cut,
  cutBoth,
  findDone,
  inWords,
  isConfusable,
  type MergedThing,
  mergeThings,
  openPart,
  saysMore,
  type Shared,
  shared,
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
  const stopping = shared(set.environments, stops).map(
    ({ value, environments }) => `- ${named(environments)} ${code(value, limits.sentence)}`,
  );
  page.list("What stops it", stopping, limits.listed);
  for (const line of noteLines(set)) page.line("", line);
  const details = [
    ...section(page, set, "", ({ change }) => change.things),
    ...section(page, set, "Pending besides", besides),
  ];
  const few = details.reduce((sum, { rows }) => sum + rows.length, 0) <= limits.open;
  page.details(details, few);
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
    return plan === undefined
      ? []
      : [
          `Plan of ${code(environment.name, limits.name)}, which \`up --plan\` runs or refuses: ${code(plan, limits.name)}.`,
        ];
  });

/** Lines about pending changes that can't be found out, one for the environments that share the reason. */
const openLines = ({ environments }: ChangeSet): string[] =>
  shared(environments, ({ pending }) => [openPart(pending) ?? []].flat()).map(
    ({ value, environments: where }) => `Pending in ${named(where)}: ${code(value, limits.sentence)}.`,
  );

function noteLines(set: ChangeSet): string[] {
  const { environments: all } = set;
  const notes = [...shared(all, ({ change }) => [openPart(change) ?? []].flat()), ...shared(all, ({ notes }) => notes)];
  const done = shared(all, (each) => findDone(each).map(({ kind, name }) => `${kind} ${name}`));
  return [
    ...notes.map(({ value, environments }) => `${named(environments)}: ${code(value, limits.sentence)}`),
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
  if (count === 0) return isComplete(pending) ? "nothing" : pending.why === undefined ? "" : "incomplete";
  return what;
}

/** Adds the table of things, and returns what each of them changes. */
function section(
  page: Comment,
  { environments }: ChangeSet,
  title: string,
  thingsOf: (environment: EnvironmentChanges) => readonly Thing[],
): Details[] {
  const things = mergeThings(environments, thingsOf);
  if (things.length === 0) return [];
  const isOne = environments.length === 1;
  const columns = ["", "", "", "what", ...(isOne ? [] : ["in"]), "where"];
  page.line(
    ...(title === "" ? [] : ["", `**${title}**`]),
    "",
    `| ${columns.join(" | ")} |`,
    `|${"-|".repeat(columns.length)}`,
  );
  return things.map((thing) => {
    const { kind, name, changes, omitted, heads } = thing;
    for (const head of heads) page.row(thingRow(head, isOne));
    const what = heads.length === 1 && heads[0] ? summary(heads[0].value) || verbs[heads[0].value.op] : "differs";
    return {
      title: `${title === "" ? "" : "pending "}${kind} ${code(name, limits.name)}: ${what}`,
      rows: changes.filter(saysMore(thing)).map((change) => () => changeRows(change, thing)),
      omitted: heads.some(({ value: { op } }) => op === "change" || op === "replace") ? omitted : 0,
    };
  });
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

function checkLines({ kind, environments: all }: ChangeSet): string[] {
  if (kind !== "report") return [];
  const flags = shared(all, (each) => [...new Set(each.flags.map(flagText))]);
  const lists = Object.entries({
    "What goes": removalsOf,
    "Who gains or loses admin": adminTexts,
    "Guards that are looser": guardTexts,
  }).flatMap(([lead, textsOf]) => {
    const found = shared(all, ({ change, pending }) => [
      ...new Set([...change.things, ...(pending?.things ?? [])].flatMap(textsOf)),
    ]);
    return [...Map.groupBy(found, ({ environments }) => named(environments))].map(([where, texts]) => {
      const names = texts.slice(0, limits.names).map(({ value }) => code(value, limits.name));
      const more = texts.length - names.length;
      return `- [ ] ${lead}, ${where}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    });
  });
  return [
    ...flags.map(({ value, environments }) => `- [ ] ${named(environments)}: ${code(value, limits.sentence)}`),
    ...lists,
  ];
}

/** A flag behind its place, where it does not begin with that. */
const flagText = (flag: EnvironmentChanges["flags"][number]): string =>
  flag.place !== undefined && flag.text.startsWith(`${flag.place} `) ? flag.text : placed(flag);

const countOf = (count: number | undefined, noun: string): string[] =>
  (count ?? 0) > 0 ? [formatCount(count ?? 0, noun)] : [];

/** Rows and people that leave a thing, or the thing with all that it has. */
function removalsOf({ kind, name, op, people, rows, changes }: Thing): string[] {
  const counts = [...countOf(people?.remove, "person"), ...countOf(rows?.remove, "row")];
  if (op === "remove") return [`${kind} ${name}${counts.length === 0 ? "" : ` with ${counts.join(" and ")}`}`];
  const leaving = changes.flatMap((each) => (each.kind === "person" && each.op === "remove" ? [each.name] : []));
  const isListed = leaving.length > 0 && leaving.length === (people?.remove ?? 0);
  return [
    ...(op === "replace" ? [`${kind} ${name}, which is replaced`] : []),
    ...(isListed ? leaving : countOf(people?.remove, "person")).map((text) => `${text} from ${name}`),
    ...countOf(rows?.remove, "row").map((text) => `${text} of ${name}`),
  ];
}

const adminTexts = ({ name: team, changes }: Thing): string[] =>
  changes.flatMap(({ kind, name, fields }) => {
    const role = kind === "person" ? fields.find((field) => field.name === "role") : undefined;
    const [was, is] = [role?.before === "admin", role?.after === "admin"];
    if (was === is) return [];
    return is ? `${name} becomes admin of ${team}` : `${name} is no longer an admin of ${team}`;
  });

const isNumber = (value: unknown): value is number => typeof value === "number";

/** True where a list has lost nothing; none that is there has everything. */
const hasAllOf = ({ before = [], after }: Pick<Field, "before" | "after">): boolean =>
  Array.isArray(after) && Array.isArray(before) && before.every((label) => after.includes(label));

/** By setting: true when a new value is as strict as the old one. */
const strict: Readonly<Record<string, (field: Pick<Field, "before" | "after">) => boolean>> = {
  maxRemovals: ({ before, after }) => isNumber(before) && isNumber(after) && after <= before,
  minAdmins: ({ before, after }) => isNumber(after) && after >= (isNumber(before) ? before : 0),
  keepSelf: ({ after }) => after !== false,
  onDestroy: ({ after }) => after === "retain",
  onConflict: ({ after }) => after === "error" || after === "keepLive",
  mode: ({ after }) => after !== "exact" && after !== "authoritative",
  adopt: ({ after }) => after === undefined || after === false,
  ignoreActionRules: ({ after }) => after !== true,
  sensitive: ({ after }) => after === true,
  secretLabels: hasAllOf,
  "expect.unique": hasAllOf,
  "expect.notNull": hasAllOf,
  "expect.rowCount.min": ({ before = 0, after }) => isNumber(after) && isNumber(before) && after >= before,
  "expect.rowCount.max": ({ before = Infinity, after }) => isNumber(after) && isNumber(before) && after <= before,
  "expect.acceptedValues": ({ before, after }) =>
    before === undefined || (after !== undefined && hasAllOf({ before: after, after: before })),
  "expect.relationships": ({ before }) => before === undefined,
  expect: ({ after }) => after !== undefined,
};

/** By a setting, or by the one that it is a part of. */
const strictness = (name: string): ((field: Pick<Field, "before" | "after">) => boolean) | undefined =>
  Object.entries(strict).find(([setting]) => name === setting || name.startsWith(`${setting}.`))?.[1];

function guardTexts({ op, name: thing, changes }: Thing): string[] {
  if (op === "add" || op === "remove") return [];
  return changes.flatMap(({ kind, name, fields: [field] }) => {
    if (kind !== "setting" || !field || (strictness(name)?.(field) ?? true)) return [];
    const [was, is] = cutBoth(...valueTexts(field.before, field.after), 60);
    return `${name} of ${thing}: ${was === "" ? "default" : was} → ${is === "" ? "default" : is}`;
  });
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
  details(all: readonly Details[], isOpen: boolean): void {
    const bySize = all.toSorted((a, b) => a.rows.length - b.rows.length);
    let left = this.#left;
    const blocks = new Map<Details, string[]>();
    for (const [index, each] of bySize.entries()) {
      const block = this.#block(each, isOpen, left / (bySize.length - index));
      blocks.set(each, block);
      left -= sizeOf(block);
    }
    for (const each of all) this.line(...(blocks.get(each) ?? []));
  }

  #block({ title, rows: made, omitted }: Details, isOpen: boolean, share: number): string[] {
    const table = ["| | | | | before | after | where |", "|-|-|-|-|-|-|-|"];
    const opening = ["", isOpen ? "<details open>" : "<details>", `<summary>${title}</summary>`, "", ...table];
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
    const parts = [
      ...(this.#cutRows > 0 ? [`${this.#cutRows} lines of the tables`] : []),
      ...(this.#cutChanges > 0 ? [`${this.#cutChanges} changes`] : []),
    ];
    const cut = `Cut here: ${parts.join(" and ")}. All that is listed is in \`microapps report --format json\`; the counts above are of all.`;
    return `${[...this.#lines, ...(parts.length > 0 ? ["", cut] : [])].join("\n")}\n`;
  }
}

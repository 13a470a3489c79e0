import {
  isUnchanged,
  stops,
  type Change,
  type ChangeSet,
  type EnvironmentChanges,
  type Note,
  type Section,
  type Thing,
} from "../model/changeSet.ts";
import { isConfusable } from "./confusables.ts";
import { cut, signed, signs, summary, totals, valueText, verbs, visible } from "./text.ts";

/** Bytes that a report has at most: a comment of GitHub takes 65,536 characters. */
const maxBytes = 60_000;
/** Bytes that are left for the line that says how much was cut. */
const reserve = 600;
const limits = { name: 120, value: 80, sentence: 500, listed: 50, flags: 12 };

/** What the first line of a report begins with, by which a bot finds its comment. */
export const marker = ({ kind }: Pick<ChangeSet, "kind">): string => `<!-- microapps-${kind} -->`;

/** The report as a comment: counts of all, tables first, details folded. The same report makes the same bytes. */
export function markdown(set: ChangeSet): string {
  if (set.flags.length === 0 && set.environments.every(isUnchanged)) return `${marker(set)} ${nothingChanges(set)}\n`;
  const page = new Page(maxBytes - reserve);
  page.all([marker(set), "", `## ${title(set)}`, "", ...overview(set)]);
  page.list(
    "What stops it",
    set.environments.flatMap((each) => stops(each).map((text) => [each.name, text] as const)),
  );
  page.list("Look at these", [
    ...set.environments.flatMap(({ name, flags }) => firstOf(flags).map((text) => [name, text] as const)),
    ...firstOf(set.flags).map((text) => [undefined, text] as const),
  ]);
  const details: Details[] = [];
  for (const environment of set.environments) {
    page.line("", `### ${code(environment.name, limits.name)}`);
    for (const note of environment.notes) page.line("", code(note, limits.sentence));
    section(page, details, set, "This change", environment.change, environment);
    if (environment.pending) section(page, details, set, "Pending", environment.pending, environment);
  }
  page.details(details);
  return page.end();
}

/** The first of them, so that many links of a branch leave room for what counts. */
function firstOf(flags: readonly Note[]): string[] {
  const more = flags.length - limits.flags;
  return [...flags.slice(0, limits.flags).map(noteText), ...(more > 0 ? [`and ${more} more`] : [])];
}

const titles: Record<ChangeSet["kind"], string> = {
  report: "What this change does",
  drift: "What was changed by hand",
  events: "What an update does",
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
  const names = set.environments.slice(0, limits.listed).map(({ name }) => code(name, limits.name));
  const where =
    names.length === 0 ? "" : ` in ${names.join(", ")}${set.environments.length > names.length ? ", …" : ""}`;
  const what = set.kind === "drift" ? "No drift" : "Nothing changes";
  const reasons = [...new Set(set.environments.flatMap(({ pending }) => pending?.why ?? []))];
  const unseen =
    reasons.length === 0 ? "" : ` Of the state is not compared: ${code(reasons.join("; "), limits.sentence)}`;
  return `${what}${where}${set.base ? `, compared with ${code(set.base.ref, limits.name)}` : ""}.${unseen}`;
}

function overview(set: ChangeSet): string[] {
  const rows = set.environments.map((environment) => {
    const { things, people, rows } = totals(environment.change);
    const changed = { remove: things.remove, change: things.change + things.replace, add: things.add };
    const counts = environment.change.compared
      ? [signed(changed), signed(people), signed(rows)]
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

function pendingCount({ pending }: EnvironmentChanges): string {
  if (!pending) return "";
  if (!pending.compared) return "not compared";
  const count = pending.things.length;
  return count === 0
    ? "nothing"
    : `${count} ${count === 1 ? "thing" : "things"}${pending.calls === undefined ? "" : `, about ${pending.calls} calls`}`;
}

/** The changes of one thing, folded away. */
interface Details {
  title: string;
  changes: readonly Change[];
  omitted: number;
}

function section(
  page: Page,
  details: Details[],
  set: ChangeSet,
  name: string,
  { compared, why, things }: Section,
  environment: EnvironmentChanges,
): void {
  const heading = set.kind === "report" ? [`**${name}**`] : [];
  const reason = why === undefined ? "" : ` ${compared ? "Not whole" : "Not compared"}: ${code(why, limits.sentence)}`;
  if (things.length === 0) {
    page.line("", `${heading.join("")}${reason === "" ? ": nothing" : reason}`);
    return;
  }
  page.line("", `${heading.join("")}${reason}`, "", "| | | | what | where |", "| --- | --- | --- | --- | --- |");
  for (const thing of things) {
    page.row(thingRow(thing));
    if (thing.changes.length + thing.omitted > 0) {
      const title = `${code(environment.name, limits.name)} ${name === "Pending" ? "pending " : ""}${thing.kind} ${code(thing.name, limits.name)}: ${summary(thing) || verbs[thing.op]}`;
      details.push({ title, changes: thing.changes, omitted: thing.omitted });
    }
  }
}

function thingRow(thing: Thing): string {
  const { kind, name, op, formerly, notes, guards, place, accepted } = thing;
  const renamed = formerly === undefined ? "" : ` (was ${code(formerly, limits.name)})`;
  const details = [
    summary(thing),
    ...(accepted === undefined ? [] : [`accepted: ${code(accepted, limits.sentence)}`]),
    ...notes.map((note) => code(note, limits.sentence)),
    ...guards.map((guard) => `⛔ ${code(guard, limits.sentence)}`),
  ].filter((part) => part !== "");
  const cells = [
    signs[op],
    kind,
    `${code(name, limits.name)}${renamed}`,
    [verbs[op], ...details].join("; "),
    where(place),
  ];
  return `| ${cells.join(" | ")} |`;
}

function changeRows({ kind, op, name, fields, place, accepted }: Change): string {
  const mark = accepted === undefined ? "" : ` accepted: ${code(accepted, limits.sentence)}`;
  const start = [signs[op], kind, `${code(name, limits.name)}${mark}`];
  const value = (raw: unknown): string => (raw === undefined ? "" : code(valueText(raw), limits.value));
  if (fields.length === 0) return `| ${[...start, "", "", "", where(place)].join(" | ")} |`;
  return fields
    .map((field, index) => {
      const label = kind === "setting" ? "" : code(field.name, limits.name);
      const first = index === 0 ? start : ["", "", ""];
      return `| ${[...first, label, value(field.before), value(field.after), index === 0 ? where(place) : ""].join(" | ")} |`;
    })
    .join("\n");
}

const where = (place: string | undefined): string => (place === undefined ? "" : code(place, limits.name));
const noteText = ({ text, place }: Note): string => (place === undefined ? text : `${place}: ${text}`);

/**
 * A text of others: inside of an element, in which every character that could mean something stands as its number. So no
 * text makes a link, an image, a mention, a heading, or ends the cell that it stands in.
 */
export function code(text: string, length: number): string {
  const encoded = cut(visible(text), length)
    .replace(/[^\p{L}\p{M}\p{N} ]/gu, (char) => `&#${char.codePointAt(0) ?? 0};`)
    // GitHub looks for addresses once entities are decoded, between elements alone.
    .replace(/&#64;|&#58;(?=&#47;)|(?<=www)&#46;/gi, "$&<!-- -->");
  return `<code>${encoded === "" ? "&#8203;" : encoded}</code>${isConfusable(text) ? " ⚠ letters of several scripts" : ""}`;
}

/** Lines within a number of bytes; what does not fit is counted. */
class Page {
  readonly #lines: string[] = [];
  #left: number;
  #cutRows = 0;
  #cutChanges = 0;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  all(lines: readonly string[]): void {
    // A table that is cut must keep its head.
    for (const line of lines) this.row(line);
  }

  /** Adds lines that belong together, or none of them. */
  line(...lines: string[]): boolean {
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#lines.push(...lines);
    return true;
  }

  row(line: string): void {
    if (!this.line(line)) this.#cutRows++;
  }

  list(title: string, entries: readonly (readonly [name: string | undefined, text: string])[]): void {
    if (entries.length === 0) return;
    this.line("", `### ${title}`, "");
    for (const [name, text] of entries.slice(0, limits.listed)) {
      this.row(`- ${name === undefined ? "" : `${code(name, limits.name)} `}${code(text, limits.sentence)}`);
    }
    if (entries.length > limits.listed) this.line(`- and ${entries.length - limits.listed} more`);
  }

  /** Each of them gets its share of the room that is left. */
  details(all: readonly Details[]): void {
    all.forEach(({ title, changes, omitted }, index) => {
      const share = this.#left / (all.length - index);
      const head = [
        "",
        "<details>",
        `<summary>${title}</summary>`,
        "",
        "| | | | | before | after | where |",
        "| --- | --- | --- | --- | --- | --- | --- |",
      ];
      const foot = ["", "</details>"];
      const size = (lines: readonly string[]): number =>
        lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
      let room = share - size([...head, ...foot]) - 100;
      const rows: string[] = [];
      for (const change of changes) {
        const row = changeRows(change);
        room -= Buffer.byteLength(row) + 1;
        if (room < 0) break;
        rows.push(row);
      }
      const hidden = changes.length - rows.length + omitted;
      if (rows.length === 0) {
        this.#cutChanges += hidden;
        return;
      }
      const more = hidden === 0 ? [] : ["", `${hidden} more are not shown here.`];
      this.line(...head, ...rows, ...more, ...foot);
      this.#cutChanges += hidden;
    });
  }

  end(): string {
    if (this.#cutRows + this.#cutChanges > 0) {
      const things = this.#cutRows > 0 ? `${this.#cutRows} lines of the tables and ` : "";
      this.#lines.push(
        "",
        `Cut here: ${things}${this.#cutChanges} changes. All that is listed is in the report in JSON or HTML (\`microapps report --format html\`); the counts above are of all.`,
      );
    }
    return `${this.#lines.join("\n")}\n`;
  }
}

import { formatCount } from "../../../provider/messages/text.ts";
import {
  type Change,
  type ChangeSet,
  type EnvironmentChanges,
  type Field,
  type Note,
  type Thing,
} from "../model/changeSet.ts";
import { cutBoth, valueTexts } from "./text.ts";

/** One thing that whoever approves must have looked at. */
export interface CheckItem {
  about: keyof typeof leads;
  /** None where all environments share it. */
  environments: string[];
  names: string[];
}

/** Begins an item, in the order of the list. */
export const leads = {
  flags: "Where credentials go and what runs",
  removals: "What goes",
  admins: "Who gains or loses admin",
  guards: "Guards that are looser",
};

interface Entry {
  about: CheckItem["about"];
  environment?: string;
  text: string;
}

/** Items that an approver must check. Equal words of several environments stand once. */
export function checklist(set: ChangeSet): CheckItem[] {
  const environments = set.environments.toSorted((a, b) => (b.depth ?? -1) - (a.depth ?? -1));
  const entries = [
    ...environments.flatMap(({ name, flags }) => flags.map((flag) => entryOf("flags", noteText(flag), name))),
    ...set.flags.map((flag) => entryOf("flags", noteText(flag))),
    ...(set.kind === "drift" || set.kind === "changes" ? [] : environments.flatMap(entriesOf)),
  ];
  const texts = Map.groupBy(entries, ({ about, text }) => JSON.stringify([about, text]));
  const merged = [...texts.values()].flatMap(([first, ...more]) => {
    if (!first) return [];
    const names = [first, ...more].flatMap(({ environment }) => environment ?? []);
    return [
      {
        about: first.about,
        text: first.text,
        environments: set.environments.map(({ name }) => name).filter((name) => names.includes(name)),
      },
    ];
  });
  const items = Map.groupBy(merged, ({ about, environments: where, text }) =>
    JSON.stringify([about, where, about === "flags" ? text : ""]),
  );
  const all = [...items.values()].flatMap((some): CheckItem[] => {
    const [first] = some;
    return first ? [{ about: first.about, environments: first.environments, names: some.map(({ text }) => text) }] : [];
  });
  const order = Object.keys(leads);
  return all.toSorted((a, b) => order.indexOf(a.about) - order.indexOf(b.about));
}

const entryOf = (about: CheckItem["about"], text: string, environment?: string): Entry => ({
  about,
  text,
  ...(environment === undefined ? {} : { environment }),
});

/** A note behind its place, where the note does not begin with it. */
const noteText = ({ text, place }: Note): string =>
  place === undefined || text.startsWith(`${place} `) ? text : `${place}: ${text}`;

function entriesOf({ name, change, pending }: EnvironmentChanges): Entry[] {
  const texts = new Map<string, Entry>();
  for (const thing of [...change.things, ...(pending?.things ?? [])]) {
    for (const text of removalsOf(thing)) texts.set(`removals ${text}`, entryOf("removals", text, name));
    for (const each of thing.changes) {
      const admin = each.kind === "person" ? adminText(each, thing) : undefined;
      if (admin !== undefined) texts.set(`admins ${admin}`, entryOf("admins", admin, name));
      const guard = each.kind === "setting" && !isWhole(thing) ? guardText(each, thing) : undefined;
      if (guard !== undefined) texts.set(`guards ${guard}`, entryOf("guards", guard, name));
    }
  }
  return [...texts.values()];
}

const isWhole = ({ op }: Thing): boolean => op === "add" || op === "remove";

/** Rows and people that leave a thing, or the thing with all that it has. */
function removalsOf({ kind, name, op, people, rows, changes }: Thing): string[] {
  const counts = [...countOf(people?.remove, "person"), ...countOf(rows?.remove, "row")];
  if (op === "remove") return [`${kind} ${name}${counts.length === 0 ? "" : ` with ${counts.join(" and ")}`}`];
  const replaced = op === "replace" ? [`${kind} ${name}, which is replaced`] : [];
  const leaving = changes.flatMap((each) => (each.kind === "person" && each.op === "remove" ? [each.name] : []));
  const isListed = leaving.length > 0 && leaving.length === (people?.remove ?? 0);
  return [
    ...replaced,
    ...(isListed
      ? leaving.map((person) => `${person} from ${name}`)
      : countOf(people?.remove, "person").map((text) => `${text} from ${name}`)),
    ...countOf(rows?.remove, "row").map((text) => `${text} of ${name}`),
  ];
}

const countOf = (count: number | undefined, noun: string): string[] =>
  (count ?? 0) > 0 ? [formatCount(count ?? 0, noun)] : [];

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

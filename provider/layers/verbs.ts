import { isDeepStrictEqual } from "node:util";
import { nearest } from "../../machine/spelling.ts";
import { toPlainValue, type Place, type Problem, type Sequence, type Value } from "./document.ts";

/** Items that a layer adds to a list, or takes out of it. */
export interface ListEdit {
  do: "add" | "drop";
  at: Place;
  value: Value;
}

/** A place as messages name it. */
export const describePlace = ({ file, line, column }: Place): string =>
  line === 0 ? file : `${file}:${line}:${column}`;

interface Surroundings {
  isThere: boolean;
  /** Where it was taken out before. */
  takenAt: Place | undefined;
  /** Its neighbours in the map or list. */
  others: readonly (readonly [key: string, entry: { at: Place }])[];
}

/** Describes why an entry can't be removed; nothing when it is there. */
export function takeOut(
  kind: string,
  key: string,
  at: Place,
  { isThere, takenAt, others }: Surroundings,
): Problem | undefined {
  if (isThere) return undefined;
  if (takenAt) {
    return {
      at,
      message: `${kind} "${key}" is taken out at ${describePlace(takenAt)} already; keep one of the two lines`,
    };
  }
  const below = others.filter(([, entry]) => entry.at.file !== at.file);
  const near = nearest(
    key,
    below.map(([other]) => other),
  );
  const meant = below.find(([other]) => other === near) ?? below[0];
  const advice = near === undefined ? "remove the line" : `did you mean "${near}"?`;
  const there = meant ? ` (${near === undefined ? `"${meant[0]}" is ` : ""}at ${describePlace(meant[1].at)})` : "";
  return {
    at,
    message: `${kind} "${key}" can't be taken out: no file that this one extends has it; ${advice}${there}`,
  };
}

/** A value in few words. */
function named(value: Value): string {
  const text = JSON.stringify(toPlainValue(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The list once items were added or taken out; what can't be done is reported. */
export function editList(
  below: Value | undefined,
  edit: ListEdit,
  name: string,
  report: (problem: Problem) => void,
): Value {
  // A list of one item may be written without its brackets.
  const items = !below ? [] : below.kind === "list" ? [...below.items] : [below];
  const verb = `${name}${edit.do === "add" ? "+" : "-"}`;
  const edits = edit.value.kind === "list" ? edit.value.items : [edit.value];
  if (edit.value.kind !== "list") {
    report({ at: edit.value.at, message: `${verb} must be a list; put it in brackets` });
    return below ?? { kind: "list", at: edit.at, items: [] };
  }
  for (const item of edits) {
    const index = items.findIndex((other) => isDeepStrictEqual(toPlainValue(other), toPlainValue(item)));
    const found = items[index];
    if (edit.do === "add" && found) {
      report({
        at: item.at,
        message: `${verb} adds ${named(item)}, which ${name} has at ${describePlace(found.at)} already; remove one`,
      });
    } else if (edit.do === "add") items.push(item);
    else if (found) items.splice(index, 1);
    else report({ at: item.at, message: missing(verb, name, item, below) });
  }
  const list: Sequence = { kind: "list", at: edit.at, items };
  return list;
}

function missing(verb: string, name: string, item: Value, below: Value | undefined): string {
  const where = below
    ? `which ${name} at ${describePlace(below.at)} has not`
    : `and there is no ${name} below this file`;
  return `${verb} takes ${named(item)} out, ${where}; remove it`;
}

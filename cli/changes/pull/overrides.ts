import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { fileOf, type FileEdit } from "../../edits/edits.ts";
import type { ValueFileEdit } from "../../edits/kinds.ts";
import { isRowOf } from "./sharing.ts";

/** Settles edits that need more than their path: a row of `rows~` that is not there yet begins with its key. */
export function completeEdits(edits: readonly FileEdit[], rootOf: (file: string) => unknown): FileEdit[] {
  const begun = new Map<string, ValueFileEdit & { value: RowData }>();
  const complete: FileEdit[] = [];
  for (const edit of edits) {
    const step = edit.kind === "value" ? edit.path[3] : undefined;
    const isOverride =
      edit.kind === "value" &&
      edit.do === "set" &&
      edit.path[2] === "rows~" &&
      typeof step === "object" &&
      "where" in step;
    if (!isOverride || hasItem(rootOf(fileOf(edit)), edit)) {
      complete.push(edit);
      continue;
    }
    const list = edit.path.slice(0, 3);
    const id = JSON.stringify([edit.file, list, step]);
    const known = begun.get(id);
    const label = edit.path.at(-1) as string; // of a cell
    if (known) known.value = { ...known.value, [label]: edit.value };
    else {
      const added: ValueFileEdit & { value: RowData } = {
        kind: "value",
        file: edit.file,
        path: list,
        do: "append",
        value: { ...step.where, [label]: edit.value },
      };
      begun.set(id, added);
      complete.push(added);
    }
  }
  return complete;
}

function hasItem(root: unknown, { path }: ValueFileEdit): boolean {
  const [seeds, seed, verb, step] = path;
  const list = [seeds, seed, verb].reduce<unknown>(
    (value, each) => (isObject(value) && typeof each === "string" ? value[each] : undefined),
    root,
  );
  const { where } = step as { where: RowData };
  return Array.isArray(list) && list.some((item: unknown) => isRowOf(item, where));
}

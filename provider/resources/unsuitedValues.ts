import type { Habits } from "../habits/habits.ts";
import { read } from "../sources/read.ts";
import { keyOf, type RowDeclaration } from "./rows/declared/declaration.ts";
import { RowMistakes } from "./rows/declared/mistakes.ts";

/**
 * Values of rows that the platform would read back as something else, by its habits: each up would find them changed, and
 * write them again. One sentence for each label.
 */
export async function findUnsuitedValues(
  { numberForm, dateForm }: Habits,
  declaration: RowDeclaration,
  directory: string,
  place: (line: number) => string,
): Promise<string[]> {
  const mistakes = new RowMistakes(place);
  if (numberForm === "number" && dateForm === "iso") return [];
  for await (const block of read(declaration, directory)) {
    for (const { line, values } of block) {
      const key = declaration.sensitive ? undefined : keyOf(declaration.key, values);
      for (const [label, value] of Object.entries(values)) {
        const [form, type = ""] = readBackAs(value, { numberForm, dateForm }) ?? [];
        if (form === undefined || declaration.forms?.[label] === type) continue;
        const text =
          `${label} is ${form}: each up would find the row changed, and write it again. ` +
          `Declare types: {${label}: ${type}}, and both are the same, or leave ${label} out of the rows`;
        mistakes.add({ line, text, ...(key === undefined ? {} : { key }) });
      }
    }
  }
  return mistakes.sentences();
}

function readBackAs(
  value: unknown,
  { numberForm, dateForm }: Pick<Habits, "numberForm" | "dateForm">,
): readonly [form: string, type: string] | undefined {
  if (typeof value === "number" && numberForm === "text")
    return ["a number, which this platform reads back as text (numberForm)", "number"];
  const isDate = typeof value === "string" && /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(value);
  return isDate && dateForm === "milliseconds"
    ? ["a date, which this platform reads back as a number of milliseconds (dateForm)", "date"]
    : undefined;
}

import { z } from "zod";
import { find, parse, toPlainValue, valuePlace, type Problem, type Value } from "../../provider/layers/document.ts";
import { describePlace } from "../../provider/layers/verbs.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import { PromotionError } from "./model/promotionError.ts";

/** The file that keeps up to which commit an environment has what another one had, beside Pulumi.yaml. */
export const promotionsFile = "promotions.yaml";

/** An environment has everything that another one had at a commit. */
export interface PromotionEntry {
  to: string;
  from: string;
  commit: string;
  /** Where the commit stands. */
  place: string;
  /** True if it stands in a list. */
  isListed: boolean;
}

const entry = z.strictObject({
  from: z.string().min(1),
  commit: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "must be the whole ID of a commit; correct it"),
});
const promotions = z.record(z.string(), z.union([entry, z.array(entry).min(1)]));

/** The entries of promotions.yaml: one for each environment, or a list where it gets from several. Throws a PromotionError. */
export function parsePromotions(text: string): PromotionEntry[] {
  const problems: Problem[] = [];
  const root = parse(text, promotionsFile, (problem) => problems.push(problem));
  if (root?.kind === "scalar" && root.value === null) return [];
  const read = root && promotions.safeParse(toPlainValue(withWritten(root)), sentences);
  if (root && read?.error) {
    for (const { path, message } of read.error.issues) {
      problems.push({ at: find(root, path)?.at ?? valuePlace(root, path), message: `${path.join(".")} ${message}` });
    }
  }
  const [wrong] = problems;
  if (wrong) throw new PromotionError(`${describePlace(wrong.at)}: ${wrong.message}`);
  return Object.entries(read?.data ?? {}).flatMap(([to, entries]) =>
    [entries].flat().map(({ from, commit }, index) => {
      const path = Array.isArray(entries) ? [to, index, "commit"] : [to, "commit"];
      return {
        to,
        from,
        commit,
        isListed: Array.isArray(entries),
        place: root ? describePlace(valuePlace(root, path)) : promotionsFile,
      };
    }),
  );
}

/** Digits alone, or with an e among them, are a number to YAML. */
function withWritten(value: Value): Value {
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "number" ? { ...value, value: value.written } : value;
    case "list":
      return { ...value, items: value.items.map(withWritten) };
    case "map":
      return {
        ...value,
        entries: new Map([...value.entries].map(([key, one]) => [key, { ...one, value: withWritten(one.value) }])),
      };
  }
}

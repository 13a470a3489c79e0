import type { Declaration } from "../../provider/environment/declaration.ts";
import { parse, toPlainValue } from "../../provider/layers/document.ts";
import { describePlace } from "../../provider/layers/verbs.ts";
import { formatCount } from "../../provider/messages/text.ts";
import type { BothTexts } from "./base/decidingFlags.ts";
import type { Note } from "./model/changeSet.ts";
import type { Declared } from "./model/source.ts";
import { stable } from "./model/values.ts";

/** Parts of its own policy that a change withdraws: until it is merged, the policy of the base holds. */
export function findLoosened(base: Declared, { rules, removals }: Pick<Declaration, "rules" | "removals">): Note[] {
  const ruleText = (rule: Declaration["rules"][number]): string => stable({ ...rule, because: undefined });
  const left = new Set(rules.map(ruleText));
  const lost = base.rules.filter(({ rule }) => !left.has(ruleText(rule)));
  const isFreed = base.declaration.removals === "declared" && removals !== "declared";
  return [
    ...lost.map(({ rule, at }) => ({
      text: `the rule on ${[rule.path].flat().join(".")} is taken out or changed: until it is merged, that of the base holds`,
      place: describePlace(at),
    })),
    ...(isFreed
      ? [
          {
            text: "removals is not declared any more: until it is merged, removals need their lines",
            place: base.place(["removals"]),
          },
        ]
      : []),
  ];
}

/** True if drift.yaml accepts something that it did not accept at the base. */
export function driftFlags({ file, before, after }: BothTexts): Note[] {
  if (before === after) return [];
  const entries = (text: string | undefined): string[] | undefined => {
    const root = parse(text ?? "[]", file, () => undefined);
    return root && (root.kind === "list" ? root.items.map((each) => stable(toPlainValue(each))) : []);
  };
  const [known = [], now] = [entries(before), entries(after)];
  if (!now) return [{ text: `${file} changes, and can't be read`, place: file }];
  const count = now.filter((each) => !known.includes(each)).length;
  const text =
    count === 0
      ? `${file} changes, and accepts nothing that the base does not`
      : `${file} accepts drift that the base does not: ${formatCount(count, "entry")}`;
  return [{ text, place: file }];
}

import type { Declaration } from "../../provider/environment/declaration.ts";
import { formerKeys } from "../../provider/environment/formerKeys.ts";
import { describePlace } from "../../provider/layers/verbs.ts";
import { some } from "../../provider/messages/text.ts";
import type { Note } from "./model/changeSet.ts";
import type { Declared } from "./model/source.ts";
import { stable } from "./model/values.ts";

/** Parts of its own policy that a change withdraws: until it is merged, the policy of the base holds. */
export function findLoosened(base: Declared, { rules }: Pick<Declaration, "rules">): Note[] {
  const ruleText = (rule: Declaration["rules"][number]): string => stable({ ...rule, because: undefined });
  const left = new Set(rules.map(ruleText));
  const lost = base.rules.filter(({ rule }) => !left.has(ruleText(rule)));
  return lost.map(({ rule, at }) => ({
    text: `the rule on ${[rule.path].flat().join(".")} is taken out or changed: until it is merged, that of the base holds`,
    place: describePlace(at),
  }));
}

type Seed = Declaration["seeds"][string];
type Expect = NonNullable<Seed["expect"]>;

/** Expectations of seeds that hold their tables to less than those of the base did. */
export function findLoosenedExpectations(base: Declared, head: Declared): Note[] {
  return Object.entries(head.declaration.seeds).flatMap(([name, seed]) => {
    const former = [name, ...formerKeys(seed.formerly)].find((each) => base.declaration.seeds[each] !== undefined);
    const before = former === undefined ? undefined : base.declaration.seeds[former]?.expect;
    const lost = before ? listLost(before, seed.expect ?? {}) : [];
    if (lost.length === 0) return [];
    const place = head.place(["seeds", name, ...(seed.expect ? ["expect"] : [])]);
    return { text: `${name} expects less of its table: ${lost.join("; ")}`, place };
  });
}

/** Lists the requirements that are gone or weaker, each in its words. */
function listLost(before: Expect, after: Expect): string[] {
  const labels = (name: "unique" | "notNull"): string[] =>
    (before[name] ?? []).filter((label) => !after[name]?.includes(label)).map((label) => `${name} ${label} is gone`);
  const values = Object.entries(before.acceptedValues ?? {}).flatMap(([label, was]) => {
    const is = after.acceptedValues?.[label];
    const more = is?.filter((value) => !was.includes(value)) ?? [];
    if (!is) return [`acceptedValues of ${label} are gone`];
    return more.length === 0 ? [] : [`acceptedValues of ${label} have ${some(more.map(String), 10)} more`];
  });
  const links = Object.entries(before.relationships ?? {}).flatMap(([label, was]) => {
    const is = after.relationships?.[label];
    return stable(is) === stable(was) ? [] : [`relationships of ${label} ${is ? "lead elsewhere" : "are gone"}`];
  });
  const { min: least, max: most } = before.rowCount ?? {};
  const { min = 0, max = Infinity } = after.rowCount ?? {};
  return [
    ...labels("unique"),
    ...labels("notNull"),
    ...values,
    ...links,
    ...(least !== undefined && min < least ? [`rowCount.min is ${min}, and was ${least}`] : []),
    ...(most !== undefined && max > most
      ? [`rowCount.max is ${max === Infinity ? "gone" : max}, and was ${most}`]
      : []),
  ];
}

import type { Habits } from "../../../provider/habits/habits.ts";

const fields = { Name: "text", Note: "text" } as const;

/** Tables of which each has the one before as its parent. */
export const nestedTables = {
  countries: { fields },
  cities: { parent: "countries", fields },
  streets: { parent: "cities", fields },
};
export const tableAlone = { fields };

/** Ways in which platforms hide the parents of rows. */
export const hiding: readonly [how: string, Partial<Habits>][] = [
  ["are not named", { parentShown: "no" }],
  ["alone show their rows", { subRows: "byParent" }],
  ["are not named and alone show their rows", { parentShown: "no", subRows: "byParent" }],
];

/** Each of them without a profile, and with one that knows it. */
export const both = hiding.flatMap(([how, habits]) =>
  ([undefined, habits] as const).map(
    (profile) => [how, profile ? "a profile knows" : "no profile knows", habits, profile] as const,
  ),
);

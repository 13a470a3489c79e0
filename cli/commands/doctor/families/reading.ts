import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../../provider/contract/errors.ts";
import { usualSwitches as usualHabits, type SwitchName as HabitName } from "../../../../provider/habits/deviations.ts";
import { adaptionText, meaningOf } from "../../verify/meaning.ts";
import type { Check } from "../checks.ts";
import type { CheckContext } from "../context.ts";
import { noteFinding, well, type Finding } from "../findings.ts";
import { command } from "../mending.ts";
import { callsOf, explainExpired, explainUnanswered, wordsOf } from "./account.ts";

/** Calls for the user of an address, and for order and `skip`. */
export const callsForReading = 6;

/** Rows of the reads that are compared. */
const limit = 20;

/** Habits that the reads of one table show, in the words for the usual and for another value. */
const shown: Partial<Record<HabitName, readonly [usual: string, other: string]>> = {
  viewSort: ["Rows come in the order that is asked for.", "The platform ignores the order that is asked for."],
  skip: ["Skipped ones stay out.", "The platform ignores skip."],
  rowOrder: ["", "Rows that nobody sorts come in another order each time."],
};

const users: Check = {
  id: "userid",
  title: "users by address",
  needs: ["login"],
  look: async (context) => {
    const { settings } = context.subject;
    const calls = callsOf(context);
    const email = settings?.token === undefined ? settings?.email : undefined;
    if (email === undefined) return noteFinding("A token has no address by which the platform could be asked.");
    try {
      const { userID } = await calls.call("userid", { email }, context.signal);
      if (userID === calls.userID) return well("The platform finds the user of an address.");
      const seen = `The platform finds user ${userID} for ${email}, who logs in as user ${calls.userID ?? ""}.`;
      return noteFinding(seen, `${meaningOf("userLookupBy", "none").affects} may be another user's.`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "unauthorized") return explainExpired(context, error);
      if (!refusals.has(error.code)) return explainUnanswered(context, "userid", error);
      const seen = `The platform finds no user of an address: ${wordsOf(error)}.`;
      return otherwise(context, seen, [["userLookupBy", "none"]]);
    }
  },
};

const refusals: ReadonlySet<string> = new Set([
  ...["notFound", "forbidden", "invalidRequest", "rejected", "notImplemented"],
]);

/** Differences, with their consequences: nothing is to be known of those that the configured profile has. */
function otherwise(
  { learned, subject: { place } }: CheckContext,
  seen: string,
  others: readonly (readonly [HabitName, string])[],
): Finding {
  if (
    others.every(([name, value]) => (learned.profile?.habits as Record<string, string> | undefined)?.[name] === value)
  )
    return well(`${seen} The profile has it (${others.map(([name]) => name).join(", ")}).`);
  const meanings = others.map(([name, value]) => meaningOf(name, value));
  const sentences = meanings.map(({ affects, adapts }) => `${affects}: ${adaptionText(adapts, 2)}`);
  const isAdapted = meanings.every(({ adapts: { by } }) => by === "client");
  const find = command(place, "verify --write-profile platform-profile.yaml");
  return noteFinding(seen, [...new Set(sentences)].join(" "), isAdapted ? [] : [find]);
}

const reading: Check = {
  id: "order",
  title: "order and skip",
  needs: ["login"],
  look: async (context) => {
    const tables = [...context.learned.tables].toSorted(([, a], [, b]) => b.rows - a.rows);
    const [table, { rows } = { rows: 0 }] = tables[0] ?? [];
    if (table === undefined || rows < 2) return noteFinding("No table with two rows was read, which would show it.");
    try {
      const seen = await habitsOf(context, table);
      const others = [...seen].filter(([name, value]) => value !== usualHabits[name]);
      const words = (all: readonly HabitName[], which: 0 | 1): string =>
        all.flatMap((name) => shown[name]?.[which] || []).join(" ");
      if (others.length === 0) return well(words([...seen.keys()], 0));
      return otherwise(
        context,
        words(
          others.map(([name]) => name),
          1,
        ),
        others,
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return error.code === "unauthorized"
        ? explainExpired(context, error)
        : explainUnanswered(context, "microappdata", error);
    }
  },
};

/** Habits that five reads of a table show. */
async function habitsOf(context: CheckContext, table: string): Promise<Map<HabitName, string>> {
  const page = (skip: number, order?: 1 | -1) => ({
    microAppID: table,
    searchFilter: [{ resourceID: table, skip, limit }],
    ...(order === undefined ? {} : { optViewSort: { _id: order } }),
  });
  const idsOf = async (skip: number, order?: 1 | -1): Promise<string[]> => {
    const { microAppRows } = await callsOf(context).call("microappdata", page(skip, order), context.signal);
    return microAppRows.map(({ _id }) => _id);
  };
  const [rising, skipped, falling] = [await idsOf(0, 1), await idsOf(1, 1), await idsOf(0, -1)];
  const [first, again] = [await idsOf(0), await idsOf(0)];
  const seen = new Map<HabitName, string>();
  const sorted = [rising, falling].filter((ids) => ids.length > 1);
  if (sorted.length > 0) {
    const isHonoured = isSorted(rising, 1) && isSorted(falling, -1);
    seen.set("viewSort", isHonoured ? "honoured" : "ignored");
  }
  if (rising.length > 0 && skipped.length > 0)
    seen.set("skip", isDeepStrictEqual(rising, skipped) ? "ignored" : "honoured");
  if (!isDeepStrictEqual(first, again) && isDeepStrictEqual(first.toSorted(), again.toSorted()))
    seen.set("rowOrder", "changing");
  return seen;
}

/** IDs in their order; those of digits may be numbers on the platform. */
const compareIDs = (one: string, other: string): number =>
  (/^\d+$/.test(one + other) ? one.length - other.length : 0) || (one < other ? -1 : one > other ? 1 : 0);

const isSorted = (ids: readonly string[], order: 1 | -1): boolean =>
  ids.every((id, index) => index === 0 || compareIDs(id, ids[index - 1] ?? "") * order > 0);

export const readingChecks: readonly Check[] = [users, reading];

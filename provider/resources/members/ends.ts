import { z } from "zod";
import { isDay } from "../../../machine/settings/today.ts";
import { formatCount, some } from "../../messages/text.ts";
import type { Report } from "../model/resource.ts";

/** Days before an end in which it is announced. */
const announced = 14;

/** Most people whom a sentence names. */
const maxNamed = 5;

/** A declared person with the last day of the membership. */
export interface LastDay {
  name: string;
  until: string;
}

/** People with an end, as of a day. */
export interface Ends {
  day: string;
  /** Those whose last day has passed: their declaration counts as absent. */
  over: readonly LastDay[];
  /** Those who end within the next days. */
  soon: readonly LastDay[];
}

/** True when the last day of a membership has passed. Days in this form compare as texts. */
export const isOver = (until: string, day: string): boolean => until < day;

/** Splits people with an end by a day. */
export function splitEnds(people: readonly LastDay[], day: string): Ends {
  return {
    day,
    over: people.filter(({ until }) => isOver(until, day)),
    soon: people.filter(({ until }) => !isOver(until, day) && daysTo(until, day) <= announced),
  };
}

const daysTo = (until: string, day: string): number => (Date.parse(until) - Date.parse(day)) / 86_400_000;

/** Names those whose end has passed: all of them, or those who are still members. */
export function describeOver(
  { day, over }: Ends,
  isHidden: boolean,
  isThere = (name: string): boolean => name !== "",
): string[] {
  const left = over.filter(({ name }) => isThere(name));
  if (left.length === 0) return [];
  const names = isHidden ? formatCount(left.length, "person") : some(left.map(shown), maxNamed);
  return [`no longer a member as of ${day} (UTC): ${names}`];
}

/** Names those who end soon. */
export function describeSoon({ day, soon }: Ends, isHidden: boolean): string[] {
  if (soon.length === 0) return [];
  const inDays = (one: LastDay): string => {
    const days = daysTo(one.until, day);
    return `${shown(one)}, ${days === 0 ? "the last day" : `${formatCount(days, "day")} left`}`;
  };
  const names = isHidden ? formatCount(soon.length, "person") : some(soon.map(inDays), maxNamed);
  return [`ends soon as of ${day} (UTC): ${names}`];
}

const shown = ({ name, until }: LastDay): string => `${name} until ${until}`;

/** The last day of a membership. */
export const lastDay = z.string().refine(isDay, "must be a day of the calendar, such as 2026-12-31");

/** Inputs of a resource that declares one person. */
export const ending = {
  until: lastDay.optional().meta({
    description: "Last day (UTC) of the membership: after it the declaration counts as absent.",
  }),
  ended: z.boolean().optional().meta({
    description: "True once the last day has passed.",
    computed: true,
    internal: true,
  }),
};

/** Reports, with the day, whose membership is over or ends soon. */
export function reportEnds(report: Report, ends: Ends, isHidden: boolean, isThere?: (name: string) => boolean): void {
  for (const text of describeOver(ends, isHidden, isThere)) report.forecast(text);
  for (const text of describeSoon(ends, isHidden)) report.warning(text);
}

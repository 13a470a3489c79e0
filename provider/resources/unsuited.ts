import { isObject } from "../contract/wire.ts";
import type { HabitName, Habits } from "../habits/habits.ts";
import type { InputProblem } from "./model/resource.ts";

/** Something that a resource can't do on a platform with this habit. */
interface Refusal<Name extends HabitName = HabitName> {
  resource: string;
  habit: Name;
  values: readonly Habits[Name][];
  /** The input that asks for it; undefined where none does. */
  asks: (inputs: Readonly<Record<string, unknown>>) => string | undefined;
  /** The platform's behaviour, its consequence, and advice. */
  why: string;
}

const refusal = <Name extends HabitName>(refusal: Refusal<Name>): Refusal => refusal;

const isAdmin = (settings: unknown): boolean =>
  settings === "admin" || (isObject(settings) && settings["role"] === "admin");

const roles =
  "this platform does not change roles (roleChange): whoever is added stays a member, and each up would try again. " +
  "Declare the role member, and make administrators on the platform";

const refusals: readonly Refusal[] = [
  refusal({
    resource: "TeamMember",
    habit: "roleChange",
    values: ["ignored", "refused"],
    asks: ({ role }) => (role === "admin" ? "role" : undefined),
    why: roles,
  }),
  refusal({
    resource: "TeamRoster",
    habit: "roleChange",
    values: ["ignored", "refused"],
    asks: ({ members }) => (isObject(members) && Object.values(members).some(isAdmin) ? "members" : undefined),
    why: roles,
  }),
  refusal({
    resource: "Notification",
    habit: "defaultChannel",
    values: ["inApp"],
    asks: ({ channel = "default" }) => (channel === "default" ? "channel" : undefined),
    why:
      "this platform sends no push message for a notification without a channel (defaultChannel): nobody would be " +
      "alerted. Set channel to inApp or to push",
  }),
];

/** Inputs that this platform can't fulfil, by its habits: refused before anything is sent. */
export const findUnsuited = (
  resource: string,
  inputs: Readonly<Record<string, unknown>>,
  habits: Habits,
): InputProblem[] =>
  refusals.flatMap(({ resource: name, habit, values, asks, why }) => {
    const property = name === resource && values.includes(habits[habit]) ? asks(inputs) : undefined;
    return property === undefined ? [] : [{ property, reason: why }];
  });

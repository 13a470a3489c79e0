import type { HabitName, HabitValue } from "../../provider/habits/habits.ts";

/** Something that a call shows of a platform. */
export type Sighting = { [Name in HabitName]: readonly [name: Name, value: HabitValue<Name>] }[HabitName];

/** Most entries of what is kept between calls, of each kind. */
const most = 5000;

/** Adds an entry; beyond the bound the oldest gives way. */
export function keep<Key, Value>(entries: Map<Key, Value>, key: Key, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > most && oldest !== undefined) entries.delete(oldest);
}

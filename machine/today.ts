/** The variable that names the day of a run, for tests and for reports that are made again. */
export const dayVariable = "MICROAPPS_TODAY";

/** True for a day of the calendar, written `2026-12-31`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // JavaScript takes 30 February for 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The day of a run in UTC, or the one that the environment names. */
export function today(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const named = environment[dayVariable];
  if (named === undefined || named === "") return new Date().toISOString().slice(0, 10);
  if (!isDay(named)) throw new RangeError(`${dayVariable} must be a day of the calendar, such as 2026-12-31`);
  return named;
}

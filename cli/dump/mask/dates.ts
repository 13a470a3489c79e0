const day = 24 * 60 * 60;
/** Numbers below it are seconds since the epoch, others milliseconds. */
const firstMilliseconds = 1e11;

const written = /^(\d{4})-(\d{2})(?:-(\d{2})(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;

/** Days that stand for none in many tables. Moved as the others are, they would give the span away. */
const placeholder = /^(0001-01-01|1900-01-01|1970-01-01|9999-12-31)/;

/** True for a value that `moveDate` moves. */
export const isMovable = (value: unknown): value is string | number =>
  typeof value === "number" ? isTime(value) : typeof value === "string" && timeIn(written.exec(value)) !== undefined;

const isTime = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= 8e15;

/** True for a day that stands for none. */
export const isPlaceholder = (value: unknown): boolean =>
  value === 0 || (typeof value === "string" && placeholder.test(value));

/** A date moved by so many seconds, written as it was; undefined for what is none. A day is moved by whole days, a month by months. */
export function moveDate(value: unknown, seconds: number): string | number | undefined {
  if (typeof value === "number") {
    if (!isTime(value)) return undefined;
    return Math.abs(value) < firstMilliseconds ? value + seconds : value + seconds * 1000;
  }
  if (typeof value !== "string") return undefined;
  const match = written.exec(value);
  const time = timeIn(match);
  if (match === null || time === undefined) return undefined;
  const [, , , date, seam, , , second, fraction = "", zone = ""] = match;
  const days = Math.trunc(seconds / day) * day;
  if (date === undefined) return inYears(time, days).slice(0, 7);
  if (seam === undefined) return inYears(time, days).slice(0, 10);
  const moved = inYears(time, seconds).slice(0, second === undefined ? 16 : 19);
  return moved.replace("T", seam) + fraction + zone;
}

/** The time of a day and hour that there are, in milliseconds. */
function timeIn(match: RegExpExecArray | null): number | undefined {
  if (match === null) return undefined;
  const [, year, month, date = "01", , hour = "00", minute = "00", second = "00"] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const time = Date.parse(`${year ?? ""}-${month ?? ""}-${date}T${hour}:${minute}:${second}Z`);
  // JavaScript takes 30 February for 2 March.
  return Number.isNaN(time) || new Date(time).getUTCDate() !== Number(date) ? undefined : time;
}

/** The time moved, as ISO 8601; to the other side where it would leave the years of four digits. */
function inYears(time: number, seconds: number): string {
  const moved = new Date(time + seconds * 1000);
  const isInside = moved.getUTCFullYear() >= 1 && moved.getUTCFullYear() <= 9999;
  return (isInside ? moved : new Date(time - seconds * 1000)).toISOString();
}

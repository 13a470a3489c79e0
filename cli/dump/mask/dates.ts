const day = 24 * 60 * 60;
/** Numbers below it are seconds since the epoch, others milliseconds. */
const firstMilliseconds = 1e11;

const written = /^(\d{4})-(\d{2})(?:-(\d{2})(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;

/** Days that stand for none in many tables. Moved as the others are, they would give the span away. */
const placeholder = /^(0001-01-01|1900-01-01|1970-01-01|9999-12-31)/;

/** True for a value that `moveDate` moves. */
export const isMovable = (value: unknown): value is string | number => moveDate(value, day) !== undefined;

/** True for a day that stands for none. */
export const isPlaceholder = (value: unknown): boolean =>
  value === 0 || (typeof value === "string" && placeholder.test(value));

/** A date moved by so many seconds, written as it was; undefined for what is none. A day is moved by whole days, a month by months. */
export function moveDate(value: unknown, seconds: number): string | number | undefined {
  if (typeof value === "number") {
    if (!Number.isFinite(value) || Math.abs(value) > 8e15) return undefined;
    return Math.abs(value) < firstMilliseconds ? value + seconds : value + seconds * 1000;
  }
  if (typeof value !== "string") return undefined;
  const [, year, month, date, seam, hour, minute, second, fraction = "", zone = ""] = written.exec(value) ?? [];
  if (year === undefined) return undefined;
  const numbers = [year, month, date ?? "01", hour ?? "00", minute ?? "00", second ?? "00"].map(Number);
  const time = timeOf(numbers);
  if (time === undefined) return undefined;
  if (date === undefined) return inYears(time, Math.trunc(seconds / day) * day, (moved) => moved.slice(0, 7));
  if (seam === undefined) return inYears(time, Math.trunc(seconds / day) * day, (moved) => moved.slice(0, 10));
  const length = second === undefined ? 16 : 19;
  return inYears(time, seconds, (moved) => moved.slice(0, length).replace("T", seam) + fraction + zone);
}

/** The time of a day and hour that there are, in milliseconds. */
function timeOf([year = 0, month = 1, date = 1, hour = 0, minute = 0, second = 0]: number[]): number | undefined {
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, date);
  time.setUTCHours(hour, minute, second);
  const isSame =
    time.getUTCMonth() === month - 1 && time.getUTCDate() === date && time.getUTCHours() === hour && second < 60;
  return isSame && minute < 60 ? time.getTime() : undefined;
}

/** Moves to the other side what would leave the years of four digits. */
function inYears(time: number, seconds: number, form: (text: string) => string): string {
  const moved = new Date(time + seconds * 1000);
  const isInside = moved.getUTCFullYear() >= 1 && moved.getUTCFullYear() <= 9999;
  return form((isInside ? moved : new Date(time - seconds * 1000)).toISOString());
}

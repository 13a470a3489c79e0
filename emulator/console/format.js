// Values as people read them. Everything here gives text; the templates never parse it.

export const count = (number) => number.toLocaleString("en");

/** "1 row", "2,000 rows". */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** A point in time, in UTC as the platform writes it. */
export const time = (milliseconds) => new Date(milliseconds).toISOString().replace("T", " ").slice(0, 19);

/** A duration: "0.4 ms", "12 ms", "3.2 s", "4 min". */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  if (milliseconds === 0) return "0 ms";
  if (milliseconds < 9.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.round(milliseconds / 60_000)} min`;
}

export function bytes(number) {
  if (number < 1000) return `${number} B`;
  return number < 1e6 ? `${(number / 1000).toFixed(1)} kB` : `${(number / 1e6).toFixed(1)} MB`;
}

/** An ID's beginning and end: those made one after the other differ at the end only. */
export const shorten = (id) => (id.length <= 12 ? id : `${id.slice(0, 4)}…${id.slice(-5)}`);

/** A field's value in one line. */
export function text(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (value.value && "crossAppRowID" in value) return text(value.value.value);
  if (typeof value.address?.formattedAddress === "string") return value.address.formattedAddress;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ");
  return JSON.stringify(value);
}

export const json = (value) => JSON.stringify(value, undefined, 2);

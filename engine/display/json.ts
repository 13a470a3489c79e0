import type { EngineEvent } from "../events.ts";

// What no terminal shows as it is: DEL, C1 controls, line separators, what changes the direction and what is not seen.
const unseen =
  /[\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** The value as JSON for a terminal or a log: what JSON leaves as it is and a terminal does not is escaped, which means the same. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(unseen, (chars) =>
    [...Array(chars.length).keys()].map((i) => `\\u${chars.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );

/** One event on one line. */
export const jsonLine = (event: EngineEvent): string => `${printableJson(event)}\n`;

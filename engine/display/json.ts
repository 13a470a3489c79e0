import type { EngineEvent } from "../events.ts";

/** One event on one line. JSON leaves DEL, C1 controls and line separators as they are; escaped they mean the same. */
export function jsonLine(event: EngineEvent): string {
  const text = JSON.stringify(event).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${text}\n`;
}

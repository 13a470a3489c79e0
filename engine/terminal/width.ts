import { createRequire } from "node:module";
import type stringWidth from "string-width";

/** Characters of one column each: ASCII, and the lines of tables. */
const simple = /^[\x20-\x7e\u2500-\u257f]*$/;
let measure: typeof stringWidth | undefined;

/** Loads the library when the first other character comes: its tables take a tenth of a short command. */
const loaded = (): typeof stringWidth =>
  (measure ??= (createRequire(import.meta.url)("string-width") as { default: typeof stringWidth }).default);

/** Columns of a text on a terminal. */
export const widthOf = (text: string): number => (simple.test(text) ? text.length : loaded()(text));

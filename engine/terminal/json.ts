// Characters that terminals hide or act on: DEL, C1 controls, line separators, marks of direction and invisible
// characters.
const unseen =
  /[\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** Writes JSON for a terminal or a log: characters that no terminal shows are escaped, which means the same. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(unseen, (chars) =>
    [...Array(chars.length).keys()].map((i) => `\\u${chars.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );

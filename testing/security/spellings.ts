const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const coded = (text: string, unit: (code: string) => string): string =>
  Array.from({ length: text.length }, (_, at) => unit(text.charCodeAt(at).toString(16).padStart(4, "0"))).join("");
const escaped = (text: string, upper: boolean): string =>
  json(text).replaceAll(/[^ -~]|[<>&]/g, (one) => coded(one, (code) => `\\u${upper ? code.toUpperCase() : code}`));
const named: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;" };
const small = (text: string): string => text.replaceAll(/%[\dA-F]{2}/g, (found) => found.toLowerCase());
const form = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

/** How a text may be spelled where it should not be, by name. */
export const spellings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  NFC: (text) => text.normalize("NFC"),
  NFD: (text) => text.normalize("NFD"),
  JSON: json,
  "JSON in JSON": (text) => json(json(text)),
  "\\u in small letters": (text) => escaped(text, false),
  "\\u in capitals": (text) => escaped(text, true),
  "\\u alone": (text) => coded(text, (code) => `\\u${code}`),
  URL: encodeURIComponent,
  "URL in small letters": (text) => small(encodeURIComponent(text)),
  "URL as a whole": encodeURI,
  "URL in JSON": (text) => json(encodeURIComponent(text)),
  form,
  "form in small letters": (text) => small(form(text)),
  HTML: (text) => text.replaceAll(/[<>&"']/g, (one) => named[one] ?? ""),
  "HTML by numbers": (text) => Array.from(text, (one) => `&#${String(one.codePointAt(0))};`).join(""),
  "HTML by hexadecimal numbers": (text) =>
    Array.from(text, (one) => `&#x${one.codePointAt(0)?.toString(16) ?? ""};`).join(""),
  hexadecimal: (text) => Buffer.from(text).toString("hex"),
  "hexadecimal in capitals": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  "base64 in a URL": (text) => encodeURIComponent(Buffer.from(text).toString("base64")),
  "base64 in JSON with escaped slashes": (text) => Buffer.from(text).toString("base64").replaceAll("/", "\\/"),
  "hexadecimal in numbers of HTML": (text) =>
    Array.from(Buffer.from(text).toString("hex"), (one) => `&#${one.charCodeAt(0)};`).join(""),
};

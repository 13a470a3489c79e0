import { isObject } from "../../../provider/contract/wire.ts";
import type { Finder } from "./finder.ts";
import { kindOfName, opens, type PrivateKind } from "./kinds.ts";
import { vocabulary } from "./vocabulary.ts";

const word = /^[\p{L}\p{N}]+$/u;

/** Characters from which on a value is replaced inside a word: one that lets somebody in, and any other. */
const insideFrom = { open: 6, other: 12 };

/** Replacements for the values of a kind; `#` is a number. */
const stand: Readonly<Record<PrivateKind | "removed", string>> = {
  password: "password-#",
  token: "token-#",
  key: "key-#",
  cookie: "cookie-#",
  secret: "secret-#",
  email: "person-#@example.com",
  person: "Person #",
  user: "user-#",
  phone: "+99 000 #",
  link: "link-#",
  removed: "removed-#",
};

/** Spellings in which a value stands in a text, and its replacement then does. */
type Spelling = (text: string) => string;
const spellings: readonly Spelling[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  (text) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
  (text) => Buffer.from(text).toString("hex"),
];

/** Replaces secrets and people: the same value by the same one, in whatever encoding. */
export class Replacer {
  readonly #finder: Finder;
  readonly #entries: ReadonlyMap<string, PrivateKind>;
  /** The longest first, each with its spellings. */
  readonly #spelled: readonly { value: string; kind: PrivateKind; forms: (readonly [string, Spelling])[] }[];
  readonly #texts = new Map<string, string>();
  readonly #made = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(finder: Finder, entries: ReadonlyMap<string, PrivateKind>) {
    this.#finder = finder;
    this.#entries = entries;
    this.#spelled = [...entries]
      .toSorted(([a], [b]) => b.length - a.length)
      .map(([value, kind]) => ({ value, kind, forms: formsOf(value) }));
  }

  /** The replacement for a value of a kind. */
  of(value: string, kind: PrivateKind | "removed"): string {
    // Addresses are compared without regard to case.
    const key = kind === "email" ? value.toLowerCase() : value;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    let made: string;
    do {
      const count = (this.#counts.get(kind) ?? 0) + 1;
      this.#counts.set(kind, count);
      made = stand[kind].replace("#", count > 99 ? `x${count}` : String(count));
    } while (this.#finder.holds(made));
    this.#made.set(key, made);
    return made;
  }

  /** A text without any of them. */
  text(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const made = this.#replaced(text);
    this.#texts.set(text, made);
    return made;
  }

  #replaced(text: string): string {
    const kind = this.#entries.get(text);
    if (kind !== undefined) return this.of(text, kind);
    if (vocabulary.has(text) || !this.#finder.holds(text)) return text;
    const replaced = this.#inJson(text) ?? this.#inside(text);
    return this.#finder.holds(replaced) ? this.of(text, "removed") : replaced;
  }

  /** A value without any of them. What stands under the name of a secret is replaced whatever it is. */
  value(value: unknown, name = ""): unknown {
    const kind = kindOfName(name);
    if (typeof value === "string") return kind && opens.has(kind) ? this.of(value, kind) : this.text(value);
    if (typeof value === "number") {
      const secret = (kind && opens.has(kind)) || (String(value).length > 3 && this.#finder.holds(String(value)));
      return secret ? this.#number(String(value)) : value;
    }
    if (Array.isArray(value)) return value.map((item) => this.value(item, name));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.text(key), this.value(inner, key)]));
  }

  #number(written: string): number {
    return Number(/\d+$/.exec(this.of(written, "removed"))?.[0] ?? 0);
  }

  #inJson(text: string): string | undefined {
    if (!/^\s*[[{]/.test(text)) return undefined;
    try {
      return JSON.stringify(this.value(JSON.parse(text)));
    } catch {
      return undefined;
    }
  }

  #inside(text: string): string {
    let left = text;
    for (const { value, kind, forms } of this.#spelled) {
      const from = insideFrom[opens.has(kind) ? "open" : "other"];
      for (const [form, spell] of forms) {
        if (!left.includes(form)) continue;
        const made = spell(this.of(value, kind));
        const alone = form === value && value.length < from && word.test(value);
        left = left.replaceAll(
          alone ? new RegExp(`(?<![\\p{L}\\p{N}])${form}(?![\\p{L}\\p{N}])`, "gu") : form,
          () => made,
        );
      }
    }
    return left.replaceAll(/[\w+/-]{6,}={0,2}/g, (run) => this.#encoded(run));
  }

  /** A run of base64 or of hexadecimal digits that holds text: the text is replaced, and encoded again. */
  #encoded(run: string): string {
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const text = Buffer.from(run, encoding).toString("utf8");
      const again = (of: string): string => Buffer.from(of).toString(encoding);
      if (text === "" || again(text) !== run || !this.#finder.holds(text)) continue;
      return again(this.text(text));
    }
    return run;
  }
}

/** How a value may stand in a text, with what spells it so. */
function formsOf(value: string): (readonly [string, Spelling])[] {
  const forms = new Map<string, Spelling>();
  for (const spell of value.isWellFormed() ? spellings : spellings.slice(0, 2)) {
    const form = spell(value);
    if (!forms.has(form)) forms.set(form, spell);
  }
  return [...forms];
}

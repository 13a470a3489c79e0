import type { IncomingHttpHeaders } from "node:http";
import { isObject } from "../../../provider/contract/wire.ts";
import { kindOfHeader, kindOfName, findSecrets, type PrivateKind } from "./kinds.ts";
import { layersOf } from "./layers.ts";
import { vocabulary } from "./vocabulary.ts";

/** Most values that are kept, and their characters: then nothing more is recorded. */
const [mostValues, mostCharacters] = [20_000, 8_000_000];

/** Length of the shortest value that is distinctive enough to replace. */
const shortest = 3;

/** Letters of a part of a name that is replaced where it stands alone. */
const shortestPart = 4;

/** The secrets and people that came by, with what they are. They stay in memory. */
export class Sensitive {
  readonly #kinds = new Map<string, PrivateKind>();
  readonly #labels: ReadonlySet<string>;
  #characters = 0;

  /** @param labels labels of fields that hold people */
  constructor(labels: Iterable<string> = []) {
    this.#labels = new Set(labels);
  }

  /** True when there were too many values to keep. */
  isFull(): boolean {
    return this.#kinds.size >= mostValues || this.#characters >= mostCharacters;
  }

  get entries(): ReadonlyMap<string, PrivateKind> {
    return this.#kinds;
  }

  add(value: string, kind: PrivateKind): void {
    const text = value.trim();
    if (text.length < shortest || vocabulary.has(text) || this.#kinds.has(text)) return;
    this.#kinds.set(text, kind);
    this.#characters += text.length;
    if (kind !== "person") return;
    const parts = text.split(/\s+/);
    if (parts.length < 2 || parts.length > 5) return;
    for (const part of parts) if (part.length >= shortestPart && /^\p{Lu}/u.test(part)) this.add(part, "person");
  }

  /** Takes what headers carry: cookies one by one, and what follows the scheme of an authorization. */
  addHeaders(headers: IncomingHttpHeaders): void {
    for (const [name, value] of Object.entries(headers)) {
      const kind = kindOfHeader(name);
      for (const text of [value ?? []].flat()) {
        this.addText(text);
        if (kind === undefined) continue;
        const parts = kind === "cookie" ? text.split(/;\s*/).map((pair) => pair.replace(/^[^=]*=/, "")) : [text];
        for (const part of parts) {
          const credential = part.replace(/^\w+ (?=\S)/, "");
          this.add(credential, kind);
          if (/^basic /i.test(part)) this.#addPair(Buffer.from(credential, "base64").toString("utf8"));
        }
      }
    }
  }

  #addPair(pair: string): void {
    const [user = "", password = ""] = pair.split(/:(.*)/s);
    this.add(user, user.includes("@") ? "email" : "person");
    this.add(password, "password");
  }

  /** Takes what a value holds, by the names that its parts stand under and by their forms. */
  addValue(value: unknown, kind?: PrivateKind): void {
    if (typeof value === "string") {
      if (kind !== undefined) this.add(value, kind);
      this.addText(value);
    } else if (typeof value === "number") {
      if (kind !== undefined) this.add(String(value), kind);
    } else if (Array.isArray(value)) {
      for (const item of value) this.addValue(item, kind);
    } else if (isObject(value)) {
      // In a link to a person, only the value is personal.
      const link = "crossAppRowID" in value;
      for (const [key, inner] of Object.entries(value)) {
        const own = this.#labels.has(key) ? "person" : kindOfName(key);
        this.addText(key);
        this.addValue(inner, link ? (key === "value" ? kind : undefined) : key === "label" ? undefined : (own ?? kind));
      }
    }
  }

  /** Takes what a text shows by its form, in whatever encoding, and what JSON in it names. */
  addText(text: string): void {
    for (const read of layersOf(text)) {
      for (const [value, kind] of findSecrets(read)) this.add(value, kind);
      if (/^\s*[[{]/.test(read)) this.#addJson(read);
    }
  }

  #addJson(text: string): void {
    try {
      this.addValue(JSON.parse(text));
    } catch {
      // It only looks like JSON.
    }
  }
}

import { type ApiError, isAdvised } from "../../../platform/contract/errors.ts";
import { fieldKinds, type FieldType } from "../../../platform/contract/fields.ts";
import { printableLine } from "../../../platform/messages/text.ts";
import { keysOf } from "../declared/declaration.ts";
import { typesToDeclare } from "../declared/fields.ts";
import { RowMistakes } from "../declared/mistakes.ts";
import type { RowTarget } from "../declared/target.ts";
import { placeOf } from "../source/source.ts";

/** Forms in which a refused batch names the row, seen or likely: `rows.0: `, `rows[0].`. */
const place = /^(?:body\.)?(?:rows?[. ]?\[?\d+\]?|rowData)(?:[.:]\s*|\s+)/i;

/** Words by which a refusal names the type of the field (assumed: the platform documents none). */
const wordsOfTypes: readonly (readonly [RegExp, FieldType])[] = [
  [/checkbox|(list|array) of (texts|strings)/i, "checkbox"],
  [/\bdate\b|ISO ?8601/i, "date"],
  [/\bnumber\b|numeric/i, "number"],
  [/crossAppRow/i, "linked"],
  [/\blocation\b/i, "location"],
];

/** True when a sentence contains a label as words of its own. */
function isNamed(label: string, sentence: string): boolean {
  const letter = /[\p{L}\p{N}_]/u;
  for (let at = sentence.indexOf(label); at >= 0; at = sentence.indexOf(label, at + 1)) {
    const [before = "", after = ""] = [sentence[at - 1], sentence[at + label.length]];
    if (!letter.test(before) && !letter.test(after)) return true;
  }
  return false;
}

/** Rows that the platform refused one by one. */
export class RowRefusals {
  readonly #target: RowTarget;
  readonly #labels: readonly string[];
  readonly #advice = new Set<string>();
  readonly #found: { index: number; line: number; message: string; isQuoting: boolean }[] = [];

  /** @param labels those that the rows declare */
  constructor(target: RowTarget, labels: readonly string[]) {
    this.#target = target;
    this.#labels = labels;
  }

  get count(): number {
    return this.#found.length;
  }

  /**
   * @param message the platform's words
   * @param secrets texts of the row that nobody may read
   */
  add({ index, line }: { index: number; line: number }, message: string, secrets: readonly string[] = []): void {
    const isQuoting = secrets.some((text) => message.includes(text));
    this.#found.push({ index, line, message: printableLine(message).replace(place, ""), isQuoting });
  }

  /** Notes the advice of a refusal that is about the form of a request, and not about its row. */
  advise(refusal: ApiError): void {
    if (isAdvised(refusal)) this.#advice.add(refusal.hint);
  }

  /** Refusals, once for each label and reason, at the first row by its line and key; then advice. */
  async sentences(directory: string): Promise<string[]> {
    const { sensitive } = this.#target;
    const ascending = this.#found.toSorted((a, b) => a.index - b.index);
    const chosen = new Set(ascending.map(({ index }) => index));
    const reading = sensitive || chosen.size === 0 ? [] : keysOf(this.#target, directory, chosen);
    // oxlint-disable-next-line eslint-js/no-restricted-syntax -- the source may be gone: refusals without keys, rather than none
    const keys = await Promise.resolve(reading).catch(() => []);
    const mistakes = new RowMistakes((line) => placeOf(this.#target, line));
    for (const [at, { line, message, isQuoting }] of ascending.entries())
      mistakes.add({ line, key: keys[at], ...this.#sentence(message, isQuoting) });
    return [...mistakes.sentences(), ...this.#advice];
  }

  /** The platform's words, and what to write; not those about a secret row or cell, which may quote it. */
  #sentence(message: string, isQuoting: boolean): { text: string; about: string } {
    const { sensitive = false, secretLabels = [] } = this.#target;
    const isSecret = sensitive || isQuoting || secretLabels.some((one) => isNamed(one, message));
    const [label] = this.#labels.filter((one) => isNamed(one, message)).toSorted((a, b) => b.length - a.length);
    const [, type] = wordsOfTypes.find(([words]) => words.test(message)) ?? [];
    if (label === undefined || type === undefined) {
      const which = label === undefined || sensitive ? "the row" : label;
      const text = isSecret ? `the platform refused ${which}` : message;
      return { text, about: text };
    }
    const [is, write] = fieldKinds[type];
    const about = `${label} is ${is}: ${write}`;
    const remedy = write + typesToDeclare(this.#target, label, type);
    return { about, text: `${isSecret ? `${label} is ${is}` : message.replace(/\.$/, "")}: ${remedy}` };
  }
}

import { stringify } from "yaml";
import { RecordedCalls } from "./calls.ts";
import { exchangeOf, type Passed, type RecordedExchange } from "./exchange.ts";
import { factsOf } from "./facts.ts";
import type { KnownStep } from "./factShapes.ts";
import { Known } from "./known.ts";
import { Finder } from "./privacy/finder.ts";
import { Replacer } from "./privacy/replacer.ts";
import { Sensitive } from "./privacy/sensitive.ts";
import { seedOf } from "./seed.ts";
import { keepPlainValues, Shapes, type RowValues } from "./shapes.ts";

export interface RecordingOptions {
  /** Path of the platform's address, without a slash at its end. */
  base: string;
  /** Labels of fields that hold people. */
  labels: readonly string[];
  rows: "shape" | "values";
  /** Steps of facts that need not be written again. */
  knownSteps?: readonly KnownStep[];
  /** Receives each call of the interface. */
  observe?: (exchange: RecordedExchange) => void;
}

/** The recording as texts, and the list of what was left out. */
export interface RecordingFiles {
  seed: string;
  facts: string;
  finder: Finder;
  /** The address by which its administrator logs in, if anybody called who may be it. */
  administrator: string | undefined;
  counts: { calls: number; tables: number; rows: number; organizations: number; people: number; facts: number };
  omitted: readonly (readonly [count: number, what: string])[];
}

/** Recorded exchanges, within bounds, in memory alone. */
export class Recording {
  readonly #options: RecordingOptions;
  readonly #known = new Known();
  readonly #calls: RecordedCalls;
  readonly #sensitive: Sensitive;
  #count = 0;
  #beside = 0;
  #tooLarge = 0;
  #tooMany = 0;
  #unread = 0;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#calls = new RecordedCalls(options.knownSteps);
    this.#sensitive = new Sensitive(options.labels);
  }

  /** Takes an exchange; one that can't be read, since it is nested too deep, say, is left out. */
  readonly take = (passed: Passed): void => {
    try {
      this.#take(passed);
    } catch {
      this.#unread++;
    }
  };

  /** Whatever an exchange carries is known to be secret before it is kept. */
  #take(passed: Passed): void {
    if (this.#sensitive.isFull()) {
      this.#tooMany++;
      return;
    }
    this.#sensitive.addHeaders(passed.headers);
    this.#sensitive.addHeaders(passed.answerHeaders);
    const exchange = exchangeOf(passed, this.#options.base);
    if (!exchange) {
      if (passed.body === undefined || passed.answer === undefined) this.#tooLarge++;
      else this.#beside++;
      return;
    }
    for (const value of [exchange.sent, exchange.request, exchange.wire, exchange.answer])
      this.#sensitive.addValue(value);
    if (this.#sensitive.isFull()) {
      this.#tooMany++;
      return;
    }
    this.#count++;
    this.#known.take(exchange);
    this.#calls.take(exchange);
    this.#options.observe?.(exchange);
  }

  /** Makes the files of what came by. */
  made(date: string): RecordingFiles {
    const finder = new Finder(this.#sensitive.entries);
    const replacer = new Replacer(finder, this.#sensitive.entries);
    const values = this.#values(replacer);
    const { seed, administrator, rows, omitted } = seedOf(this.#known, replacer, values);
    const made = factsOf(this.#calls.all, { known: this.#known, replacer, values, date });
    const { tables, people, beside } = this.#known;
    return {
      seed: stringify(seed, { lineWidth: 0, aliasDuplicateObjects: false }),
      facts: stringify({ version: 1, facts: made.facts }, { lineWidth: 0, aliasDuplicateObjects: false }),
      finder,
      administrator,
      counts: {
        calls: this.#count,
        tables: tables.all.size - omitted.tables,
        rows,
        organizations: people.organizations.size,
        people: people.users.size,
        facts: made.count,
      },
      omitted: [
        [this.#tooLarge, "exchange with a body beyond 16 MB"],
        [this.#tooMany, "exchange after 20,000 secrets and people"],
        [this.#unread, "exchange that can't be read"],
        [this.#beside, "request beside the interface"],
        [omitted.rows, "row beyond the bounds, or without its parent row"],
        [omitted.tables, "table whose ID no seed can have"],
        [people.omitted, "organization, team or person beyond 5,000"],
        [beside.get("files") ?? 0, "file"],
        [beside.get("apps") ?? 0, "generated app"],
        [beside.get("notifications") ?? 0, "notification"],
        [made.unfit, "exchange that can't be tried again as a fact"],
        [this.#calls.omitted, "exchange after 2,000 for facts"],
      ],
    };
  }

  #values(replacer: Replacer): RowValues {
    if (this.#options.rows === "values") return keepPlainValues(replacer);
    const { tables, people } = this.#known;
    const isID = (text: string): boolean =>
      tables.find(text) !== undefined ||
      tables.all.has(text) ||
      people.teams.has(text) ||
      people.organizations.has(text);
    const shapes = new Shapes(replacer, isID);
    for (const { rows } of tables.all.values()) for (const { values } of rows) shapes.see(Object.values(values));
    for (const { sent, answer } of this.#calls.all) shapes.see([sent, answer]);
    return shapes;
  }
}

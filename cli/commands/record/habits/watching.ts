import type { Fact } from "../../../../provider/conformance/fact.ts";
import type { FactResult } from "../../../../provider/conformance/run.ts";
import { findDifference } from "../../../../provider/conformance/trial.ts";
import { endpoints, type EndpointName, type ParsedRequestOf } from "../../../../provider/contract/endpoints.ts";
import { codeOf } from "../../../../provider/contract/errors.ts";
import type { Row, RowData } from "../../../../provider/contract/values.ts";
import { usualHabits, type HabitName } from "../../../../provider/habits/habits.ts";
import type { Profile } from "../../../../provider/habits/profile.ts";
import type { RecordedExchange } from "../../../recording/exchange.ts";
import { ReadHabits } from "../../../recording/readHabits.ts";
import type { Sighting } from "../../../recording/sighting.ts";
import { wordsFact } from "../../verify/meaning.ts";
import { isOtherwise, resultOf, signsOf, tellersOf } from "./signs.ts";
import { ThingsSoFar } from "./things.ts";
import { WrittenValues } from "./values.ts";

/** Watches calls for what they show of the platform's habits: what was not seen stays unknown. */
export class HabitWatch {
  readonly #tellers: ReadonlyMap<HabitName, Fact>;
  readonly #words: Fact | undefined;
  readonly #seen = new Map<HabitName, string>();
  readonly #wireNames: Record<string, string> = {};
  #unknownWord: FactResult | undefined;
  readonly #things = new ThingsSoFar();
  readonly #values = new WrittenValues();
  readonly #reads = new ReadHabits();
  /** How a user was asked for and found, or not. */
  readonly #lookups = new Set<"query" | "post" | "noQuery" | "noPost" | "off">();

  constructor(facts: readonly Fact[]) {
    this.#tellers = tellersOf(facts);
    this.#words = facts.find(({ id }) => id === wordsFact);
  }

  /** Habits that were seen, as results of the facts that tell of them. */
  get results(): FactResult[] {
    const lookup = this.#lookup();
    const all = lookup === undefined ? this.#seen : new Map(this.#seen).set("userLookupBy", lookup);
    const seen = [...all].flatMap(([name, value]): FactResult[] => {
      const fact = this.#tellers.get(name);
      return fact && !isOtherwise(fact.presumes, all) ? [{ fact, habit: { name, value }, status: "passed" }] : [];
    });
    return this.#unknownWord ? [...seen, this.#unknownWord] : seen;
  }

  get wireNames(): Profile["wireNames"] {
    return this.#wireNames;
  }

  readonly take = (exchange: RecordedExchange): void => {
    const { name, wireName, answer, request } = exchange;
    this.#look(exchange);
    for (const sighting of this.#things.take(exchange)) this.#note(sighting);
    if (name === "userid") this.#lookedUp(exchange);
    if (name === "microappdata" && exchange.refused !== undefined) this.#refusedRead(exchange);
    if (answer === undefined) return;
    const usual = endpoints[name].path.replace(/.*\//, "");
    if (wireName !== usual) this.#wireNames[usual] = wireName;
    if (name === "createappwithpromptStatus") this.#worded(exchange);
    if (request !== undefined) this.#rows(exchange, request, answer);
  };

  #note([name, value]: readonly [HabitName, string]): void {
    if (value !== usualHabits[name] || !this.#seen.has(name)) this.#seen.set(name, value);
  }

  #look(exchange: RecordedExchange): void {
    for (const { name, value } of signsOf(exchange, this.#tellers, this.#seen)) this.#note([name, value]);
  }

  #rows(exchange: RecordedExchange, request: object, answer: object): void {
    const { name } = exchange;
    if (name === "microappdata") {
      const { microAppRows } = answer as { microAppRows: Row[] }; // the contract has read it
      const asked = request as ParsedRequestOf<"microappdata">; // and this
      if (asked.platformFormat === true) return;
      this.#each(this.#reads.read(asked, microAppRows));
      const table = asked.microAppID;
      for (const [index, row] of microAppRows.entries()) this.#row(exchange, row, { table, isSample: index === 0 });
    } else if (name === "microappdataRow") {
      const { currentRow } = answer as { currentRow?: Row }; // and this
      if (currentRow) this.#row(exchange, currentRow, {});
    } else if (endpoints[name].effect !== "read") this.#written(name, request, answer);
  }

  #row(
    exchange: RecordedExchange,
    row: Row,
    { table, isSample = false }: { table?: string; isSample?: boolean },
  ): void {
    if (isSample) this.#look({ ...exchange, name: "microappdataRow", answer: { currentRow: row } });
    this.#each(this.#values.read(row, table));
  }

  #written(name: EndpointName, request: object, answer: object): void {
    this.#reads.changed();
    // These are of the endpoint's types: the contract has read them.
    const {
      rowID = "",
      rowData = {},
      microAppID = "",
    } = request as {
      rowID?: string;
      rowData?: RowData;
      microAppID?: string;
    };
    if (name === "insertmicroapprow") this.#values.inserted((answer as { rowID: string }).rowID, microAppID, rowData);
    if (name === "updatemicroapprow") this.#values.updated(rowID, rowData);
    if (name === "removemicroapprow") this.#values.removed(rowID);
  }

  #each(sightings: Iterable<Sighting>): void {
    for (const sighting of sightings) this.#note(sighting);
  }

  /** A read whose filter the platform names when it refuses it. */
  #refusedRead({ sent, status, refused = "" }: RecordedExchange): void {
    if (!["invalidRequest", "rejected", "notImplemented"].includes(codeOf(status, refused))) return;
    const has = (key: string): boolean => (sent[key] ?? null) !== null;
    if (has("optViewFilters") && /\$[gl]te?\b/.test(refused)) this.#note(["rangeFilters", "refused"]);
    else if (has("optViewFilters") && /\boptViewFilters\b/.test(refused)) this.#note(["viewFilters", "refused"]);
    else if (has("optSearchFilters") && /\boptSearchFilters\b/.test(refused)) this.#note(["searchFilters", "refused"]);
  }

  #lookedUp({ method, status, refused, answer }: RecordedExchange): void {
    const [found, missed] = method === "GET" ? (["query", "noQuery"] as const) : (["post", "noPost"] as const);
    if (answer !== undefined) this.#lookups.add(found);
    else if (refused !== undefined && !["unauthorized", "notFound"].includes(codeOf(status, refused)))
      this.#lookups.add(missed);
    if (/not enabled|disabled|switched off/i.test(refused ?? "")) this.#lookups.add("off");
  }

  /** How users are asked for; undefined where that was not seen. */
  #lookup(): string | undefined {
    const has = this.#lookups;
    if (has.has("post") && has.has("noQuery")) return "post";
    if (has.has("query") && has.has("noPost")) return "query";
    return has.has("off") && !has.has("query") && !has.has("post") ? "none" : undefined;
  }

  /** A word for the state of a generation that nobody knows yet. */
  #worded(exchange: RecordedExchange): void {
    const [step] = this.#words?.steps ?? [];
    if (!this.#words || !step) return;
    const wrong = findDifference({ answer: step.answer }, resultOf(exchange));
    if (wrong) this.#unknownWord = { fact: this.#words, status: "failed", step: 0, ...wrong };
  }
}

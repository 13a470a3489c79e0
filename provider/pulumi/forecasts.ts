import { setTimeout as sleep } from "node:timers/promises";
import { formatCount } from "../../platform/messages/text.ts";
import type { LateRows } from "../seedRows/declared/claims.ts";
import type { Reporter } from "./progress.ts";

/** The calls that only report what is to come; any other reports what it does. */
export type Phase = "check" | "diff" | undefined;

type Say = (text: string) => void;
type Clean = (text: string) => string;

/** Milliseconds that a preview gives a program to declare more before it reports removals. */
const laterMs = 100;

/**
 * Messages of check and diff about a coming update. A preview prints them once: at once if it is known to be a preview,
 * else with the create or update that an engine asks for in a preview alone.
 */
export class Forecasts {
  /** True in a run known to be no preview: an update reports its own work. */
  isUpdate = false;
  readonly #waits: boolean;
  readonly #report: Reporter;
  readonly #kept = new Map<string, { check?: string[]; diff?: string[] }>();
  readonly #reported = new Set<string>();
  /** Seeds whose comparison did not know of one that declares their rows as well. */
  readonly #outdated = new Set<string>();

  /** @param waits whether an engine asks for creates and updates in a preview, for which a forecast waits */
  constructor(waits: boolean, report: Reporter) {
    this.#waits = waits;
    this.#report = report;
  }

  /** Reports the forecasts of one call, or keeps them, without secrets, in place of those of an equal call before. */
  of(phase: Phase, urn: string | undefined, clean: Clean, say: Say): Say {
    if (this.isUpdate) return () => undefined;
    if (phase === "diff" && urn !== undefined && !this.#waits) this.#reported.add(urn);
    if (!this.#waits || phase === undefined || urn === undefined) return say;
    const lines: string[] = [];
    this.#kept.set(urn, { ...this.#kept.get(urn), [phase]: lines });
    return (text) => void lines.push(clean(text));
  }

  /** Reports what waits for the create or update of a resource in a preview, or for none where nothing changes. */
  report(urn: string | undefined, say: Say): void {
    const { check = [], diff = [] } = this.#kept.get(urn ?? "") ?? {};
    this.#kept.delete(urn ?? "");
    if (urn !== undefined) this.#reported.add(urn);
    for (const text of new Set([...diff, ...check])) say(text);
  }

  /** Takes rows that another seed declares, which was checked after the one that removes them was compared. */
  async late(all: readonly LateRows[], clean: Clean): Promise<void> {
    for (const one of all) {
      if (!this.#reported.has(one.urn)) this.#outdated.add(one.urn);
      else if (!this.isUpdate) {
        const heard = this.#report(one.urn, clean);
        heard.info(this.#describe(one));
        await heard.heard();
      }
    }
  }

  #describe({ name, rows }: LateRows): string {
    const [of, it] = [`${formatCount(rows, "row")} of those to remove`, rows === 1 ? "it" : "them"];
    return this.#waits
      ? `${of} ${rows === 1 ? "is" : "are"} added again, with another ID: ${name} declares ${it}, and is known only once this seed is applied`
      : `${of} stay${rows === 1 ? "s" : ""} if ${name}, which declares ${it}, is known before this seed is applied; else ${rows === 1 ? "it is" : "they are"} added again, with another ID`;
  }

  /** True, once, if the forecast of a comparison is outdated; it is dropped then. Gives a program time to declare more. */
  async isOutdated(urn: string): Promise<boolean> {
    await sleep(laterMs);
    const kept = this.#kept.get(urn);
    if (!this.#outdated.delete(urn)) return false;
    if (kept) this.#kept.set(urn, { ...kept, diff: [] });
    return true;
  }
}

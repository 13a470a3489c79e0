import { formatCount } from "../../messages/text.ts";

/** The calls that only report what is to come; any other reports what it does. */
export type Phase = "check" | "diff" | undefined;

type Say = (text: string) => void;
type Clean = (text: string) => string;

/** Rows of one seed that stay for another, which was known after the first one was compared. */
interface Late {
  urn: string;
  name: string;
  rows: number;
}

/**
 * Messages of check and diff about a coming update. A preview prints them once: at once if it is known to be a preview,
 * else with the create or update that an engine asks for in a preview alone.
 */
export class Forecasts {
  /** True in a run known to be no preview: an update reports its own work. */
  isUpdate = false;
  readonly #waits: boolean;
  readonly #kept = new Map<string, { check?: string[]; diff?: string[] }>();
  readonly #reported = new Set<string>();
  readonly #outdated = new Set<string>();

  /** @param waits whether an engine asks for creates and updates in a preview, for which a forecast waits */
  constructor(waits: boolean) {
    this.#waits = waits;
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

  /** Takes rows that stay after all: reports those of seeds that were reported, marks other comparisons as outdated. */
  async correct(all: readonly Late[], say: (urn: string, text: string) => Promise<void>): Promise<void> {
    for (const { urn, name, rows } of all) {
      const text = `${formatCount(rows, "row")} of those to remove stay${rows === 1 ? "s" : ""}: ${name} declares ${rows === 1 ? "it" : "them"}`;
      if (!this.#reported.has(urn)) this.#outdated.add(urn);
      else if (!this.isUpdate) await say(urn, text);
    }
  }

  /** True, once, if the forecast of a comparison is outdated; it is dropped then. */
  dropOutdated(urn: string): boolean {
    const kept = this.#kept.get(urn);
    if (!this.#outdated.delete(urn)) return false;
    if (kept) this.#kept.set(urn, { ...kept, diff: [] });
    return true;
  }
}

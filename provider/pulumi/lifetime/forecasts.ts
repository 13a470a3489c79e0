/** The calls that only report what is to come; any other reports what it does. */
export type Phase = "check" | "diff" | undefined;

type Say = (text: string) => void;
type Clean = (text: string) => string;

/**
 * Messages of check and diff about a coming update. A preview prints them once: at once if it is known to be a preview,
 * else with the create or update that an engine asks for in a preview alone.
 */
export class Forecasts {
  /** True in a run known to be no preview: an update reports its own work. */
  isUpdate = false;
  readonly #waits: boolean;
  readonly #kept = new Map<string, { check?: string[]; diff?: string[] }>();

  /** @param waits whether an engine asks for creates and updates in a preview, for which a forecast waits */
  constructor(waits: boolean) {
    this.#waits = waits;
  }

  /** Reports the forecasts of one call, or keeps them, without secrets, in place of those of an equal call before. */
  of(phase: Phase, urn: string | undefined, clean: Clean, say: Say): Say {
    if (this.isUpdate) return () => undefined;
    if (!this.#waits || phase === undefined || urn === undefined) return say;
    const lines: string[] = [];
    this.#kept.set(urn, { ...this.#kept.get(urn), [phase]: lines });
    return (text) => void lines.push(clean(text));
  }

  /** Reports what waits for the create or update of a resource in a preview, or for none where nothing changes. */
  report(urn: string | undefined, say: Say): void {
    const { check = [], diff = [] } = this.#kept.get(urn ?? "") ?? {};
    this.#kept.delete(urn ?? "");
    for (const text of new Set([...diff, ...check])) say(text);
  }
}

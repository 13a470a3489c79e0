import { setTimeout as sleep } from "node:timers/promises";
import type { OfflineResourceContext, Resource } from "../resources/resource.ts";
import type { Forecasts } from "./lifetime/forecasts.ts";
import type { RunNotes } from "./lifetime/runNotes.ts";
import type { Reporter } from "./progress.ts";
import { diff, toListed, type Properties } from "./properties.ts";

/** Milliseconds that a preview gives a program to declare more before it reports removals. */
const laterMs = 100;

interface OfResource {
  resource: Resource;
  urn: string | undefined;
}

/** Corrects the forecast of a seed when one that declares its rows is registered after it. */
export class LateSeeds {
  readonly #notes: RunNotes;
  readonly #forecasts: Forecasts;
  readonly #report: Reporter;

  constructor(notes: RunNotes, forecasts: Forecasts, report: Reporter) {
    this.#notes = notes;
    this.#forecasts = forecasts;
    this.#report = report;
  }

  /** Reports which rows stay after all. */
  say(clean: (text: string) => string): Promise<void> {
    return this.#forecasts.correct(this.#notes.known.rowClaims.late.splice(0), async (urn, text) => {
      const heard = this.#report(urn, clean);
      heard.info(text);
      await heard.heard();
    });
  }

  /** Reports the forecast of a create or update: of a seed that gives up rows once others had time to claim them. */
  async foresee(call: OfResource, context: OfflineResourceContext, news: Properties, old?: Properties): Promise<void> {
    if (old) await this.#compareAgain(call, context, news, old);
    this.#forecasts.report(call.urn, context.report.info);
  }

  async #compareAgain(
    { resource, urn }: OfResource,
    context: OfflineResourceContext,
    news: Properties,
    old: Properties,
  ): Promise<void> {
    if (urn === undefined || !this.#notes.known.rowClaims.gives(urn)) return;
    await sleep(laterMs);
    if (!this.#forecasts.dropOutdated(urn)) return;
    const inputs = toListed(resource, { ...news, resourceUrn: urn });
    this.#notes.compared(urn, await diff(resource, context, { ...old, resourceUrn: urn }, inputs));
  }
}

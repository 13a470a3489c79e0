import { setTimeout as sleep } from "node:timers/promises";
import { formatCount } from "../../platform/messages/text.ts";
import type { Report } from "../resources/resource.ts";
import type { LateRows } from "../seedRows/claims.ts";

const severities = { info: 1, warning: 2 } as const;

/** Milliseconds between two live lines of one resource: what is not a terminal prints each of them. */
const throttleMs = 1_000;

/** Milliseconds that a message may take to arrive. */
const logTimeoutMs = 1_000;

/** Reports the progress of a resource in the engine's own log, on the line of the resource with that URN. */
export type Reporter = (urn: string | undefined, clean: (text: string) => string) => HeardReport;

interface HeardReport extends Omit<Report, "forecast"> {
  /** Resolves when the engine has received all reports: those after the answer to a call may come too late. */
  heard: () => Promise<void>;
}

/** A message for the log of an engine. */
export interface LogEntry {
  severity: "info" | "warning";
  message: string;
  urn: string | undefined;
  /** True for a live line, which the next one replaces. */
  ephemeral: boolean;
}

/** Reports to the engine at this address; without one, reports nothing. */
export function reporterTo(address: string | undefined): Reporter {
  if (address === undefined) return reporterThrough(() => undefined);
  // Loaded when it is needed: a run may have nothing to say.
  const load = async () => {
    const [{ default: service }, { default: messages }, { default: grpc }] = await Promise.all([
      import("@pulumi/pulumi/proto/engine_grpc_pb.js"),
      import("@pulumi/pulumi/proto/engine_pb.js"),
      import("@grpc/grpc-js"),
    ]);
    return {
      messages,
      metadata: new grpc.Metadata(),
      engine: new service.EngineClient(address, grpc.credentials.createInsecure()),
    };
  };
  let loading: ReturnType<typeof load> | undefined;
  return reporterThrough(async ({ severity, message, urn, ephemeral }) => {
    const { messages, metadata, engine } = await (loading ??= load());
    const request = new messages.LogRequest();
    request.setSeverity(severities[severity]);
    request.setMessage(message);
    if (urn !== undefined) request.setUrn(urn);
    request.setEphemeral(ephemeral);
    // An engine that has ended needs no progress.
    await new Promise<void>((resolve) => {
      engine.log(request, metadata, { deadline: Date.now() + logTimeoutMs }, () => resolve());
    });
  });
}

/** @param send hands a message to the engine, which has it when this returns or resolves; false where it drops it */
export function reporterThrough(send: (entry: LogEntry) => boolean | undefined | Promise<void>): Reporter {
  const lastOf = new Map<string, string>();

  return (urn, clean) => {
    const underway = new Set<Promise<unknown>>();
    const log = (severity: LogEntry["severity"], text: string, ephemeral: boolean): void => {
      const sent = send({ severity, message: clean(text), urn, ephemeral });
      if (sent === false && urn !== undefined) lastOf.delete(urn);
      const taken = Promise.resolve(sent);
      underway.add(taken);
      void taken.then(() => underway.delete(taken));
    };
    // An engine may ask for the same diff twice, of a refresh and of the plan after it.
    const once = (severity: LogEntry["severity"], text: string): void => {
      if (urn !== undefined && lastOf.get(urn) === text) return;
      if (urn !== undefined) lastOf.set(urn, text);
      log(severity, text, false);
    };
    let last = -Infinity;
    return {
      status: (text, lasts) => {
        const now = performance.now();
        if (now - last < throttleMs && !lasts) return;
        last = now;
        log("info", text, true);
      },
      info: (text) => once("info", text),
      warning: (text) => once("warning", text),
      heard: () => Promise.all(underway).then(() => undefined),
    };
  };
}

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

  /** Puts what was seen in place of a check's sentence with these words, which knows the source alone. */
  correct(urn: string | undefined, words: string, seen: string): void {
    const { check = [], ...kept } = this.#kept.get(urn ?? "") ?? {};
    this.#kept.set(urn ?? "", { ...kept, check: check.map((text) => (text.includes(words) ? seen : text)) });
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
    return `${of} stay${rows === 1 ? "s" : ""} if ${name}, which declares ${it}, is known before this seed is applied; else ${rows === 1 ? "it is" : "they are"} added again, with another ID and without cells that no seed declares`;
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

import type { Fault } from "../../emulator/platform/faults.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";

/** Operation during which something goes wrong. */
export const stages = ["up", "update", "refresh", "destroy"] as const;
export type Stage = (typeof stages)[number];

/** Faults that the emulator plays. */
export const faults = {
  "429": { kind: "status", status: 429 },
  "500": { kind: "status", status: 500 },
  "500 after commit": { kind: "status", status: 500, commit: true },
  "503": { kind: "status", status: 503 },
  reset: { kind: "reset" },
  "reset after commit": { kind: "reset", commit: true },
  "time-out": { kind: "timeout" },
  "time-out after commit": { kind: "timeout", commit: true },
  "broken JSON": { kind: "brokenJSON" },
  "200 with an error in it": { kind: "errorInside" },
  "expired token": { kind: "expiredToken" },
} as const satisfies Record<string, Fault>;
type FaultName = keyof typeof faults;

/**
 * One thing that goes wrong.
 *
 * - `fault`: on an endpoint, for one call of it or for all
 * - `outage`: a call is carried out, its answer is lost, and so is every call after it
 * - `kill`: the provider is killed while a call is under way, before or after it is carried out
 * - `unsaved`: the engine is killed when it has the answer of a step and has not saved it
 */
export type Incident =
  | { kind: "fault"; endpoint: EndpointName; fault: FaultName; once: boolean; after: number }
  | { kind: "outage"; after: number }
  | { kind: "kill"; after: number; commit: boolean }
  | { kind: "unsaved"; after: number };

export interface Case {
  providerKind: "dynamic" | "plugin";
  stage: Stage;
  incident: Incident;
}

/** A case in words; the same one for the same case. */
export function told({ providerKind, stage, incident }: Case): string {
  const place = `${providerKind} ${stage}:`;
  switch (incident.kind) {
    case "fault": {
      const when = incident.once ? `call ${incident.after + 1}` : `from call ${incident.after + 1} on`;
      return `${place} ${incident.endpoint} ${incident.fault}, ${when}`;
    }
    case "outage":
      return `${place} outage after call ${incident.after + 1}`;
    case "kill":
      return `${place} provider killed at call ${incident.after + 1}, ${incident.commit ? "carried out" : "not carried out"}`;
    case "unsaved":
      return `${place} engine killed before it saved step ${incident.after + 1}`;
  }
}

/** The kind of incident, without its place. */
export function kindOf({ incident }: Case): string {
  if (incident.kind === "fault") return incident.once ? incident.fault : `lasting ${incident.fault}`;
  if (incident.kind === "kill") return incident.commit ? "killed after commit" : "killed before commit";
  return incident.kind;
}

/** An undisturbed stage: its calls in order, and how many steps are saved. */
export interface Course {
  calls: readonly EndpointName[];
  steps: number;
}

/**
 * All cases. `random` (0 to 1) decides which one of an endpoint's calls a fault hits.
 * @param courses by provider kind and stage
 */
export function allCases(courses: ReadonlyMap<string, Course>, random: () => number): Case[] {
  return (["dynamic", "plugin"] as const).flatMap((providerKind) =>
    stages.flatMap((stage) => {
      const { calls, steps } = courses.get(`${providerKind} ${stage}`) ?? { calls: [], steps: 0 };
      return [...faultsOf(providerKind, calls, random), ...killsOf(stage, calls.length, steps)].map((incident) => {
        return { providerKind, stage, incident };
      });
    }),
  );
}

function* faultsOf(providerKind: string, calls: readonly EndpointName[], random: () => number): Generator<Incident> {
  for (const [endpoint, its] of Map.groupBy(calls, (name) => name)) {
    for (const name of Object.keys(faults) as FaultName[]) {
      // An engine's time-out does not reach dynamic resources: there a call that hangs ends as a kill does.
      if (name.startsWith("time-out") && providerKind === "dynamic") continue;
      const after = Math.floor(random() * its.length);
      yield { kind: "fault", endpoint, fault: name, once: true, after };
      yield { kind: "fault", endpoint, fault: name, once: false, after };
    }
  }
}

function* killsOf(stage: Stage, calls: number, steps: number): Generator<Incident> {
  for (let after = 0; after < calls; after++) {
    yield { kind: "kill", after, commit: false };
    yield { kind: "kill", after, commit: true };
    if (stage !== "refresh") yield { kind: "outage", after };
  }
  for (let after = 0; after < steps; after++) yield { kind: "unsaved", after };
}

/** Endpoints that no case of these hits. */
export function untouched(cases: readonly Case[]): EndpointName[] {
  const hit = new Set(cases.map(({ incident }) => (incident.kind === "fault" ? incident.endpoint : "")));
  return (Object.keys(endpoints) as EndpointName[]).filter((name) => !hit.has(name));
}

/** Some cases, each of another kind; those that last, and so wait long, are one kind. */
export function sampled(cases: readonly Case[], count: number, random: () => number): Case[] {
  const kinds = Map.groupBy(cases, (one) => kindOf(one).replace(/^lasting .*/, "lasting"));
  const drawn = [...kinds.values()].flatMap((ones) => ones[Math.floor(random() * ones.length)] ?? []);
  return shuffled(drawn, random).slice(0, count);
}

export function shuffled<One>(ones: readonly One[], random: () => number): One[] {
  const ordered = ones.map((one) => ({ order: random(), one })).toSorted((a, b) => a.order - b.order);
  return ordered.map(({ one }) => one);
}

/** The seed that the environment names, for repeating what went wrong; the other one without it. */
export function seedFrom(environment: Readonly<Record<string, string | undefined>>, otherwise: number): number {
  const named = Number(environment["FAULTS_SEED"] ?? Number.NaN);
  return Number.isInteger(named) ? named : otherwise;
}

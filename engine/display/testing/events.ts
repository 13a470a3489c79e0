import type { EngineEvent, StepInfo } from "../../events.ts";
import { createDisplay, type Display, type DisplayOptions } from "../display.ts";

export const stackUrn = "urn:pulumi:dev::crew::pulumi:pulumi:Stack::crew-dev";
const groupUrn = "urn:pulumi:dev::crew::microapps:index:Group::core";
export const teamUrn = "urn:pulumi:dev::crew::microapps:index:Group$pulumi-nodejs:dynamic/microapps:Team::core-team";
export const appUrn = "urn:pulumi:dev::crew::pulumi-nodejs:dynamic/microapps:App::web";

const resources = {
  stack: { urn: stackUrn, resourceType: "pulumi:pulumi:Stack", name: "crew-dev" },
  group: { urn: groupUrn, resourceType: "microapps:index:Group", name: "core", parent: stackUrn },
  team: {
    urn: teamUrn,
    resourceType: "pulumi-nodejs:dynamic/microapps:Team",
    name: "core-team",
    parent: groupUrn,
    provider: "urn:pulumi:dev::crew::pulumi:providers:pulumi-nodejs::default::p1",
  },
  app: {
    urn: appUrn,
    resourceType: "pulumi-nodejs:dynamic/microapps:App",
    name: "web",
    parent: stackUrn,
    provider: "urn:pulumi:dev::crew::pulumi:providers:pulumi-nodejs::default::p1",
  },
};
type Resource = keyof typeof resources;
type Details = Partial<Omit<StepInfo, "op">>;

/** Makes events as an engine emits them, with few fields. */
export function events(preview: boolean, kind: "update" | "refresh" | "destroy" = "update") {
  const info = (op: StepInfo["op"], of: Resource, more: Details): StepInfo => ({ op, ...resources[of], ...more });
  return {
    start: (): EngineEvent => ({ type: "start", kind, preview, project: "crew", stack: "dev", config: {} }),
    step: (op: StepInfo["op"], of: Resource, more: Details = {}): EngineEvent => ({
      type: "step",
      preview,
      ...info(op, of, more),
    }),
    done: (op: StepInfo["op"], of: Resource, more: Details = {}, seconds = 0.21): EngineEvent => ({
      type: "stepDone",
      preview,
      seconds,
      ...info(op, of, more),
    }),
    failed: (op: StepInfo["op"], of: Resource): EngineEvent => ({ type: "stepFailed", preview, ...info(op, of, {}) }),
    summary: (more: Partial<Extract<EngineEvent, { type: "summary" }>> = {}): EngineEvent => ({
      type: "summary",
      kind,
      preview,
      result: "succeeded",
      changes: {},
      outputs: {},
      outputChanges: [],
      seconds: 2.3,
      ...more,
    }),
  };
}

type Log = Extract<EngineEvent, { type: "log" }>;
export const log = (severity: Log["severity"], message: string, urn?: string): Log => ({
  type: "log",
  severity,
  message,
  ...(urn === undefined ? {} : { urn }),
});
export const live = (message: string, urn: string): Log => ({ ...log("info", message, urn), ephemeral: true });

export function display(options: Partial<DisplayOptions>): Display {
  return createDisplay({
    form: "text",
    diff: false,
    interactive: false,
    color: false,
    write: () => undefined,
    width: () => 120,
    now: () => 0,
    ...options,
  });
}

/** The text that a display prints for events. */
export function shown(all: readonly EngineEvent[], options: Partial<DisplayOptions> = {}): string {
  let text = "";
  const { emit, close } = display({ write: (more) => (text += more), ...options });
  for (const event of all) emit(event);
  close();
  return text;
}

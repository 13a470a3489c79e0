import { createDisplay, type DisplayOptions } from "../../engine/display/display.ts";
import type { EngineEvent } from "../../engine/events.ts";

/** Events that a command printed with `--json`, without the parts that differ from run to run. */
export type Recording = readonly EngineEvent[];

export function recorded(output: string): Recording {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  // The engine's own events, one a line.
  const events = lines.map((line) =>
    steady(
      JSON.parse(line.replaceAll(/\b\d+\.\d s\b/g, "0.1 s").replaceAll(/sha256:[\da-f-]+/g, "sha256:…")) as EngineEvent,
    ),
  );
  const runs: EngineEvent[][] = [];
  for (const event of events) {
    if (event.type === "start") runs.push([]);
    runs.at(-1)?.push(event);
  }
  return runs.flatMap(inOrder);
}

function steady(event: EngineEvent): EngineEvent {
  return event.type === "stepDone" || event.type === "summary" ? { ...event, seconds: 1.5 } : event;
}

/** Resources that wait for none of each other come in any order: here in that of their names. */
function inOrder(run: EngineEvent[]): EngineEvent[] {
  const urnOf = (event: EngineEvent): string => ("urn" in event ? (event.urn ?? "") : "");
  const name = (event: EngineEvent): string => urnOf(event).split("::").at(-1) ?? "";
  const [start, summary] = (["start", "summary"] as const).map((kind) => run.filter(({ type }) => type === kind));
  const others = run.filter(({ type }) => type !== "start" && type !== "summary");
  return [
    ...(start ?? []),
    ...others.toSorted((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0)),
    ...(summary ?? []),
  ];
}

/** The final screen of a recording, and its lines that are wider than the terminal. */
export function screen(
  recording: Recording,
  { width, ...form }: { width: number } & Pick<Partial<DisplayOptions>, "interactive" | "color" | "diff">,
): { text: string; overflowing: string[] } {
  let written = "";
  const usual = { form: "text", interactive: true, color: false, diff: false } as const;
  const write = (text: string): void => void (written += text);
  const { emit, close } = createDisplay({ ...usual, ...form, write, width: () => width, now: () => 0 });
  for (const event of recording) emit(event);
  close();
  return { text: written, overflowing: written.split("\n").filter((line) => line.length > width) };
}

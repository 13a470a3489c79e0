import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { appUrn, display, events, live, log, shown, teamUrn } from "./testing/events.ts";
import { failingUpdate } from "./testing/runs.ts";
import { Terminal } from "./testing/terminal.ts";

const { start, step, done, summary } = events(false);

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => void jest.useRealTimers());

function onTerminal(width = 100, height = 30) {
  const terminal = new Terminal(width, height);
  const size = { width, height, writes: 0 };
  const shownOn = display({
    interactive: true,
    now: () => Date.now(),
    width: () => size.width,
    height: () => size.height,
    write: (text) => {
      size.writes++;
      terminal.write(text);
    },
  });
  const resize = (to: number): void => {
    terminal.resize(to);
    size.width = to;
  };
  return { terminal, size, resize, ...shownOn };
}

describe("on a terminal", () => {
  test("the table is redrawn in place while it runs", () => {
    const { terminal, emit, close } = onTerminal(110);
    terminal.write("$ up\n");
    emit(start());
    emit(step("same", "stack"));
    emit(step("create", "team"));
    emit(live("waiting\u001b[2J for a platform\nsecond line", teamUrn));
    jest.advanceTimersByTime(2500);
    expect(terminal.text).toBe(`$ up
Updating (dev):
     Type                  Name       Status            Info
     pulumi:pulumi:Stack   crew-dev   running..
     └─ microapps:Group    core
 +      └─ microapps:Team  core-team  creating (2s)..   waiting for a platform
`);
    emit(done("create", "team", {}, 2.5));
    emit(log("warning", "slow", appUrn));
    emit(summary({ changes: { create: 1 } }));
    close();
    expect(terminal.text).toBe(`$ up
Updating (dev):
     Type                  Name       Status           Info
     pulumi:pulumi:Stack   crew-dev
     ├─ microapps:Group    core
 +   │  └─ microapps:Team  core-team  created (2s)
     └─ microapps:App      web                         1 warning

Diagnostics:
  pulumi-nodejs:dynamic/microapps:App (web):
    warning: slow

Resources:
    + 1 created

Duration: 3s

`);
    expect(jest.getTimerCount()).toBe(0);
  });

  test("it is drawn at most ten times a second, and the last state always", () => {
    const { terminal, size, emit, close } = onTerminal();
    emit(start());
    emit(step("create", "app"));
    size.writes = 0;
    for (let i = 1; i <= 1000; i++) {
      emit(live(`status ${i}`, appUrn));
      jest.advanceTimersByTime(1);
    }
    expect(size.writes).toBeLessThanOrEqual(10);
    jest.advanceTimersByTime(100);
    expect(terminal.text).toContain("status 1000");
    close();
    expect(jest.getTimerCount()).toBe(0);
  });

  test("a terminal that changes its width keeps one table", () => {
    const { terminal, resize, emit, close } = onTerminal();
    emit(start());
    emit(step("create", "team"));
    emit(live("a status that is long enough to be cut", teamUrn));
    for (const width of [100, 60, 33, 80, 20, 120]) {
      jest.advanceTimersByTime(1000);
      resize(width);
      jest.advanceTimersByTime(1000);
      expect(terminal.text.split("\n").every((line) => line.length < width)).toBe(true);
      expect(terminal.text.match(/Type/g)).toHaveLength(1);
      expect(terminal.text.split("\n")).toHaveLength(1 + 4 + 1);
    }
    close();
    expect(terminal.text.match(/core-team/g)).toHaveLength(1);
  });

  test("a table that is longer than the terminal ends as one whole table", () => {
    const { terminal, emit, close } = onTerminal(100, 8);
    emit(start());
    for (let i = 1; i <= 20; i++) {
      emit(step("create", "app", { urn: `${appUrn}-${i}`, name: `web-${i}` }));
      jest.advanceTimersByTime(100);
    }
    expect(terminal.text).toContain(" … 16 more\n");
    close();
    expect(terminal.text.match(/Type/g)).toHaveLength(1);
    for (let i = 1; i <= 20; i++) expect(terminal.text.match(new RegExp(`web-${i} `, "g"))).toHaveLength(1);
  });

  test("without progress only the final table is drawn", () => {
    const frames: string[] = [];
    const options = { interactive: true, suppressProgress: true, write: (text: string) => void frames.push(text) };
    shown(failingUpdate, options);
    expect(frames.filter((text) => text.includes("Type"))).toHaveLength(1);
  });
});

test("a log tells statuses at most once a second for each resource, and the last", () => {
  let text = "";
  const { emit, close } = display({ now: () => Date.now(), write: (more) => (text += more) });
  emit(start());
  emit(step("create", "app"));
  for (let i = 0; i < 30; i++) {
    emit(live(`${i} of 30`, appUrn));
    jest.advanceTimersByTime(100);
  }
  jest.advanceTimersByTime(2000);
  const row = "pulumi-nodejs:dynamic/microapps:App web";
  expect(text).toBe(`Updating (dev):

 +  ${row} creating (0s)
 @  ${row} creating (0s) 0 of 30
 @  ${row} creating (1s) 9 of 30
 @  ${row} creating (2s) 19 of 30
 @  ${row} creating (3s) 29 of 30
`);
  emit(live("too late", appUrn));
  emit(live("never", appUrn));
  emit(done("create", "app"));
  close();
  expect(text).not.toContain("never");
  expect(jest.getTimerCount()).toBe(0);
});

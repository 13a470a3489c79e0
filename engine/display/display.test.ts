import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { appUrn, display, events, live, log, shown, stackUrn, teamUrn } from "./testing/events.ts";

test("what is said outside of a run is printed at once, and a run without an end shows what it did", () => {
  const { start, step } = events(false);
  expect(shown([log("error", "no stack selected")])).toBe("error: no stack selected\n");
  expect(shown([start(), step("create", "app"), log("error", "broken", stackUrn)])).toBe(`Updating (dev):
     Type                 Name      Status                  Info
     pulumi:pulumi:Stack  crew-dev  **failed**              1 error
 +   └─ microapps:App     web       creating (interrupted)

Diagnostics:
  pulumi:pulumi:Stack (crew-dev):
    error: broken

`);
});

test("with --json each event is one line and nothing else is printed", () => {
  const { start, summary } = events(true);
  const all = [start(), log("info", "two\nlines \u009b\u2028\u202e\u{e0041} and \u001b[2J"), summary()];
  const text = shown(all, { form: "events" });
  expect(text).not.toMatch(/[^\n -~]/);
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(all);
});

test("one failure that many resources meet is said once, with how many", () => {
  const { start, step, failed, summary } = events(false, "refresh");
  const many = Array.from({ length: 122 }, (_, at) => ({ urn: `${teamUrn}-${at}`, name: `team-${at}` }));
  const all = [
    start(),
    ...many.flatMap((each) => [
      step("refresh", "team", each),
      { ...failed("refresh", "team"), ...each },
      log("error", "login: Login failed.", each.urn),
    ]),
    summary({ result: "failed" }),
  ];
  const text = shown(all);
  expect(text.match(/Login failed/g)).toHaveLength(1);
  expect(text).toContain(`Diagnostics:
  pulumi-nodejs:dynamic/microapps:Team (team-0):
    error: login: Login failed. (and 121 more resources)

Resources:`);
});

describe("while a run goes on,", () => {
  beforeEach(() => void jest.useFakeTimers({ now: 0 }));
  afterEach(() => void jest.useRealTimers());
  const { start, step, done, summary } = events(false);

  function running(interactive: boolean) {
    let text = "";
    const { emit, close } = display({
      ...{ interactive, now: () => Date.now(), width: () => 60 },
      write: (more) => (text += more),
    });
    emit(start());
    emit(step("create", "team"));
    emit(step("create", "app"));
    emit(live("waiting\u001b[2J for a platform\nsecond line", teamUrn));
    return { emit, close, text: () => text };
  }

  test("one line on a terminal tells what is running, and goes at the end", () => {
    const { emit, close, text } = running(true);
    jest.advanceTimersByTime(2500);
    const line = "\r\u001b[K  creating microapps:Team core-team (2s) (and 1 more): wai…";
    expect(text().slice(text().lastIndexOf("\r"))).toBe(line);
    emit(done("create", "team"));
    emit(summary({ changes: { create: 1 } }));
    close();
    expect(text()).toContain(`${line}\r\u001b[K     Type `);
    expect(jest.getTimerCount()).toBe(0);
  });

  test("a line tells it elsewhere every ten seconds", () => {
    const { emit, close, text } = running(false);
    jest.advanceTimersByTime(9_000);
    expect(text()).toBe("Updating (dev):\n");
    jest.advanceTimersByTime(12_000);
    emit(done("create", "team"));
    emit(done("create", "app"));
    jest.advanceTimersByTime(12_000);
    expect(text()).toBe(
      `Updating (dev):
  creating microapps:Team core-team (10s) (and 1 more): waiting for a platform
  creating microapps:Team core-team (20s) (and 1 more): waiting for a platform
`,
    );
    emit(live("too late", appUrn));
    close();
    expect(jest.getTimerCount()).toBe(0);
  });
});

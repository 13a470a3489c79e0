import { expect, test } from "@jest/globals";
import { row, timeOf, appIDIn, toFinishedAppLink, leadsTo } from "./values.ts";

const whole = {
  ...{ _id: "r1", userID: "u1", viewers: ["u2"], teamViewers: [], isLocked: false, submitted: 1, embeddingRowID: "r0" },
  ...{ Code: "AT", Area: { wide: true } },
};

test.each<[field: keyof typeof whole, good: unknown[], bad: unknown[]]>([
  ["_id", ["x".repeat(200)], ["", "x".repeat(201), 1, null, undefined]],
  ["userID", ["", null, undefined], [1, {}]],
  ["viewers", [[], [1], null, undefined], ["u2", {}]],
  ["teamViewers", [["t1"], null, undefined], ["t1", {}]],
  ["isLocked", [true, null, undefined], [0, "false"]],
  ["submitted", [0, "2026-01-02T03:04:05Z", null, undefined], []],
  ["embeddingRowID", ["", null, undefined], [1, []]],
  ["Code", ["", null, 1, [], {}, undefined], []],
])("a row as the platform answers it: %s", (field, good, bad) => {
  const accepted = (value: unknown): boolean => row.safeParse({ ...whole, [field]: value }).success;
  expect(good.map(accepted)).toEqual(good.map(() => true));
  expect(bad.map(accepted)).toEqual(bad.map(() => false));
});

test("a row is passed on as it is", () => {
  expect(row.parse(whole)).toBe(whole);
  for (const none of [null, undefined, "r1", [whole]]) expect(row.safeParse(none).success).toBe(false);
});

test.each([
  ["2026-01", "2026-01-01T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2026-01-05 09:00", "2026-01-05T09:00:00.000Z"],
  ["2026-01-05T09:00:07.1", "2026-01-05T09:00:07.100Z"],
  ["2026-01-05 09:00:00+00", "2026-01-05T09:00:00.000Z"],
  ["2026-01-05 09:00:00,123456 -0330", "2026-01-05T12:30:00.123Z"],
])("%s is the same moment on every machine", (date, moment) => {
  expect(timeOf(date)).toBe(Date.parse(moment));
});

test.each([
  ...["2024-01-01 (approx)", "2024-01-01 EST", "2024-011", "2024-01 January", "2024", "2024-01-01T10", "1/2/2024"],
  ...["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-01-01 25:00", "", "Track-1", NaN, null],
])("%p is no date", (text) => {
  expect(timeOf(text)).toBeUndefined();
});

test.each(["2026-01-05 09:00", "2026-01-05T09:00:00.5"])("%s has no place on the line", (date) => {
  expect(timeOf(date, true)).toBeUndefined();
  expect(timeOf(`${date}Z`, true)).toBe(timeOf(date));
});

test.each([
  ["https://apps.example.com/workspace/apps/a1", "https://apps.example.com/app/a1"],
  ["https://apps.example.com/apps/a1?tab=2", "https://apps.example.com/app/a1"],
  ["http://localhost:3000/base/workspace/apps/a-1/edit#x", "http://localhost:3000/base/app/a-1"],
  ["https://apps.example.com/apps/x/app/a1", "https://apps.example.com/app/x"],
])("%s leads to an app", (link, finished) => {
  expect(toFinishedAppLink(link)).toBe(finished);
  expect(finished.endsWith(`/${appIDIn(link) ?? ""}`)).toBe(true);
});

test.each([
  "",
  "/workspace/apps/a1",
  "javascript:alert(1)//x/apps/a1",
  "data:text/html,/apps/a1",
  "https://apps.example.com@evil.example/apps/a1",
  "https://apps.example.com\\\\@evil.example/apps/a1",
  "https://apps.example.com/apps/",
  "https://apps.example.com/a1",
  "https://apps.example.com/apps/a\u202e1",
  "https://apps.example.com/apps/\u001b[2J",
  "https://apps.example.com/x?next=/apps/a1",
  "https://apps.exam\u200bple.com/apps/a1",
  " https://apps.example.com/apps/a1",
])("%j is no link to an app", (link) => {
  expect([appIDIn(link), toFinishedAppLink(link)]).toEqual([undefined, undefined]);
});

test("a link leads to a server by its origin", () => {
  const server = "https://apps.example.com/";
  expect(leadsTo(server, "https://apps.example.com/workspace/apps/a1")).toBe(true);
  expect(leadsTo(server, "https://APPS.example.com:443/workspace/apps/a1")).toBe(true);
  for (const other of [
    "http://apps.example.com",
    "https://apps.example.com:8443",
    "https://apps.example.com.evil.example",
  ])
    expect(leadsTo(server, `${other}/workspace/apps/a1`)).toBe(false);
});

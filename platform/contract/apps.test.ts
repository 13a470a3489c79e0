import { expect, test } from "@jest/globals";
import { appIDIn, toFinishedAppLink, leadsTo } from "./values.ts";

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

import { expect, test } from "@jest/globals";
import { Journal } from "./journal.ts";
import { notification } from "./notification.ts";
import type { Context } from "./resource.ts";

test.each([
  ["inApp", { notificationCount: 0, pushCount: 0 }, true],
  ["inApp", { notificationCount: 1, pushCount: 0 }, false],
  ["push", { notificationCount: 0, pushCount: 0 }, true],
  ["push", { notificationCount: 0, pushCount: 2 }, false],
] as const)("a message by %s that reached %j is warned of: %s", async (channel, counts, isWarned) => {
  const warnings: string[] = [];
  const sendnotification = () => Promise.resolve({ channel, hasMessage: true, badgeCount: null, ...counts });
  const context = {
    client: { sendnotification },
    journal: new Journal(() => "test"),
    directory: import.meta.dirname,
    publicID: (id: string) => id,
    now: () => 0,
    report: { warning: (text: string) => void warnings.push(text) },
  };
  const inputs = { appID: "a1", email: "ada@example.com", message: "Welcome", channel };
  await notification.create(context as unknown as Context, inputs); // all of it that a create uses
  expect(warnings.join().includes("reached nobody")).toBe(isWarned);
});

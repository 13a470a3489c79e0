import { expect, test } from "@jest/globals";
import { describePull } from "./pulling.ts";

const look = { section: { compared: true as const, things: [] }, notes: [], unread: [], isRefused: false };
const shown = { name: "dev", stack: "team/dev", pulled: { items: [], files: [] }, look, isWritten: false };

test("the end of a pull says what is left, and the command that repairs what is to be repaired", () => {
  expect(describePull({ ...shown, repaired: 2, left: 1, tolerated: 3 }, true)).toBe(
    "dev\n3 changes left, as drift.yaml says: name one to take it\n1 change left as live: pull and drift name it again\n" +
      "2 changes to repair: microapps up --refresh -s team/dev does it\n",
  );
  expect(describePull({ ...shown, repaired: 0, left: 0, tolerated: 0 }, true)).toBe(
    "dev\n  the files say what is live\n",
  );
});

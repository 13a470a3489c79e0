import { expect, test } from "@jest/globals";
import { progressLine } from "./platform.ts";

const hostile = "items\u001b[2J\u202e of\nus: 3 of 9 rows read";

/** Writes of a stream after three texts, the first of which comes too early. */
function written(isTTY: boolean): string {
  let text = "";
  let time = 0;
  const { show, end } = progressLine({ isTTY, write: (piece) => (text += piece) }, () => time);
  show("too early");
  for (let line = 0; line < 2; line++) {
    time += 10_000;
    show(hostile);
  }
  end();
  return text;
}

test("a line of progress is one line, whatever the platform calls its tables", () => {
  const line = "items\\u202e of us: 3 of 9 rows read";
  expect(written(true)).toBe(`\r\u001b[K${line}\r\u001b[K${line}\r\u001b[K`);
  expect(written(false)).toBe(`${line}\n${line}\n`);
});

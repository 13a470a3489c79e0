import { expect, test } from "@jest/globals";
import { events, shown } from "./testing/events.ts";

test("outputs can be left out", () => {
  const all = [events(false).start(), events(false).summary({ outputs: { a: 1 } })];
  expect(shown(all)).toContain("Outputs:\n    a: 1\n");
  expect(shown(all, { suppressOutputs: true })).not.toContain("Outputs:");
});

test("after a run all outputs are shown, and how they changed", () => {
  const outputs = { same: [1], size: 2, added: { a: "x" }, token: "[secret]" };
  const outputChanges = [
    { path: "size", kind: "update" as const, old: 1, new: 2 },
    { path: "added", kind: "add" as const, new: { a: "x" } },
    { path: "gone", kind: "delete" as const, old: "y" },
  ];
  const { start, summary } = events(false);
  expect(shown([start(), summary({ outputs, outputChanges })])).toContain(`Outputs:
  + added: {
      + a: "x"
    }
  - gone : "y"
    same : [
        [0]: 1
    ]
  ~ size : 1 => 2
    token: [secret]

`);
  const planned = events(true);
  expect(shown([planned.start(), planned.summary({ outputs, outputChanges })])).not.toContain("same ");
});

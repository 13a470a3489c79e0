import { expect, test } from "@jest/globals";
import { failures, line, picture, points } from "./curves.ts";
import { each, figure, runs } from "./measure.ts";
import { page, renewResults } from "./results.ts";

const fail = (reason: string) => (): Promise<never> => Promise.reject(new Error(reason));

test("a job that fails ends no other, and is in the table with its reason", async () => {
  const seen: number[] = [];
  const jobs = {
    one: () => Promise.resolve(1),
    two: fail("no | room\nleft"),
    three: () => Promise.resolve(3),
    four: fail(""),
  };
  const { done, failed } = await each(jobs, ["one", "two", "three"], (value) => seen.push(value));
  expect([done, seen]).toEqual([
    [1, 3],
    [1, 3],
  ]);
  expect(failed).toEqual([{ job: "two", reason: "no | room\nleft" }]);
  const text = page({ jobs: [figure("a", runs([3, 1, 2]), "ms", 2)], curves: [], failed }, "a machine", "today");
  expect(text).toContain("| a | 2 ms | 1 – 3 | ≤ 2 | yes |\n| `two` | **failed**: no \\| room | | | **no** |\n");
});

test("a size that fails leaves the smaller ones in table and picture", async () => {
  const sizes = [10_000, 100_000, 1_000_000];
  const measure = (size: number) =>
    size > 10_000 ? fail("out of memory")() : Promise.resolve({ seconds: 1.5, calls: 4, memory: null });
  const rows = await line("seeded", sizes, measure);
  const none = await line("previewed", sizes, fail("gone"));
  const curves = { name: "rows", title: "Rows of a seed", unit: "rows", lines: [rows, none] };
  expect(points(curves).slice(2)).toEqual([
    "| seeded | 10,000 | 1.5 | 4 |  |",
    "| seeded | 100,000 | **failed**: out of memory | | |",
    "| previewed | 10,000 | **failed**: gone | | |",
  ]);
  expect(failures(curves)).toEqual([
    { job: "Rows of a seed: seeded, 100,000", reason: "out of memory" },
    { job: "Rows of a seed: previewed, 10,000", reason: "gone" },
  ]);
  for (const lines of [curves.lines, [none]]) expect(picture({ ...curves, lines })).not.toMatch(/NaN|Infinity/);
});

test("what did not run keeps its figures, and what ends well again is no failure", () => {
  const curves = (name: string) => ({ name, title: name, unit: "rows", lines: [] });
  const [a, b] = [figure("a", 1, "ms", 2), figure("b", 1, "ms", 2)];
  const before = { jobs: [a, b], curves: [curves("rows")], failed: [{ job: "start", reason: "slow" }] };
  const now = { jobs: [{ ...b, value: 5 }, figure("c", 1, "ms", 2)], curves: [curves("members")], failed: [] };
  const after = renewResults(before, now, ["start"]);
  expect(after.jobs.map(({ job, value }) => [job, value])).toEqual([
    ["a", 1],
    ["b", 5],
    ["c", 1],
  ]);
  expect(after.curves.map(({ name }) => name)).toEqual(["rows", "members"]);
  expect(after.failed).toEqual([]);
  expect(renewResults(before, now, []).failed).toEqual(before.failed);
  const dated = renewResults({ ...before, date: "2026-11-24", machine: "one" }, now, []);
  const text = page(
    renewResults({ ...dated, date: "2026-11-28", machine: "two" }, { ...now, jobs: [] }, []),
    "three",
    "today",
  );
  for (const part of [
    "\\* Measured on 2026-11-24: one.",
    "\\*\\* Measured on 2026-11-28: two.",
    "| a\\* | 1 ms |",
    "| b\\*\\* | 5 ms |",
    "## rows\\*",
  ])
    expect(text).toContain(part);
  expect(page(dated, "one", "2026-11-24")).not.toContain("\\*"); // all of one day and machine
});

// The order in which Jest runs test files: the longest of the last run first, so that no core waits at the end for a long
// one. Each run records its seconds in node_modules/.cache; a fresh clone takes those of tools/scripts/seconds.json, which
// RECORD_SECONDS=1 writes. A file that is in neither stands first in testing/, where files start processes.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";

const [common, own] = ["tools/scripts/seconds.json", "node_modules/.cache/seconds.json"];

function secondsIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

const nameOf = (path) => relative("dist", path);

export default class Order {
  sort(tests) {
    const seconds = { ...secondsIn(common), ...secondsIn(own) };
    const guess = (path) => (path.includes("/testing/") ? 10 : 0) + statSync(path).size / 100_000;
    const rank = ({ path }) => seconds[nameOf(path)] ?? guess(path);
    return tests.toSorted((a, b) => rank(b) - rank(a));
  }

  cacheResults(_tests, { testResults }) {
    const run = testResults.flatMap(({ testFilePath, perfStats }) =>
      perfStats.runtime > 0 ? [[nameOf(testFilePath), Math.round(perfStats.runtime / 100) / 10]] : [],
    );
    const file = process.env.RECORD_SECONDS === "1" ? common : own;
    const seconds = Object.fromEntries(
      [...Object.entries(secondsIn(file)), ...run].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(seconds, undefined, 2)}\n`);
  }
}

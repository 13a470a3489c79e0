// The order in which Jest runs test files. Those in testing/ start processes and take half a minute each, however short
// their files are: they come first, so that no core waits at the end for a long one. Else the longest file is first.
import { statSync } from "node:fs";

export default class Order {
  sort(tests) {
    const rank = ({ path }) => (path.includes("/testing/") ? 1e9 : 0) + statSync(path).size;
    return tests.toSorted((a, b) => rank(b) - rank(a));
  }

  cacheResults() {}
}

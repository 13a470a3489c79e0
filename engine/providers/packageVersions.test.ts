import { expect, test } from "@jest/globals";
import { isOlder } from "./packageVersions.ts";

test.each([
  ["1.2.3", "1.10.0", true],
  ["v1.2.3", "1.2.3", false],
  ["1.2", "1.2.1", true],
  ["1.0.0-alpha.9", "1.0.0-alpha.10", true],
  ["1.0.0-rc.1", "1.0.0", true],
  ["1.0.0+build", "1.0.0", false],
  ["unknown", "1.0.0", false],
])("%s is older than %s: %p", (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});

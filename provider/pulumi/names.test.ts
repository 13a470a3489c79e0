import { expect, test } from "@jest/globals";
import { explicitInput, pickOwnSettings } from "./names.ts";
import { problemsOf } from "./plugin/provider.ts";

test("both kinds take the same keys for ours, and what is below ours is no other package's", () => {
  const values = {
    email: "one",
    "microapps:endpoint": "two",
    "aws:region": "three",
    token: null,
    [explicitInput]: "true",
  };
  expect(pickOwnSettings(values)).toEqual({ email: "one", endpoint: "two" });
  expect(pickOwnSettings({ "microapps:a:b": "typed wrongly", "aws:a:b": "" })).toEqual({ "a:b": "typed wrongly" });
  expect(problemsOf({ "microapps:a:b": "typed wrongly" }, false)).toEqual([
    expect.stringContaining("microapps:a:b is not a setting"),
  ]);
});

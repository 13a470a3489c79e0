import { expect, test } from "@jest/globals";
import { parseEmulatorEndpoint } from "./schema.ts";

test.each([
  [
    "emulator:.microapps/dev.db?seed=platform.yaml",
    { data: "/project/.microapps/dev.db", seed: "/project/platform.yaml" },
  ],
  ["emulator:dev.db", { data: "/project/dev.db" }],
  ["emulator:/var/dev%20stack.db?seed=/etc/p%3D1.yaml", { data: "/var/dev stack.db", seed: "/etc/p=1.yaml" }],
  ["emulator::memory:?seed=platform.yaml", { data: ":memory:", seed: "/project/platform.yaml" }],
])("%s", (endpoint, expected) => {
  expect(parseEmulatorEndpoint(endpoint, "/project")).toEqual(expected);
});

test.each([
  ["emulator:", /names no data file: the form is emulator:<file>\?seed=<platform.yaml>/],
  ["emulator:?seed=a.yaml", /names no data file/],
  ["emulator:a.db?sede=a.yaml", /unknown parameter: the form is/],
  ["emulator:a.db?seed=", /names no seed/],
  ["emulator:50%.db", /write %25/],
])("%s is refused", (endpoint, message) => {
  expect(() => parseEmulatorEndpoint(endpoint, "/project")).toThrow(message);
  // It may be a secret that was moved to the wrong key.
  const [, text = ""] = endpoint.split("emulator:");
  if (text !== "") expect(() => parseEmulatorEndpoint(endpoint, "/project")).not.toThrow(text);
});

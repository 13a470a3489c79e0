import { expect, test } from "@jest/globals";
import { bind, type Configuration, isMoved } from "./configuration.ts";

const at = (endpoint: string, more: Partial<Configuration> = {}): Configuration => ({ endpoint, ...more });
const state = (endpoint: string, more: Partial<Configuration> = {}) => bind({}, at(endpoint, more));

test("a state knows its platform by address, without the account and what a new file is planted with", () => {
  expect(state("https://ada:pw@X.example.com/base/")).toEqual({ platform: "https://x.example.com/base" });
  expect(state("emulator:.microapps/dev.db?seed=platform.yaml")).toEqual({ platform: "emulator:.microapps/dev.db" });
});

test("it is at home on the same platform, and when it knows none yet", () => {
  expect(isMoved({}, at("https://x.example.com"))).toBe(false);
  expect(isMoved(state("https://x.example.com/"), at("https://x.example.com"))).toBe(false);
  expect(isMoved(state("https://x.example.com"), at("https://x.example.com", { organizationID: "o1" }))).toBe(false);
});

test("another address or organization is refused, naming both and what to do", () => {
  expect(() => isMoved(state("https://prod.example.com"), at("https://dev.example.com"))).toThrow(
    'it belongs to the platform https://prod.example.com, and the configuration says https://dev.example.com: nothing was sent. Use the stack or the configuration of that platform; if it is the same platform in another place, set microapps:movedFrom to "https://prod.example.com". A refresh or destroy takes the configuration of the last up, but for variables such as MICROAPPS_ENDPOINT.',
  );
  const one = state("https://x.example.com", { organizationID: "o1" });
  expect(() => isMoved(one, at("https://x.example.com", { organizationID: "o2" }))).toThrow("https://x.example.com#o2");
});

test("what says that it is in another organization is refused, also when no organization was configured before", () => {
  const team = { ...state("https://x.example.com"), organizationID: "o1" };
  expect(isMoved(team, at("https://x.example.com"))).toBe(false);
  expect(isMoved(team, at("https://x.example.com", { organizationID: "o1" }))).toBe(false);
  expect(() => isMoved(team, at("https://x.example.com", { organizationID: "o2" }))).toThrow(
    "it belongs to the platform https://x.example.com#o1, and the configuration says https://x.example.com#o2",
  );
});

test("the former address that is named is taken for this one, and no other", () => {
  const here = at("https://new.example.com", { movedFrom: "https://old.example.com/" });
  expect(isMoved(state("https://old.example.com"), here)).toBe(true);
  expect(isMoved(state("https://old.example.com", { organizationID: "o1" }), here)).toBe(true);
  expect(() => isMoved(state("https://other.example.com"), here)).toThrow("https://other.example.com");
});

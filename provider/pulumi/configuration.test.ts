import { expect, test } from "@jest/globals";
import { configure } from "./configuration.ts";
import { maskOf } from "./properties.ts";

const given = (settings: Readonly<Record<string, unknown>>, environment: Record<string, string> = {}) =>
  configure(settings, environment);
const hidden = (text: string, settings: ReturnType<typeof given>): string => maskOf(settings).hide(text);
const sound = { endpoint: "https://platform.example.com", email: "ada@example.com", password: "horse" };

test("what the configuration has in clear stays readable beside a weak password, and so do the names of roles", () => {
  const settings = given({ endpoint: "https://horse.example.com", email: "horse@example.com", password: "horse" });
  expect(hidden("horse@example.com at https://horse.example.com with horse: horse@example.org", settings)).toBe(
    "horse@example.com at https://horse.example.com with [secret]: [secret]@example.org",
  );
  const weak = given({ endpoint: "emulator:dev.db", email: "admin@example.com", password: "admin" });
  expect(hidden("0 administrators, and no role admin", weak)).toBe("0 administrators, and no role admin");
});

test.each(["MICROAPPS_APPROVED", "MICROAPPS_APPROVAL_KEY"])(
  "%s is refused, since nothing is held against it any more",
  (name) => {
    expect(() => given(sound, { [name]: "../report.json" })).toThrow(`${name} is gone, and nothing was sent`);
    expect(given(sound, { [name]: "" })).toEqual(sound);
  },
);

test("former names are refused in the environment, and dropped where a state has them", () => {
  expect(() => given(sound, { MICROAPPS_DOOR: "plugin" })).toThrow("set MICROAPPS_PROVIDER_KIND in its place");
  expect(given({ ...sound, door: "plugin" })).toEqual(given(sound));
  const { email: _, password: __, ...place } = sound;
  expect(() => given({ ...place, token: "t-0-k-e-n" })).toThrow("microapps:token needs microapps:userID beside it");
});

test("a user ID of the environment is a credential: it goes to an origin of the environment alone", () => {
  const settings = { endpoint: "https://platform.example.com", token: "t-0-k-e-n", userID: "ada" };
  expect(() => given(settings, { MICROAPPS_USER_ID: "grace" })).toThrow(
    "nothing was sent: MICROAPPS_USER_ID is set in the environment, and the endpoint comes from the stack or its state",
  );
  const renewed = { MICROAPPS_TOKEN: "renewed", MICROAPPS_USER_ID: "ada", MICROAPPS_ENDPOINT: settings.endpoint };
  expect(configure(settings, renewed, true)).toMatchObject({ token: "renewed", userID: "ada" });
  const { MICROAPPS_ENDPOINT: _, ...untrusted } = renewed;
  expect(configure(settings, untrusted, true)).toMatchObject({ token: "t-0-k-e-n", userID: "ada" });
});

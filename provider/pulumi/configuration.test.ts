import { expect, test } from "@jest/globals";
import { configure, withoutSecrets } from "./configuration.ts";

const given = (settings: Readonly<Record<string, string>>) =>
  configure((key) => settings[key.replace("microapps:", "")], {});

test("a text shows no secret, however it is spelled", () => {
  const password = 'horse "battery"/+';
  const settings = given({ endpoint: "https://platform.example.com", email: "ada@example.com", password });
  const spelled = [password, encodeURIComponent(password), JSON.stringify(password), btoa(password)];
  expect(withoutSecrets(spelled.join(" | "), settings)).toBe('[secret] | [secret] | "[secret]" | [secret]');
});

test("what the configuration has in clear stays readable beside a weak password, and so do the names of roles", () => {
  const settings = given({ endpoint: "https://horse.example.com", email: "horse@example.com", password: "horse" });
  expect(withoutSecrets("horse@example.com at https://horse.example.com with horse: horse@example.org", settings)).toBe(
    "horse@example.com at https://horse.example.com with [secret]: [secret]@example.org",
  );
  const weak = given({ endpoint: "emulator:dev.db", email: "admin@example.com", password: "admin" });
  expect(withoutSecrets("0 administrators, and no role admin", weak)).toBe("0 administrators, and no role admin");
});

test("a secret that holds what is in clear is hidden whole", () => {
  const settings = given({ endpoint: "https://x.example.com", email: "ada@example.com", password: "ada@example.com1" });
  expect(withoutSecrets("ada@example.com1 ada@example.com", settings)).toBe("[secret] ada@example.com");
});

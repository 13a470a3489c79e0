import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "../provider/contract/endpoints.ts";
import { documents } from "./documents.ts";

test.each(Object.entries(documents()))("docs/%s is the one of the contract; make docs writes it anew", (name, text) => {
  expect(readFileSync(join(import.meta.dirname, "../../docs", name), "utf8")).toBe(text);
});

test("the page names every endpoint with its path, parameters and errors", () => {
  const page = documents()["endpoints.md"] ?? "";
  for (const [name, { path, method, summary, request }] of Object.entries(endpoints)) {
    const section = page.split(`\n## ${name}\n`)[1]?.split("\n## ")[0] ?? "";
    expect(section).toContain(summary);
    expect(section).toContain(`\`${method} ${path}\``);
    for (const parameter of Object.keys((request as unknown as { shape: object }).shape)) {
      expect(section).toContain(`| \`${parameter}\` |`);
    }
  }
  expect(page).toContain("| `searchFilter[].order` | `1` or `-1` |");
  expect(page).not.toMatch(/undefined|\[object/);
});

import { expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchema } from "./schema.ts";

const published = join(import.meta.dirname, "../../../sdk/environment/environment.schema.json");

test("the published JSON Schema is the one of the definitions (UPDATE_SCHEMA=1 in a test run writes it anew)", () => {
  const text = `${JSON.stringify(jsonSchema(), undefined, 2)}\n`;
  if (process.env["UPDATE_SCHEMA"]) writeFileSync(published, text);
  expect(readFileSync(published, "utf8")).toBe(text);
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator } from "./createEmulator.ts";
import { fieldTypesAt } from "./fieldsAt.ts";

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "microapps-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const endpoint = "emulator:platform.db?seed=platform.yaml";
const write = (text: string): Promise<void> => writeFile(join(folder, "platform.yaml"), text);
const plant = async (): Promise<void> => {
  const data = join(folder, "platform.db");
  await (await createEmulator({ data, seed: join(folder, "platform.yaml"), program: folder })).close();
};

test("fields are the seed's until there is a data file, and the file's from then on", async () => {
  await write("tables: {countries: {id: c1, fields: {Code: text, Area: number}}, empty: {}}");
  expect(fieldTypesAt(endpoint, folder)).toEqual({ c1: { Code: "text", Area: "number" } });
  expect(fieldTypesAt("emulator::memory:?seed=platform.yaml", folder)).toEqual({
    c1: { Code: "text", Area: "number" },
  });
  await plant();
  await write("tables: {countries: {id: c1, fields: {Code: number}}}");
  expect(fieldTypesAt(endpoint, folder)).toEqual({ c1: { Code: "text", Area: "number" } });
});

test("a platform that takes values of other types has none", async () => {
  await write("{settings: {strict: false}, tables: {countries: {fields: {Code: text}}}}");
  expect(fieldTypesAt(endpoint, folder)).toEqual({});
  await plant();
  expect(fieldTypesAt(endpoint, folder)).toEqual({});
});

test("what can't be read tells none: whoever starts the emulator says why", async () => {
  expect(fieldTypesAt(endpoint, folder)).toEqual({});
  await write("tables: [");
  expect(fieldTypesAt(endpoint, folder)).toEqual({});
  await writeFile(join(folder, "platform.db"), "not a database, but some text of another program");
  expect(fieldTypesAt(endpoint, folder)).toEqual({});
});

import { expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../provider/client/client.ts";
import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import { handlerOf } from "../endpoints/handlers.ts";
import { openapi } from "../http/openapi.ts";
import { facts } from "../testing/facts.ts";
import { forms } from "../testing/forms.ts";

const names = Object.keys(endpoints) as EndpointName[];
const known = new Map<string, string>(Object.values(facts).flatMap((section) => Object.entries(section)));

test("no fact is there twice, and each says something of an endpoint", () => {
  expect(known.size).toBe(Object.values(facts).flatMap((section) => Object.keys(section)).length);
  for (const fact of known.keys()) expect(names).toContain(fact.split(/[ :]/)[0]);
});

test("every section of facts is proved", () => {
  for (const section of Object.keys(facts)) {
    expect([section, existsSync(join(import.meta.dirname, `${section}.test.js`))]).toEqual([section, true]);
  }
});

test.each(names)("%s has contract, client method, handler, forms, a place in the document, and facts", (name) => {
  const { path, method, request } = endpoints[name];
  const client = createClient({ endpoint: "http://127.0.0.1:1" });
  expect(typeof client[name]).toBe("function");
  expect(typeof handlerOf(name)).toBe("function");
  const first = forms[name][0].to;
  // Where GET and POST are both documented, contract and table may differ in it.
  expect([`GET ${path}`, `POST ${path}`]).toContain(first);
  expect(openapi("http://here")).toHaveProperty(["paths", path, method.toLowerCase(), "operationId"], name);
  expect(known.has(name)).toBe(true);
  const { shape } = request as unknown as { shape: Record<string, unknown> };
  const unproved = Object.keys(shape).filter((parameter) => !known.has(`${name} ${parameter}`));
  expect(unproved).toEqual([]);
});

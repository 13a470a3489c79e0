import { expect, test } from "@jest/globals";
import { z } from "zod";
import { at, type Json } from "../../platform/contract/wire.ts";
import { openapi } from "./openapi.ts";

test("the document has each method, what is needed of several, and where null is taken", () => {
  const paths = openapi("http://here")["paths"] as Record<string, Record<string, Json>>;
  const methods = (path: string): string[] => Object.keys(paths[path] ?? {}).toSorted();
  expect(methods("/api/userid")).toEqual(["get", "post"]);
  expect(methods("/api/microappchild/list")).toEqual(["get", "post"]);
  expect(methods("/api/login")).toEqual(["post"]);
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  const member = operations.find(({ operationId }) => operationId === "readteammember");
  const request = z.fromJSONSchema(at(member, "requestBody.content.application/json.schema") as Json);
  const allows = (value: unknown): boolean => request.safeParse(value).success;
  expect(allows({ teamID: "crew", userID: "ada" })).toBe(true);
  expect(allows({ teamMemberID: "one", teamID: null })).toBe(true);
  expect(allows({ teamID: "crew", userID: null })).toBe(false);
  expect(allows({})).toBe(false);
});

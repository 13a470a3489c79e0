import { z } from "zod";
import { endpoints } from "../../../provider/contract/endpoints.ts";
import { fieldTypes } from "../../../provider/contract/fields.ts";
import { allMembers } from "../../../provider/contract/teams.ts";
import { systemLabels } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";

/** Words of a schema: names of its parts, and the values that it lists. */
function* wordsOf(schema: unknown): Generator<string> {
  if (Array.isArray(schema)) for (const part of schema) yield* wordsOf(part);
  if (!isObject(schema)) return;
  const { properties, enum: listed, const: only } = schema;
  if (isObject(properties)) yield* Object.keys(properties);
  for (const word of [listed ?? [], only ?? []].flat()) if (typeof word === "string") yield word;
  for (const inner of Object.values(schema)) yield* wordsOf(inner);
}

const asJson = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });

/**
 * Words of the interface and of the files that are written. They occur in every file, so a password that equals one of
 * them can't be found by searching.
 */
export const vocabulary: ReadonlySet<string> = new Set([
  ...Object.entries(endpoints).flatMap(([name, { request, answer, path }]) => [
    ...[name, path.replace("/api/", "")],
    ...[...wordsOf(asJson(request)), ...wordsOf(asJson(answer))],
  ]),
  ...[...fieldTypes, ...systemLabels, allMembers],
  ..."success failure error status message result body data currentRow childItem teamMember".split(" "),
  ..."administrator users tables organizations settings fields rows teams members apiKey parent creator values".split(
    " ",
  ),
  ..."submitted strict false true type sort table field name version facts rule evidence kind place recorded".split(
    " ",
  ),
  ..."steps call with answer refused keep volatile admin member other nobody answers documented recording".split(" "),
]);

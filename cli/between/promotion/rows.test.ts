import { expect, test } from "@jest/globals";
import type { SeedDeclaration } from "../../../provider/environment/schema.ts";
import type { Cells } from "../../../provider/reconcile/digests.ts";
import type { Declared } from "../../report/source.ts";
import { ChangedRows, type SeedOfSide } from "./rows.ts";

const sideOf = (side: string, all: Readonly<Record<string, Cells>>): SeedOfSide => ({
  declared: { folder: "." } as Declared,
  seed: {
    table: "t",
    key: ["code"],
    rows: Object.entries(all).map(([code, more]) => ({ code, ...more })),
  } as Partial<SeedDeclaration> as SeedDeclaration,
  side,
});

test("a second row of one key is refused on each side, with its place", async () => {
  const twins = sideOf("prod", {});
  twins.seed.rows = [{ code: "a" }, { code: "a", area: 1 }];
  const one = sideOf("dev", { a: {}, b: {} });
  const refusal = /^prod: .*a row before this one has the same natural key; change or remove one$/;
  await expect(ChangedRows.of(twins, one, [])).rejects.toThrow(refusal);
  await expect(ChangedRows.of(one, twins, [])).rejects.toThrow(refusal);
  await expect((await ChangedRows.of(undefined, one, [])).merging(twins)).rejects.toThrow(refusal);
});

import { expect, test } from "@jest/globals";
import { dynamic, plugin } from "../harness/kinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";

// That their values are nowhere is in secrets and secretEnvironment.

const fields = { Code: "text", Name: "text", Token: "text" };

test.each([dynamic, plugin])("the $name provider says what is wrong with secret labels", async (providerKind) => {
  const stage = await Stage.set({ tables: { vaults: { fields }, owners: { fields } } }, {}, providerKind);
  const { host } = stage;
  const problems = async (inputs: Properties): Promise<string[]> =>
    (await host.check("SeedRows", { table: "vaults", key: "Code", ...inputs })).problems;
  const rows = [{ Code: "A", Token: "hush-hush", Name: "x" }];
  try {
    expect(await problems({ rows, secretLabels: ["Tokn"] })).toEqual([
      'rows: secretLabels[0]: no row has the label "Tokn"; did you mean "Token"?',
    ]);
    expect(await problems({ rows, secretLabels: ["Token", "Code"] })).toEqual([
      'secretLabels: "Code" is part of the natural key, by which previews and states name rows: leave it out, or set sensitive to hide the rows as a whole',
    ]);
    expect(await problems({ rows: [...rows, ...rows], secretLabels: ["Token"] })).toEqual([
      'rows: rows[1]: the natural key "A" is at rows[0] already: remove one of the two, or name more labels in key',
    ]);
    host.resource = "vault";
    expect(await problems({ rows, secretLabels: ["Token"] })).toEqual([]);
    host.resource = "it";
    const references = { Owner: { table: "vaults", key: "Token" } };
    expect(await problems({ table: "owners", rows: [{ Code: "A", Owner: "hush-hush" }], references })).toEqual([
      'rows: Owner refers to "Token" of SeedRows "vault", where it is secret: add "Owner" to secretLabels here, or refer to another label',
    ]);
    expect(await problems({ key: "Token", rows: [{ Token: "other" }] })).toEqual([
      'rows: "Token" is secret in SeedRows "vault" of the same table, and the natural key here: name rows by another label',
    ]);
  } finally {
    await stage.clear();
  }
});

import { expect, test } from "@jest/globals";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { seedStory } from "./seedStory.ts";

const tables = {
  offices: {
    name: "Offices",
    fields: { City: { type: "text", sort: 1 }, Desks: "number", Kind: "text", Note: "text" },
  },
};
const field = (name: string, type: string, constraints: object = {}) => ({ name, type, constraints });
const schema = {
  fields: [
    field("City", "string", { required: true, unique: true, maxLength: 10 }),
    field("Desks", "integer", { minimum: 1, maximum: 50 }),
    field("Kind", "string", { enum: ["shop", "store"] }),
  ],
  primaryKey: ["City"],
  missingValues: [""],
};
const office = (City: string, more: object = {}) => ({ City, Desks: 3, Kind: "shop", ...more });

throughBothKinds({ tables, settings: { strict: false } }, (scene) => {
  const { check, preview, up, make } = seedStory(scene, {
    table: "offices",
    key: "City",
    schema: "schemas/offices.json",
  });
  const write = (content: object | string): void => {
    mkdirSync(join(scene.host.folder, "schemas"), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(scene.host.folder, "schemas/offices.json"), text);
  };

  test("rows that do not fit are named by row, label and rule, before anything is sent", async () => {
    write(schema);
    const rows = [
      office("Lisbon"),
      office("Porto", { Desks: "few" }),
      office("Faro", { Desks: 2.5, Kind: "shed" }),
      office("Braga", { Desks: 70, Kidn: "shop" }),
      office("Viana do Castelo"),
    ];
    const calls = await scene.calls(async () => {
      const { problems } = await check({ rows });
      expect(problems.join("\n").split("\n")).toEqual([
        'rows: rows[1] "Porto" and 1 more: Desks is "few", and schemas/offices.json takes a whole number',
        'rows[2] "Faro": Kind is "shed", none of enum in schemas/offices.json: "shop", "store"',
        'rows[3]: schemas/offices.json has no field "Kidn"; did you mean "Kind"?',
        'rows[3] "Braga": Desks is 70, and schemas/offices.json takes at most 50',
        'rows[4] "Viana do Castelo": City is "Viana do Castelo", and schemas/offices.json takes a length of at most 10',
      ]);
    });
    expect(calls).toEqual([]);
    const secret = await check({ rows, secretLabels: ["Kind", "Desks"] });
    for (const value of ["shed", "few"]) expect(secret.problems.join()).not.toContain(value);
  });

  test("a CSV gets the advice that makes it fit, and a schema that changes is held against an unchanged file", async () => {
    write(schema);
    writeFileSync(join(scene.host.folder, "offices.csv"), "City,Desks\nLisbon,3\n");
    const { problems } = await check({ source: "offices.csv" });
    expect(problems).toEqual([
      expect.stringContaining(
        'offices.csv:2 "Lisbon": Desks is "3", and schemas/offices.json takes a whole number, with types: {Desks: number}',
      ),
    ]);
    const sound = { source: "offices.csv", types: { Desks: "number" } };
    const made = await make(sound);
    expect(await preview(made, sound)).toMatchObject({ changes: false });
    write({ fields: [field("City", "string"), field("Desks", "integer", { minimum: 5 })] });
    const now = await check(sound, made.inputs);
    expect(now.problems).toEqual([expect.stringContaining("Desks is 3, and schemas/offices.json takes at least 5")]);
  });

  test("a table that no longer fits is drift of its own: seen by a refresh, shown, and no run waits for it", async () => {
    write(schema);
    const rows = [office("Lisbon")];
    const made = await make({ rows });
    await scene.client.insertmicroapprows({
      microAppID: "offices",
      rows: [
        { City: "Porto", Desks: "few", Note: "of others" },
        { City: "Faro", Desks: 4 },
      ],
    });
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs["misfits"]).toEqual([
      'label "Note": no field of schemas/offices.json, and in 1 row: "Porto"',
      'label "Desks": schemas/offices.json takes a whole number, and 1 row has another value: "Porto" ("few")',
    ]);
    expect(seen.outputs).not.toHaveProperty("drift");
    const known = { ...made, outputs: seen.outputs };
    const { changes, told } = await preview(known, { rows });
    expect(changes).toBe(false);
    expect(told.join("\n")).toContain("as of the last look table offices no longer fits schemas/offices.json:\nlabel");
    const next = await up(known, { rows: [...rows, office("Evora")] });
    write({ fields: [...schema.fields, field("Note", "string"), field("Floor", "any", { required: true })] });
    const again = await scene.host.read("SeedRows", next.id, next.outputs);
    expect(again.outputs["misfits"]).toEqual([
      'label "Floor": in no row, and required in schemas/offices.json',
      expect.stringContaining('label "Desks":'),
    ]);
  });

  test("a type that a schema narrows refuses declared rows, and is drift of those that others have", async () => {
    write({ fields: [field("City", "string"), field("Desks", "number"), field("Kind", "string")] });
    const rows = [office("Lisbon")];
    const made = await make({ rows });
    await scene.client.insertmicroapprows({
      microAppID: "offices",
      rows: [{ City: "Porto", Desks: 2.5, Kind: "kiosk" }],
    });
    const sound = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(sound.outputs).not.toHaveProperty("misfits");

    write({
      fields: [field("City", "string"), field("Desks", "integer"), field("Kind", "string", { enum: ["shop"] })],
    });
    const wrong = await check({ rows: [office("Lisbon", { Desks: 3.5, Kind: "store" })] }, made.inputs);
    expect(wrong.problems.join("\n").split("\n")).toEqual([
      expect.stringContaining("Desks is 3.5, and schemas/offices.json takes a whole number"),
      expect.stringContaining('Kind is "store", none of enum in schemas/offices.json: "shop"'),
    ]);
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs["misfits"]).toEqual([
      'label "Desks": schemas/offices.json takes a whole number, and 1 row has another value: "Porto" (2.5)',
      expect.stringContaining('"Porto" ("kiosk")'),
    ]);
    // Wide again: the table fits, and nothing is left of it.
    write({ fields: [field("City", "string"), field("Desks", "number"), field("Kind", "string")] });
    const again = await scene.host.read("SeedRows", made.id, seen.outputs);
    expect(again.outputs).not.toHaveProperty("misfits");
    expect(await preview({ ...made, outputs: again.outputs }, { rows })).toMatchObject({ changes: false, told: [] });
  });

  test("a file that is no schema, holds other constraints, or is gone, is named", async () => {
    const rows = [office("Lisbon")];
    const cases: [object | string | undefined, string][] = [
      [undefined, "schemas/offices.json can't be read: there is no such file"],
      ["{", "schemas/offices.json: is no JSON"],
      [{ fields: [] }, "schemas/offices.json: fields "],
      [{ fields: [{ name: "City", type: "txt" }] }, "fields[0].type must be"],
      [{ fields: [field("City", "string", { pattern: "a+" })] }, 'fields[0].constraints has no "pattern"'],
      [{ fields: [field("City", "string"), field("City", "string")] }, 'the field "City" stands twice'],
    ];
    for (const [content, sentence] of cases) {
      rmSync(join(scene.host.folder, "schemas"), { recursive: true, force: true });
      if (content !== undefined) write(content);
      expect((await check({ rows })).problems).toEqual([expect.stringContaining(sentence)]);
    }
    write(schema);
    const made = await make({ rows });
    rmSync(join(scene.host.folder, "schemas"), { recursive: true });
    scene.host.told.length = 0;
    await scene.host.read("SeedRows", made.id, made.outputs);
    expect(scene.host.told.join()).toContain(
      "table offices was not held against its schema: schemas/offices.json can't be read",
    );
  });

  test("links of the schema that the seed has otherwise are named", async () => {
    write({
      fields: [field("City", "string"), field("Kind", "string")],
      foreignKeys: [{ fields: ["Kind"], reference: { resource: "kinds", fields: ["Code"] } }],
    });
    const rows = [{ City: "Lisbon", Kind: "shop" }];
    expect((await check({ rows })).problems).toEqual([
      'rows: Kind links to "Code" of table kinds in schemas/offices.json: name it in references',
    ]);
    const other = { rows, references: { Kind: { table: "sorts", key: "Code" } } };
    expect((await check(other)).problems).toEqual([
      'rows: references.Kind is "Code" of table sorts, and "Code" of table kinds in schemas/offices.json: correct one of the two',
    ]);
    expect((await check({ rows, references: { Kind: { table: "kinds", key: "Code" } } })).problems).toEqual([]);
  });
});

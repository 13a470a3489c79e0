import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { fileServer } from "../harness/fileServer.ts";
import { repository } from "../harness/project.ts";

const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 } } },
  countries: {
    name: "Countries",
    fields: {
      Code: { type: "text", sort: 1 },
      Number: "number",
      Continent: { type: "linked", table: "continents", field: "Code" },
      Flag: { type: "file", id: "flag" },
      Map: { type: "file", id: "map" },
    },
  },
};

let files: Awaited<ReturnType<typeof fileServer>>;
beforeAll(async () => void (files = await fileServer()));
afterAll(() => files.close());

const seed = () => ({ tables, settings: { allowedHosts: [files.host] } });

throughBothKinds(seed, (scene) => {
  let rowID = "";
  beforeEach(async () => {
    const { client } = scene;
    const continent = await client.insertmicroapprow({ microAppID: "continents", rowData: { Code: "EU" } });
    const Continent = { crossAppRowID: continent.rowID, value: { label: "Code", value: "EU" } };
    const rowData = { Code: "CZ", Number: 7, Continent };
    ({ rowID } = await client.insertmicroapprow({ microAppID: "countries", rowData }));
  });

  const live = async (fieldID = "flag") => (await scene.client.microappchildList({ appID: rowID, fieldID })).childItems;
  const place = { table: "countries", row: { Code: "CZ" }, fieldID: "flag" };

  test("RowFile: a record whose answer was lost stays ours when nobody can look for it then", async () => {
    scene.emulator.setFaults({
      faults: [
        { endpoint: "microappchildCreate", kind: "reset", commit: true, count: 1 },
        { endpoint: "microappchildList", kind: "status", status: 403, after: 1 },
      ],
    });
    const news = { ...place, filename: "flag.png", type: "image/png" };
    await expect(scene.create("RowFile", news)).rejects.toThrow("microappchildCreate");
    scene.emulator.setFaults();
    const made = await scene.create("RowFile", news);
    expect((await live()).map(({ _id }) => _id)).toEqual([made.outputs["childID"]]);
  });

  test("RowFile: metadata alone, and an address that is not stored", async () => {
    const { host } = scene;
    const plain = await scene.create("RowFile", { ...place, filename: "cz.txt" });
    expect((await live())[0]?.content).toEqual({ filename: "cz.txt" });
    const linked = { ...plain.inputs, url: "https://files.example/cz.txt?v=1", store: false };
    expect(
      await scene.calls(async () => {
        const outputs = await host.update("RowFile", plain.id, plain.outputs, linked);
        expect((await host.read("RowFile", plain.id, outputs)).outputs).toEqual(outputs);
        expect(await host.diff("RowFile", plain.id, outputs, linked)).toMatchObject({ changes: false });
      }),
    ).toEqual(["microappchildUpdate"]);
    expect((await live())[0]?.content).toEqual({ filename: "cz.txt", url: "https://files.example/cz.txt?v=1" });
  });

  test("RowFile: the row is found by label, number, linked value or ID; where there is none or more, that is told", async () => {
    for (const [index, row] of [{ Code: "CZ" }, { Number: 7 }, { Continent: "EU", Code: "CZ" }].entries()) {
      const made = await scene.create("RowFile", { ...place, row, filename: `${index}.txt` });
      expect(made.outputs).toMatchObject({ parentRowID: rowID });
    }
    await scene.create("RowFile", { table: "countries", rowID, fieldID: "map", filename: "map.txt" });
    expect(await live("map")).toHaveLength(1);
    await expect(scene.create("RowFile", { ...place, row: { Code: "XX" }, filename: "x" })).rejects.toThrow(
      'table countries has no row with Code = "XX". Declare the RowFile after the rows',
    );
    await scene.client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "CZ" } });
    await expect(scene.create("RowFile", { ...place, filename: "x" })).rejects.toThrow("has 2 rows with");
  });

  test("RowFile: an import reads everything, by row ID or by key", async () => {
    const { host, client } = scene;
    const content = { url: "https://files.example/cz.png", filename: "cz.png", size: 5, type: "image/png" };
    const request = { microAppResourceID: "countries", appID: rowID, fieldID: "flag", content };
    const { childID } = await client.microappchildCreate(request);
    const id = `countries/${rowID}/flag/${childID}`;
    const seen = await host.import("RowFile", id);
    const inputs = { table: "countries", rowID, fieldID: "flag", store: false, ...content };
    expect(seen).toMatchObject({ id, inputs });
    const checked = await host.check("RowFile", inputs);
    expect(await host.diff("RowFile", id, seen.outputs, checked.inputs)).toMatchObject({ changes: false });
    const byKey = await host.import("RowFile", `countries/Code=CZ/flag/${childID}`);
    expect(byKey).toMatchObject({ id, inputs: { row: { Code: "CZ" } } });
    await expect(host.import("RowFile", rowID)).rejects.toThrow("which has the form <table>/<rowID or Label=value>");
  });

  test("RowFile: a file of others is not taken over unless it is told to", async () => {
    const content = { filename: "cz.png", size: 1 };
    const request = { microAppResourceID: "countries", appID: rowID, fieldID: "flag", content };
    await scene.client.microappchildCreate(request);
    const news = { ...place, url: `${files.url}/cz.png` };
    const sent = await scene.calls(() =>
      expect(scene.create("RowFile", news)).rejects.toThrow(
        'has a file called "cz.png" on field flag already. Set adopt: true',
      ),
    );
    expect(sent).toEqual([]);
    await scene.create("RowFile", { ...news, adopt: true });
    expect(await live()).toHaveLength(1);
    // One that is exactly as declared is ours already.
    await scene.create("RowFile", { ...place, fieldID: "map", filename: "map.txt" });
    expect(await scene.calls(() => scene.create("RowFile", { ...place, fieldID: "map", filename: "map.txt" }))).toEqual(
      [],
    );
  });

  test("RowFile: the example of its page works on an emulator whose seed names the field as the page does", async () => {
    const page = readFileSync(join(repository, "docs/resources/rowFile.md"), "utf8");
    const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const { properties } = (parse(yaml) as { resources: { flag: { properties: { url: string } } } }).resources.flag;
    expect(parse(/Flag: \{.*?\}/.exec(page)?.[0] ?? "")).toEqual({ Flag: tables.countries.fields.Flag });
    const { rowID: appID } = await scene.client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "PT" } });
    const url = properties.url.replace(new URL(properties.url).origin, files.url);
    await scene.create("RowFile", { ...properties, url });
    const { childItems } = await scene.client.microappchildList({ appID, fieldID: "flag" });
    expect(childItems.map(({ content }) => content)).toEqual([expect.objectContaining({ filename: "pt.svg" })]);
    const labelled = scene.create("RowFile", { ...properties, url, fieldID: "Flag" });
    await expect(labelled).rejects.toThrow("Flag is a label; the ID of this field is flag");
  });
});

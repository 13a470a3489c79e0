import * as pulumi from "@pulumi/pulumi";
import { RowFile, SeedRows, type ParentRows, type RowFileArgs, type RowsOf, type SeedRowsArgs } from "pulumi-microapps";

interface Country {
  Code: string;
  People?: number | null;
}
const output = pulumi.output("text");
const code = { table: "countries", key: "Code" } as const;

export function trySeedRows(): void {
  const args: SeedRowsArgs = { ...code, rows: [{ Code: "NO", Name: output }], mode: "upsert", sensitive: true };
  const countries = new SeedRows("countries", args);
  const key: pulumi.Output<string[]> = countries.key;
  void [key, countries.rowCount];
  new SeedRows("rooms", { table: "rooms", key: ["City", output], source: "r.csv", types: { Floor: "number" } });
  new SeedRows("rooms", { ...code, source: output, mode: "exact", maxRemovals: 0.5, onDestroy: "retain" });
  new SeedRows("rooms", { ...code, source: "r.csv", expect: { rowCount: { min: 1 }, notNull: ["City"] } });
  // @ts-expect-error: is not assignable to parameter of type 'SeedRowsArgs<
  new SeedRows("rooms", code);
  // @ts-expect-error: is not assignable to parameter of type 'SeedRowsArgs<
  new SeedRows("rooms", { ...code, source: "r.csv", rows: [] });
  // @ts-expect-error: Property 'key' is missing
  new SeedRows("rooms", { table: "rooms", source: "r.csv" });
  // @ts-expect-error: 'sorce' does not exist in type 'SeedRowsArgs<
  new SeedRows("rooms", { ...code, sorce: "r.csv" });
  // @ts-expect-error: '"exakt"' is not assignable
  new SeedRows("rooms", { ...code, source: "r.csv", mode: "exakt" });
  // @ts-expect-error: '"integer"' is not assignable
  new SeedRows("rooms", { ...code, source: "r.csv", types: { Floor: "integer" } });
  // @ts-expect-error: 'maximum' does not exist in type
  new SeedRows("rooms", { ...code, source: "r.csv", expect: { rowCount: { maximum: 1 } } });
  // @ts-expect-error: Property 'salt' does not exist on type 'SeedRows<Record<string, unknown>>'
  void countries.salt;
}

export function tryTypedRows(): void {
  const args: SeedRowsArgs<Country> = { ...code, rows: [{ Code: "PT", People: pulumi.output(10) }] };
  new SeedRows<Country>("countries", args);
  new SeedRows<Country>("countries", { ...code, rows: [{ Code: output, People: null }], changes: [{ People: 1 }] });
  // @ts-expect-error: 'Pepole' does not exist in type
  new SeedRows<Country>("countries", { ...code, rows: [{ Code: "PT", Pepole: 10 }] });
  // @ts-expect-error: Type 'string' is not assignable to type 'Input<number | null | undefined>'
  new SeedRows<Country>("countries", { ...code, rows: [{ Code: "PT", People: "10" }] });
  // @ts-expect-error: Property 'Code' is missing
  new SeedRows<Country>("countries", { ...code, rows: [{ People: 10 }] });
  // @ts-expect-error: '"Cdoe"' is not assignable
  new SeedRows<Country>("countries", { table: "countries", key: "Cdoe", source: "r.csv" });
  // @ts-expect-error: Type 'true' is not assignable
  new SeedRows<Country>("countries", { ...code, source: "r.csv", changes: [{ Code: "PT", People: true }] });
}

export function tryLinks(): void {
  const countries = new SeedRows("countries", { ...code, source: "countries.csv" });
  const bySeed: RowsOf = countries;
  const byTable: RowsOf = { table: output, key: "Code" };
  const rooms: ParentRows = { rows: bySeed, by: "Country" };
  const others: ParentRows = { table: "countries", key: "Code", by: output };
  new SeedRows("rooms", { ...code, source: "rooms.csv", references: { Country: byTable }, parent: rooms });
  new SeedRows("rooms", { ...code, source: "rooms.csv", references: { Country: countries }, parent: others });
  // @ts-expect-error: Property 'key' is missing
  const noKey: RowsOf = { table: "countries" };
  // @ts-expect-error: Type 'string' is not assignable to type 'RowsOf'
  const byName: RowsOf = "countries";
  // @ts-expect-error: Property 'by' is missing
  const noColumn: ParentRows = { rows: countries };
  void [noKey, byName, noColumn];
  // @ts-expect-error: : table, key
  new SeedRows("rooms", { ...code, source: "rooms.csv", parent: { by: "Country" } });
}

export function tryRowFile(): void {
  const args: RowFileArgs = { table: "countries", row: { Code: "PT", Year: 2 }, fieldID: "flag", url: output };
  const flag = new RowFile("flag", args, { dependsOn: [] });
  const storedAt: pulumi.Output<string | undefined> = flag.storedAt;
  void [storedAt, flag.id];
  new RowFile("flag", { table: "countries", rowID: output, fieldID: "flag", store: false, size: 10 });
  // @ts-expect-error: but required in type 'RowFileArgs'
  new RowFile("flag", { table: "countries", rowID: "r1" });
  // @ts-expect-error: Type 'null' is not assignable
  new RowFile("flag", { table: "countries", row: { Code: null }, fieldID: "flag" });
  // @ts-expect-error: 'fileKey' does not exist in type 'RowFileArgs'
  new RowFile("flag", { table: "countries", rowID: "r1", fieldID: "flag", fileKey: "k1" });
}

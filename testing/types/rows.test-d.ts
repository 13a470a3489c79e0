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
  //                    ^? new SeedRows<Record<string, unknown>>(name: string, args: SeedRowsArgs<Record<string,
  // unknown>>, options?: pulumi.CustomResourceOptions): SeedRows<Record<string, unknown>> Rows of a data table from a
  // file or from the program: inserted, updated and removed as the source has them. `SeedRows<Country>` takes the
  // rows of a type, such as `microapps table schema` writes: a wrong cell does not compile.
  const key: pulumi.Output<string[]> = countries.key;
  //                                             ^? (property) SeedRowsOutputs.key: pulumi.Output<string[]> Label or
  // labels that tell one row from another: the natural key. Another one gives the same rows another key; they keep
  // their IDs.
  void [key, countries.rowCount];
  //                   ^| additions adopt changes drift expect getProvider id ignoreActionRules ignoreLabels key
  // labels maxRemovals mode onConflict onDestroy onViewersChange parent references removals renewals rowCount
  // rows secretLabels sensitive source table teamViewers types unmet urn userID viewerIDs viewers
  new SeedRows("rooms", { table: "rooms", key: ["City", output], source: "r.csv", types: { Floor: "number" } });
  //                      ^| additions adopt changes expect ignoreActionRules ignoreLabels maxRemovals mode onConflict
  // onDestroy onViewersChange parent references removals rows secretLabels sensitive table teamViewers userID
  // viewers
  new SeedRows("rooms", { ...code, source: output, mode: "exact", maxRemovals: 0.5, onDestroy: "retain" });
  //                                                       ^| exact insertOnly updateOnly upsert
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
  //                                                                    ^| People apply get
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
  // @ts-expect-error: by: Input<string>; }': table, key
  new SeedRows("rooms", { ...code, source: "rooms.csv", parent: { by: "Country" } });
}

export function tryRowFile(): void {
  const args: RowFileArgs = { table: "countries", row: { Code: "PT", Year: 2 }, fieldID: "flag", url: output };
  const flag = new RowFile("flag", args, { dependsOn: [] });
  //               ^? new RowFile(name: string, args: RowFileArgs, options?: pulumi.CustomResourceOptions): RowFile A
  // file or image on a field of a row; the natural key names the row. Declare it with `dependsOn` the row's seed.
  const storedAt: pulumi.Output<string | undefined> = flag.storedAt;
  //                                                       ^?
  // (property) RowFileOutputs.storedAt: pulumi.Output<string | undefined> Where the platform keeps its copy, without
  // the signature that opens it.
  void [storedAt, flag.id];
  //                   ^| adopt childID digest fieldID fileKey filename getProvider id parentRowID row rowID size
  // store storedAt table type url urn
  new RowFile("flag", { table: "countries", rowID: output, fieldID: "flag", store: false, size: 10 });
  //                    ^| adopt digest filename row table type url
  // @ts-expect-error: but required in type 'RowFileArgs'
  new RowFile("flag", { table: "countries", rowID: "r1" });
  // @ts-expect-error: Type 'null' is not assignable
  new RowFile("flag", { table: "countries", row: { Code: null }, fieldID: "flag" });
  // @ts-expect-error: 'fileKey' does not exist in type 'RowFileArgs'
  new RowFile("flag", { table: "countries", rowID: "r1", fieldID: "flag", fileKey: "k1" });
}

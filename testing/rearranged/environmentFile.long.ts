import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { testInLong } from "../harness/drawn.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open("dynamic");
  await scene.project.write(
    "index.js",
    'import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "dev.yaml" });\n',
  );
});
afterAll(async () => expect(await scene.close()).toEqual([]));

const base = `seeds:
  regions: { table: regions, key: Code, source: regions.csv }
  offices:
    table: offices
    key: Code
    references: { Region: { seed: regions } }
    rows: [{ Code: N, Region: N }, { Code: E, Region: E }]
`;
const overlay = `extends: base.yaml
seeds:
  offices: { onConflict: keepLive }
`;

const ids = async (): Promise<unknown[]> =>
  [...(await scene.rows("regions")), ...(await scene.rows("offices"))].map(([code, { id, link }]) => [code, id, link]);

beforeEach(async () => {
  await scene.begin();
  await scene.project.write("regions.csv", "Code,Name\nN,North\nE,East\nS,South\n");
  await scene.project.write("base.yaml", base);
  await scene.project.write("dev.yaml", overlay);
  await scene.project.succeed("up --yes --skip-preview");
});

/** Brings files up: all rows keep their IDs, none is removed, and nothing is left to do. */
async function broughtUp(files: Readonly<Record<string, string>>): Promise<string> {
  const before = await ids();
  for (const [file, text] of Object.entries(files)) await scene.project.write(file, text);
  let output = "";
  const calls = await scene.calls(async () => (output = await scene.project.succeed("up --yes --skip-preview")));
  expect(calls.map(({ endpoint }) => endpoint)).toEqual([]);
  expect(await ids()).toEqual(before);
  await scene.project.succeed("preview --expect-no-changes");
  await scene.project.succeed("preview --expect-no-changes --refresh");
  return output;
}

test("the key of a seed changes in all layers, or with its former key in one of them, and back again", async () => {
  const output = await broughtUp({
    "base.yaml": base.replace("offices:\n", "branches:\n"),
    "dev.yaml": overlay.replace("offices:", "branches:"),
  });
  for (const name of ["offices", "branches"]) expect(output).toContain(`environment/${name}`);
  await broughtUp({
    "base.yaml": base.replace("offices:\n", "sites:\n    formerly: branches\n"),
    "dev.yaml": overlay.replace("offices: {", "sites: { formerly: [offices],"),
  });
  await broughtUp({ "base.yaml": base, "dev.yaml": overlay });
});

test("the key of a seed that others refer to changes, with its table's key in the same edit", async () => {
  const renamed = base.replace("regions: { table: regions, key: Code", "areas: { table: regions, key: Name");
  await broughtUp({
    "base.yaml": renamed
      .replace("seed: regions", "seed: areas")
      .replace("Region: N", "Region: North")
      .replace("Region: E", "Region: East"),
  });
});

testInLong("rows move between the source, the base and verbs of the overlay, also with the seed's key", async () => {
  const verbs = (key: string, ...more: string[]): string =>
    `extends: base.yaml\nseeds:\n  offices: { onConflict: keepLive }\n  ${key}: { ${["maxRemovals: 1", ...more].join(", ")} }\n`;
  const without = "Code,Name\nN,North\nE,East\n";
  await broughtUp({
    "regions.csv": `${without}X,Ten\n`,
    "base.yaml": base
      .replace("regions:", "areas:\n    formerly: regions\n    rows+: [{ Code: S, Name: Sud }]\n    rows-: [X]\n   ")
      .replace(
        "{ table: regions, key: Code, source: regions.csv }",
        "table: regions\n    key: Code\n    source: regions.csv",
      )
      .replace("seed: regions", "seed: areas"),
    "dev.yaml": verbs("areas", "rows~: [{ Code: S, Name: South }]"),
  });
  await broughtUp({ "regions.csv": `${without}S,South\n`, "base.yaml": base, "dev.yaml": overlay });
});

testInLong("a verb that comes does what it says and nothing else, and is undone when it goes", async () => {
  const before = await ids();
  const edited = overlay.replace("offices: {", 'offices: { rows+: [{ Code: W, Region: S }], rows-: ["E"],');
  await scene.project.write("dev.yaml", edited.replace("keepLive", "keepLive, maxRemovals: 1"));
  const calls = await scene.calls(() => scene.project.succeed("up --yes --skip-preview"));
  expect(calls.map(({ endpoint }) => endpoint).toSorted()).toEqual(["insertmicroapprows", "removemicroapprow"]);
  expect([...(await scene.rows("offices")).keys()].toSorted()).toEqual(["N", "W", "theirs"]);
  await scene.project.succeed("preview --expect-no-changes");
  await scene.project.write("dev.yaml", overlay.replace("keepLive", "keepLive, maxRemovals: 1"));
  await scene.project.succeed("up --yes --skip-preview");
  const codes = (list: unknown[]) => list.map((one) => (one as unknown[])[0]).toSorted();
  expect(codes(await ids())).toEqual(codes(before));
});

import { describe, expect, test } from "@jest/globals";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Change, Section } from "../report/changeSet.ts";
import { assertCommitted } from "../report/trees.ts";
import { writeFiles } from "./editor/writing.ts";
import { codes, files } from "./testing/pulledFiles.ts";
import { PullStage, refusals } from "./testing/pullStage.ts";

const stage = PullStage.begin();

describe("where a change goes", () => {
  test("a file that this environment alone has is changed where the value stands; line ends and quotes stay", async () => {
    await stage.editRow("own", "C3", { Name: "by hand" });
    await stage.removeRow("own", "C4");
    const pulled = await stage.pull();
    expect(pulled.items.map(({ thing, change }) => `${change.op} ${thing}/${change.name}`).sort()).toEqual([
      "change own/C3",
      "remove own/C4",
    ]);
    await stage.write(pulled);
    expect(stage.text("own.csv")).toBe(
      files["own.csv"].replace('"Name, C3"', '"by hand"').replace('C4,"Name, C4",4\r\n', ""),
    );
    expect(stage.diff()).toHaveLength(3);
    await stage.expectApplied();
  });

  test("what others have as well is overridden in the environment's own file", async () => {
    await stage.editRow("shared", "C3", { Name: "by hand", Size: 33 });
    await stage.editRow("shared", "C1", { Name: "again" });
    await stage.removeRow("shared", "C4");
    await stage.editRow("shared", "X1", { Size: 8 });
    await stage.editRow("inline", "A", { Name: "Oh" });
    await stage.client.updateteam({ teamID: stage.idOf("acme/crew"), teamInfo: { name: "Crew by hand" } });
    await stage.write(await stage.pull());
    expect(stage.diff()).toEqual([
      "-      crew: { members: { eve@example.com: member } }",
      "+      crew: { members: { eve@example.com: member }, name: Crew by hand }",
      '-      - { Code: C1, Name: "of dev" } # an override',
      '+      - { Code: C1, Name: "again" } # an override',
      "+      - { Code: C3, Name: by hand, Size: 33 }",
      "-      - { Code: X1, Name: added, Size: 7 }",
      "+      - { Code: X1, Name: added, Size: 8 }",
      "+    rows-:",
      "+      - C4",
      "+  inline:",
      "+    rows~:",
      "+      - Code: A",
      "+        Name: Oh",
    ]);
    await stage.expectApplied();
  });

  test("people: a role, one who left, one who came to a roster", async () => {
    await stage.client.updateteammember({ teamID: stage.idOf("acme/crew"), userID: "bob@example.com", role: "admin" });
    await stage.client.deleteteammember({ teamID: stage.idOf("acme/crew"), userID: "ada@example.com" });
    await stage.client.deleteteammember({ teamID: stage.idOf("acme/crew"), userID: "eve@example.com" });
    await stage.client.insertteammembers({ teamIDs: [stage.idOf("acme/ops")], emails: ["kay@example.com"] });
    const pulled = await stage.pull();
    expect(refusals(pulled)).toEqual([]);
    await stage.write(pulled);
    expect(stage.declared().declaration.organizations["acme"]?.teams).toMatchObject({
      crew: { members: { "bob@example.com": "admin" } },
      ops: { roster: { members: { "kay@example.com": "member" } } },
    });
    expect(stage.text("base.yaml")).toBe(files["base.yaml"]);
    expect(stage.text("dev.yaml")).toContain("ada@example.com: null");
    await stage.expectApplied();
  });

  test("people of a file: each is a row of it, and who left has none", async () => {
    const teamID = stage.idOf("acme/desk");
    await stage.client.updateteammember({ teamID, userID: "bob@example.com", role: "admin" });
    await stage.client.deleteteammember({ teamID, userID: "ada@example.com" });
    await stage.client.insertteammembers({ teamIDs: [teamID], emails: ["eve@example.com", "my.bot@example.com"] });
    expect(refusals(await stage.pull({ foreign: true, into: "base.yaml" }))).toEqual(
      Array.from({ length: 3 }, () => expect.stringMatching(/stand in desk.csv, and --into names another file/)),
    );
    const pulled = await stage.pull({ foreign: true });
    expect(refusals(pulled)).toEqual([]);
    await stage.write(pulled);
    expect(stage.diff()).toEqual([
      "-Ada@example.com , admin,desk\r",
      "-bob@example.com,,desk\r",
      "+bob@example.com,admin,desk\r",
      "+eve@example.com,member,desk\r",
    ]);
    await stage.expectApplied();
  });

  test("--foreign takes people whom nobody declares, as members or into the roster", async () => {
    await stage.client.insertteammembers({
      teamIDs: [stage.idOf("acme/crew"), stage.idOf("acme/ops")],
      emails: ["kay@example.com"],
    });
    await stage.client.updateteammember({ teamID: stage.idOf("acme/crew"), userID: "kay@example.com", role: "admin" });
    expect((await stage.pull()).items.map(({ thing }) => thing)).toEqual(["acme/ops"]); // its roster has all
    const pulled = await stage.pull({ foreign: true });
    expect(pulled.items.map(({ thing, change }) => `${change.op} ${thing}/${change.name}`)).toEqual([
      "add acme/ops/kay@example.com",
      "add acme/crew/kay@example.com",
    ]);
    await stage.write(pulled);
    expect(stage.declared().declaration.organizations["acme"]?.teams).toMatchObject({
      crew: { members: { "kay@example.com": "admin" } },
      ops: { roster: { members: { "kay@example.com": "member" } } },
    });
    await stage.expectApplied();
  });

  test("--into takes settings, roles and removals, and leaves those that a file above it overrides", async () => {
    const crew = stage.idOf("acme/crew");
    await stage.client.updateteam({ teamID: crew, teamInfo: { name: "Crew by hand" } });
    await stage.client.updateorganization({
      organizationID: stage.idOf("acme"),
      organizationInfo: { description: "by hand" },
    });
    for (const userID of ["bob@example.com", "eve@example.com"])
      await stage.client.updateteammember({ teamID: crew, userID, role: "admin" });
    await stage.client.deleteteammember({ teamID: crew, userID: "ada@example.com" });
    const pulled = await stage.pull({ into: "base.yaml" });
    expect(refusals(pulled)).toEqual(["dev.yaml overrides what base.yaml says of it: leave --into base.yaml out"]);
    await stage.write(pulled);
    expect(stage.diff()).toEqual([
      "-    description: one # of all",
      "+    description: by hand # of all",
      "-        name: Crew",
      "+        name: Crew by hand",
      "-          ada@example.com: admin # she began it",
      "-          bob@example.com: member",
      "+          bob@example.com: admin",
    ]);
  });

  test("--into decides otherwise, leaves what a file above it overrides, and names what nobody extends", async () => {
    await expect(stage.pull({ into: "prod.yaml" })).rejects.toThrow("the environment does not extend it");
    for (const code of ["C1", "C2", "X1"]) await stage.editRow("shared", code, { Name: "by hand" });
    await stage.editRow("own", "C3", { Name: "by hand" });
    const pulled = await stage.pull({ into: "base.yaml" });
    const overridden = "dev.yaml overrides what base.yaml says of it: leave --into base.yaml out";
    expect(pulled.items.map(({ change, refused }) => [change.name, refused]).sort()).toEqual([
      ["C1", overridden],
      ["C2", undefined],
      ["C3", undefined],
      ["X1", overridden],
    ]);
    await stage.write(pulled);
    expect(stage.text("dev.yaml")).toBe(files["dev.yaml"]);
    expect(stage.text("own.csv")).toBe(files["own.csv"]);
    expect(stage.text("base.yaml")).toContain("Code: C2, Name: by hand");
  });

  test("--foreign takes rows that nobody owns", async () => {
    await stage.client.insertmicroapprow({ microAppID: "own", rowData: { Code: "F1", Name: "theirs", Size: 5 } });
    expect((await stage.pull()).items).toEqual([]);
    await stage.write(await stage.pull({ foreign: true }));
    expect(stage.diff()).toEqual(["+F1,theirs,5\r"]);
  });
});

test("cells are compared whole and in any spelling of their type, in drift as in what is taken", async () => {
  const long = (end: string): string => `${"a word and ".repeat(8)}${end}`;
  await stage.editRow("own", "C3", { Name: long("one") });
  await stage.editRow("own", "C4", { Name: long("one") });
  await stage.write(await stage.pull());
  await stage.expectApplied();
  stage.emulator.setFaults({ faults: [{ kind: "otherForms", forms: ["numberAsText"] }] });
  await stage.editRow("own", "C3", { Name: long("two") });
  await stage.editRow("own", "C4", { Size: 44 });
  await stage.editRow("own", "C5", { Name: "" });
  await stage.editRow("own", "C6", { Name: "no text\0" });
  const pulled = await stage.pull();
  stage.emulator.setFaults();
  const named = (changes: readonly Change[]) =>
    changes.map(({ name, fields }) => [name, fields.map((one) => one.name)]).sort();
  const expected = ["C3", "C4", "C5", "C6"].map((key) => [key, [key === "C4" ? "Size" : "Name"]]);
  expect(named(pulled.look.section.things.find(({ name }) => name === "own")?.changes ?? [])).toEqual(expected);
  expect(named(pulled.items.filter(({ thing }) => thing === "own").map(({ change }) => change))).toEqual(expected);
  expect(JSON.stringify(pulled.look.section)).toContain("two");
  expect(refusals(pulled)).toEqual([expect.stringContaining("a character that no CSV can")]);
  await stage.editRow("own", "C6", { Name: "Name, C6" });
  await stage.write(pulled);
  expect(stage.diff().filter((line) => line.startsWith("+"))).toEqual([
    `+C3,"${long("two")}",3\r`,
    `+C4,"${long("one")}",44\r`,
    '+C5,"",5\r',
  ]);
  await stage.expectApplied();
});

test("a file that another environment has as well is left, item by item, and the rest is taken", async () => {
  await stage.editRow("own", "C3", { Name: "by hand" });
  await stage.editRow("inline", "A", { Name: "Oh" });
  stage.repository.write({ "twin.yaml": "extends: dev.yaml\nseeds: { own: { source: prod.csv } }\n" });
  const entries = ["dev", "twin", "prod"].map((name) => ({ name, file: `${name}.yaml` }));
  const pulled = await stage.pull({ entries });
  expect(pulled.items.map(({ change, refused }) => [change.name, refused]).sort()).toEqual([
    ["A", "dev.yaml is the file of twin as well: give dev a file of its own that extends it"],
    ["C3", undefined],
  ]);
  expect(pulled.files.map(({ file }) => file)).toEqual(["own.csv"]);
});

describe("what went wrong elsewhere", () => {
  test("a place that is not found leaves the file whole", async () => {
    await stage.editRow("own", "C3", { Name: "by hand" });
    stage.repository.write({ "own.csv": files["own.csv"].replace('C3,"Name, C3",3\r\n', "") });
    const before = stage.text("own.csv");
    const pulled = await stage.pull();
    expect(refusals(pulled)).toEqual([expect.stringContaining("do not declare this row any more")]);
    expect(pulled.files).toEqual([]);
    expect(stage.text("own.csv")).toBe(before);
  });

  test("drift that is left out is named with the reason", async () => {
    await stage.editRow("own", "C3", { Name: "by hand" });
    const waiting: Section = {
      compared: true,
      things: [
        {
          ...{ kind: "seed", name: "own", op: "change", omitted: 0, notes: [], guards: [] },
          rows: { add: 0, change: 1, remove: 0, same: 11 },
          changes: [{ kind: "row", op: "change", name: "C3", fields: [] }],
        },
      ],
    };
    expect(refusals(await stage.pull({ waiting }))).toEqual([expect.stringContaining("not applied")]);
    expect(refusals(await stage.pull({ waiting: { compared: false, things: [] } }))).toHaveLength(1);
  });

  test("a kill between two files: the next pull takes what is left, and nothing twice", async () => {
    await stage.editRow("own", "C3", { Name: "by hand" });
    await stage.editRow("inline", "A", { Name: "Oh" });
    const { files: edited } = await stage.pull();
    expect(edited.map(({ file }) => file)).toEqual(["own.csv", "dev.yaml"]);
    await writeFiles(stage.repository.folder, edited.slice(0, 1));
    stage.repository.write({ ".dev.yaml.microapps.tmp": "half" });
    await expect(assertCommitted(stage.repository.folder, ["own.csv", "dev.yaml"])).rejects.toThrow(
      "own.csv is not committed: commit first, or go on with --dirty",
    );
    const rest = await stage.pull();
    expect(rest.items.map(({ thing, change }) => `${thing}/${change.name}`)).toEqual(["inline/A"]);
    await stage.write(rest);
    expect(stage.repository.git("status", "--porcelain")).not.toContain(".tmp");
    await stage.expectApplied();
  });

  test("a row that is gone and that nobody can name is told", async () => {
    const rows = Array.from({ length: 1_001 }, (_, at) => `C${at},Name,1\n`); // the state has no keys of so many
    stage.repository.write({ "own.csv": `Code,Name,Size\n${rows.join("")}` });
    await stage.apply();
    await stage.removeRow("own", "C4");
    stage.repository.write({ "own.csv": files["own.csv"] });
    expect((await stage.pull()).items).toMatchObject([{ thing: "own", change: { op: "remove", name: "1 row" } }]);
  });

  test("nothing is written through a link", async () => {
    await stage.editRow("own", "C3", { Name: "by hand" });
    stage.repository.write({ "elsewhere.csv": files["own.csv"] });
    stage.repository.git("rm", "--quiet", "own.csv");
    symlinkSync("elsewhere.csv", join(stage.repository.folder, "own.csv"));
    const pulled = await stage.pull();
    stage.repository.git("reset", "--quiet", "--hard");
    expect(refusals(pulled)).toEqual([expect.stringContaining("symbolic link")]);
  });

  test("masked secrets in a file: neither a secret nor its mask comes into one, and the rest is taken", async () => {
    const tokens =
      "  tokens: { table: beside, key: Code, secretLabels: [Name], source: tokens.csv, types: { Size: number } }\n";
    stage.repository.write({
      "dev.yaml": `${files["dev.yaml"]}${tokens}  inline: { sensitive: true }\n`,
      "tokens.csv": "Code,Name,Size\nT1,declared-one,1\nT2,declared-two,2\n",
    });
    await stage.apply();
    await stage.editRow("beside", "T1", { Name: "live-one", Size: 9 });
    await stage.editRow("beside", "T2", { Name: "live-two" });
    await stage.editRow("inline", "A", { Name: "live-inline", Size: 7 });
    const rowData = { Code: "T3", Name: "live-three", Size: 3 };
    await stage.client.insertmicroapprow({ microAppID: "beside", rowData });
    const before = stage.text("dev.yaml");
    const pulled = await stage.pull({ foreign: true });
    expect(refusals(pulled).sort()).toEqual([
      ...Array.from({ length: 2 }, () => "its changed values are secret: they are never written into a file"),
      "its rows are sensitive: they are never written into a file",
    ]);
    expect(JSON.stringify(pulled.items)).not.toMatch(/live-|declared-/);
    await stage.write(pulled);
    expect(stage.text("tokens.csv")).toBe("Code,Name,Size\nT1,declared-one,9\nT2,declared-two,2\nT3,,3\n");
    expect(stage.text("dev.yaml")).toBe(before);
    expect(stage.text("base.yaml")).toBe(files["base.yaml"]);
  });

  test("an empty answer where there were rows removes nothing", async () => {
    for (const code of ["A", "B"]) await stage.removeRow("inline", code);
    const pulled = await stage.pull();
    expect(refusals(pulled)).toHaveLength(2);
    expect(pulled.files).toEqual([]);
  });

  test("more removals than maxRemovals are not taken", async () => {
    for (const code of codes.slice(0, 6)) await stage.removeRow("own", code);
    const { look, files: edited } = await stage.pull();
    expect(look.unread).toEqual([expect.stringContaining("maxRemovals")]);
    expect(edited).toEqual([]);
  });
});

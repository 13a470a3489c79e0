import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RowSet } from "../../reconcile/rowSet.ts";
import { RowClaims } from "../../resources/rows/declared/claims.ts";
import { summarize } from "../../resources/rows/declared/declaration.ts";
import { indicesWithin } from "../../resources/rows/declared/terms.ts";
import { PreviewNotes } from "./previewNotes.ts";

let folder: string;
let directory: string;
const { XDG_STATE_HOME } = process.env;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "microapps-previews-"));
  directory = mkdtempSync(join(tmpdir(), "microapps-program-"));
  process.env["XDG_STATE_HOME"] = folder;
});
afterEach(() => {
  if (XDG_STATE_HOME === undefined) delete process.env["XDG_STATE_HOME"];
  else process.env["XDG_STATE_HOME"] = XDG_STATE_HOME;
  for (const path of [folder, directory]) rmSync(path, { recursive: true, force: true });
});

const urnOf = (name: string): string => `urn:pulumi:dev::tests::microapps:index:SeedRows::${name}`;
const seed = (salt: string, ...codes: string[]) => ({
  ...{ table: "regions", key: ["Code"], salt, secretLabels: ["Pin"] },
  rows: codes.map((Code) => ({ Code, Pin: "1234-secret" })),
});

/** A run of the program, as one provider process sees it. */
function run(
  name: string,
  now = Date.now,
): { claims: RowClaims; notes: PreviewNotes; check: (of: string, target: ReturnType<typeof seed>) => void } {
  const claims = new RowClaims(directory);
  const notes = new PreviewNotes(claims, () => ({ name, directory, platform: "p" }), now);
  const check = (of: string, target: ReturnType<typeof seed>): void => {
    claims.claim(urnOf(of), target, "digest");
    notes.checked(urnOf(of), target);
  };
  return { claims, notes, check };
}
const expected = ({ claims }: ReturnType<typeof run>, but: string): string[] =>
  claims.expected("regions", urnOf(but)).map(({ name }) => name);

/** A preview in which a row leaves a for b, which comes later. */
async function previewed(): Promise<void> {
  const preview = run("preview");
  preview.check("a", seed("s", "EU"));
  const { rows } = await summarize(seed("s", "US"), directory);
  const none = { labels: [], existing: new RowSet(), handedOver: new RowSet() };
  preview.notes.compared(urnOf("a"), { target: seed("s", "EU"), keys: rows, ...none });
  preview.check("b", seed("t", "US", "AF"));
}
const files = (): string[] => {
  const previews = join(folder, "pulumi-microapps/previews");
  return readdirSync(previews).flatMap((stack) =>
    readdirSync(join(previews, stack)).map((name) => join(previews, stack, name)),
  );
};

test("an update goes by what the preview has seen of seeds that come later", async () => {
  await previewed();
  for (const file of files()) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toMatch(/regions|1234/);
  }
  const update = run("update");
  update.check("a", seed("u", "EU"));
  expect(expected(update, "a")).toEqual(['SeedRows "b"']);
  const [claim] = update.claims.expected("regions", urnOf("a"));
  expect(claim?.target.rows).toEqual([{ Code: "US" }, { Code: "AF" }]);
  update.notes.isUpdate();
  // Another one, in which the later seed is first.
  const other = run("other");
  other.check("b", seed("t", "US", "AF"));
  expect(expected(other, "b")).toEqual(['SeedRows "a"']);
  const arriving = other.claims.arriving("regions", urnOf("b"));
  expect([...(await indicesWithin(arriving, seed("t", "US", "AF"), directory))]).toEqual([[0, true]]);
});

test("an update that declares something else, is late, or has a younger program goes by nothing", async () => {
  const cases: [string, (begin: typeof run) => ReturnType<typeof run>][] = [
    ["another seed", (begin) => {
      const update = begin("update");
      update.check("c", seed("u", "XX"));
      return update;
    }],
    ["other rows", (begin) => {
      const update = begin("update");
      update.check("a", seed("u", "EU", "XX"));
      return update;
    }],
    ["an hour", (begin) => {
      const update = begin("update", () => Date.now() + 3_600_001);
      update.check("a", seed("u", "EU"));
      return update;
    }],
    ["a younger file", (begin) => {
      writeFileSync(join(directory, "Pulumi.yaml"), "");
      utimesSync(join(directory, "Pulumi.yaml"), Date.now() / 1000 + 60, Date.now() / 1000 + 60);
      const update = begin("update");
      update.check("a", seed("u", "EU"));
      return update;
    }],
    ["notes of somebody else", (begin) => {
      for (const file of files()) writeFileSync(file, `${Buffer.from("nothing that this user has encrypted").toString("base64")}\n`);
      const update = begin("update");
      update.check("a", seed("u", "EU"));
      return update;
    }],
  ]; // prettier-ignore
  for (const [what, begin] of cases) {
    rmSync(join(folder, "pulumi-microapps/previews"), { recursive: true, force: true });
    rmSync(join(directory, "Pulumi.yaml"), { force: true });
    await previewed();
    const update = begin(run);
    expect([what, update.claims.expected("regions", urnOf("a")).map(({ name }) => name)]).toEqual([
      what,
      what === "another seed" ? ['SeedRows "c"'] : [],
    ]);
    expect(update.claims.arriving("regions", urnOf("x"))).toEqual([]);
  }
});

test("rows that were left for a seed that declares others now are told, and so is what to do", async () => {
  await previewed();
  const update = run("update");
  update.check("a", seed("u", "EU"));
  for (const claim of update.claims.expected("regions", urnOf("a"))) update.claims.rely(claim, 1);
  expect(() => update.check("b", seed("t", "AF"))).toThrow("1 rows of table regions were left for this seed");
  // Without a difference from the preview there is no error.
  const other = run("other");
  update.notes.isUpdate();
  other.check("a", seed("u", "EU"));
  for (const claim of other.claims.expected("regions", urnOf("a"))) other.claims.rely(claim, 1);
  other.check("b", seed("t", "US", "AF"));
});

test("a preview removes what the one before it kept, and an update what it kept itself", async () => {
  await previewed();
  const update = run("update");
  update.check("a", seed("u", "EU"));
  expect(files()).toHaveLength(2);
  update.notes.isUpdate();
  update.check("b", seed("t", "US", "AF"));
  expect(files()).toHaveLength(1);
  run("second").check("a", seed("u", "EU"));
  run("third").check("a", seed("u", "EU"));
  expect(files()).toHaveLength(2);
});

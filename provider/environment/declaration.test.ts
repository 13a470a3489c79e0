import { describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { declaration } from "./declaration.ts";
import { EnvironmentError } from "./problems.ts";
import { listAwaited, things, topName } from "./things.ts";

const testdata = join(import.meta.dirname, "../../../provider/environment/testdata");

const told = (file: string, folder: string): string => {
  try {
    declaration(file, folder);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.message;
    throw error;
  }
  throw new Error(`${file} was accepted`);
};

describe("a broken environment file ends with every problem at its place", () => {
  const cases = readdirSync(testdata).filter((file) => file.endsWith(".txt"));

  test.each(cases)("%s", (expected) => {
    const message = readFileSync(join(testdata, expected), "utf8").trimEnd();
    expect(told(expected.replace(".txt", ".yaml"), testdata)).toBe(message);
  });

  test("each broken file has its expected message", () => {
    const files = readdirSync(testdata).filter((file) => file.endsWith(".yaml") && file !== "sound.yaml");
    expect(files.map((file) => file.replace(".yaml", ".txt"))).toEqual(cases.filter((file) => file !== "missing.txt"));
  });
});

describe("a sound environment file", () => {
  const sound = declaration("sound.yaml", testdata);

  test("takes everything from the files that it extends, and its own where both have it", () => {
    expect(sound.organizations).toEqual({
      acme: {
        name: "Acme (dev)",
        description: "From the base.",
        teams: {
          crew: { name: "Crew", members: { "ada@example.com": "admin", "grace@example.com": { role: "member" } } },
        },
      },
    });
  });

  test("names sources relative to the program, wherever the file that mentions them is", () => {
    expect(sound.seeds["inherited"]?.source).toBe("overlays/rows.csv");
    expect(sound.seeds["own"]?.source).toBe("rows.csv");
    expect(declaration("testdata/sound.yaml", join(testdata, "..")).seeds["inherited"]?.source).toBe(
      "testdata/overlays/rows.csv",
    );
  });

  test("has rows before the seeds that only update them or name their table, but in a circle", () => {
    const folder = temporaryFolder();
    const seed = (more: string): string => `{ table: t, key: A, rows: [{ A: a }]${more} }`;
    const lines = ["late", "later", "rows"].map(
      (name) => `  ${name}: ${seed(name === "rows" ? "" : ", mode: updateOnly")}`,
    );
    const file = (more = ""): string => ["seeds:", ...lines, more, ""].join("\n");
    writeFileSync(join(folder, "one.yaml"), file());
    const one = declaration("one.yaml", folder);
    expect(one.seedOrder).toEqual(["rows", "late", "later"]);
    const all = things(one, topName("environment"));
    expect(all.map((each) => listAwaited(each, all))).toEqual([[], ["SeedRows rows"], ["SeedRows rows"]]);
    writeFileSync(join(folder, "two.yaml"), file(`  more: ${seed(", references: { B: { seed: late } }")}`));
    expect(declaration("two.yaml", folder).seedOrder).toEqual(["rows", "late", "more", "later"]);
    const named = (how: string): string =>
      `seeds:\n  a: { table: u, key: A, rows: [{ A: a }], ${how} }\n  b: ${seed("")}\n  c: ${seed("")}\n`;
    const by = "{ A: { table: t, key: A } }";
    for (const how of [`references: ${by}`, `expect: { relationships: ${by} }`]) {
      writeFileSync(join(folder, "named.yaml"), named(how));
      const read = declaration("named.yaml", folder);
      const of = things(read, topName("environment"));
      expect(of.map((each) => [each.key, ...listAwaited(each, of)])).toEqual([
        ["SeedRows b"],
        ["SeedRows c"],
        ["SeedRows a", "SeedRows b", "SeedRows c"],
      ]);
    }
    // In a circle the order of the file decides.
    writeFileSync(
      join(folder, "circle.yaml"),
      named(`references: ${by}`).replace("}] }", `}], references: { A: { table: u, key: A } } }`),
    );
    expect(declaration("circle.yaml", folder).seedOrder).toEqual(["c", "a", "b"]);
  });

  test("may hold what an emulated platform has, which is not declared", () => {
    expect(Object.keys(sound).toSorted()).not.toContain("platform");
  });

  test("has the former keys of a file and of those that it extends", () => {
    const { organizations, seeds, apps } = declaration("overlays/formerly.yaml", testdata);
    expect(organizations["apex"]?.formerly).toEqual(["acme", "zenith", "summit"]);
    expect(organizations["apex"]?.teams?.["core"]?.formerly).toEqual(["crew", "staff"]);
    expect(seeds["offices"]).toMatchObject({ formerly: "branches", types: { formerly: "number" } });
    expect(apps["portal"]?.formerly).toEqual(["door", "door"]);
  });

  test("orders seeds after those that they refer to", () => {
    expect(sound.seedOrder).toEqual(["inherited", "currencies", "countries", "cities", "own"]);
  });
});

describe("limits of a file", () => {
  const folder = temporaryFolder();

  test("of thousands of problems the first ones are told", () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `organisation${index}: 1`);
    writeFileSync(join(folder, "many.yaml"), keys.join("\n"));
    const lines = told("many.yaml", folder).split("\n");
    expect(lines).toHaveLength(52);
    expect(lines[0]).toBe("environment many.yaml has 20000 problems:");
    expect(lines[1]).toContain('many.yaml:1:1: unknown key "organisation0"');
    expect(lines[51]).toBe("  and 19950 more");
  });

  test("a key that objects of JavaScript lose is an error at its place", () => {
    writeFileSync(
      join(folder, "proto.yaml"),
      "organizations:\n  acme:\n    __proto__: { name: Acme }\n    name: Acme\n",
    );
    expect(told("proto.yaml", folder)).toContain("proto.yaml:3:5: a key can't have this name");
  });

  test("nothing outside of the repository is read, and nothing of it is quoted", () => {
    symlinkSync("/etc/passwd", join(folder, "linked.yaml"));
    for (const file of ["linked.yaml", "/etc/passwd", "/dev/zero"]) {
      writeFileSync(join(folder, "child.yaml"), `extends: ${file}\n`);
      const message = told("child.yaml", folder);
      expect(message).toContain("child.yaml:1:10:");
      expect(message).toContain("it is outside of the repository");
      expect(message).not.toContain("root:");
      expect(told(file, folder)).toContain("it is outside of the repository");
    }
  });

  test("an anchor that holds itself is refused", () => {
    writeFileSync(join(folder, "self.yaml"), "organizations: &all\n  acme: *all\n");
    expect(told("self.yaml", folder)).toContain('self.yaml:2:9: the anchor "all" holds itself');
  });

  test("an anchor may be used twice", () => {
    writeFileSync(
      join(folder, "anchors.yaml"),
      "organizations:\n  a: { name: A, teams: { t: &t { name: T } } }\n  b: { name: B, teams: { t: *t } }\n",
    );
    expect(declaration("anchors.yaml", folder).organizations["b"]).toEqual({ name: "B", teams: { t: { name: "T" } } });
  });
});

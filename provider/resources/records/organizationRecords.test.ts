import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkName, forgetName, noteName } from "./organizationRecords.ts";

// Each test has its own project, so declarations of others do not count.
let project = "";
let projects = 0;
let directory: string;
let context: { directory: string; platform: string; organizationNames: Map<string, string> };
beforeEach(async () => {
  project = `p${++projects}`;
  directory = await mkdtemp(join(tmpdir(), "microapps-records-"));
  process.env["XDG_STATE_HOME"] = join(directory, "state");
  context = { directory, platform: "https://platform.example.com", organizationNames: new Map() };
});
afterEach(async () => {
  delete process.env["XDG_STATE_HOME"];
  await rm(directory, { recursive: true, force: true });
});

const program = (name: string, stack = "dev", of = project): string =>
  `urn:pulumi:${stack}::${of}::microapps:index:Organization::${name}`;
const inFile = (name: string): string =>
  `urn:pulumi:dev::${project}::microapps:index:Environment$microapps:index:Organization::${name}`;
const folder = (): string => join(directory, ".microapps/organizations");
const fileOf = async (): Promise<string> =>
  join(folder(), (await readdir(folder())).find((file) => file.endsWith(".json")) ?? "");
const name = "Acme";

async function said(urn: string, name: string, place = context): Promise<string> {
  return (await checkName(place, { urn, name, isNew: true })).map(({ reason }) => reason).join("\n");
}

test("a key of an environment file that changed is told what to write, and so is the Environment", async () => {
  await noteName(context, { urn: inFile("environment/acme"), name, id: "ID" });
  expect(await said(inFile("environment/apex"), name)).toContain(
    'If its key "acme" became "apex", write formerly: [acme] under "apex" in the environment file.',
  );
  expect(await said(inFile("crew/acme"), name)).toContain(
    'If the Environment "environment" became "crew", give that one the option aliases: [{ name: "environment" }].',
  );
  expect(await said(program("acme"), name)).toContain(
    `If "acme" is its new name in the program, give it the option aliases: ["${inFile("environment/acme")}"].`,
  );
});

test("another stack, project or platform has names of its own", async () => {
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  expect(await said(program("apex", "prod"), name)).toBe("");
  expect(await said(program("apex", "dev", "other"), name)).toBe("");
  expect(await said(program("apex"), name, { ...context, platform: "https://other.example.com" })).toBe("");
  expect(await said(program("apex"), name)).not.toBe("");
});

/** From here on everything is done by somebody who has another key. */
const asAnotherUser = (): void => {
  process.env["XDG_STATE_HOME"] = join(directory, "state of another");
};

test("no file has the name, nor a digest that anybody else can make", async () => {
  await noteName(context, { urn: program("acme"), name: "a secret name", id: "ID" });
  const [record = "", ...others] = await readdir(folder());
  expect(others).toEqual([]);
  expect(await readFile(join(folder(), record), "utf8")).not.toContain("secret");
  asAnotherUser();
  await noteName(context, { urn: program("acme"), name: "a secret name", id: "ID" });
  expect(await readdir(folder())).toHaveLength(2);
});

test("what a branch wrote is not believed: of another name, of another's key, or of no key at all", async () => {
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  const record = await fileOf();
  await noteName(context, { urn: program("other"), name: "Other", id: "ID" });
  const [other = ""] = (await readdir(folder())).filter((file) => !record.endsWith(file));
  const own = await readFile(record, "utf8");
  await writeFile(record, await readFile(join(folder(), other))); // a sealed one, in another place
  expect(await said(program("apex"), name)).toBe("");
  for (const change of [{ id: "THEIRS" }, { seal: "" }, { seal: undefined }, { urn: program("theirs") }]) {
    await writeFile(record, JSON.stringify({ ...(JSON.parse(own) as object), ...change }));
    expect(await said(program("apex"), name)).toBe("");
  }
  await writeFile(record, own);
  expect(await said(program("apex"), name)).toContain('"acme" (ID)');
});

test("where no key can be kept nothing is remembered, and nothing ends because of it", async () => {
  await writeFile(join(directory, "state"), "a file in the way");
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  expect(await said(program("apex"), name)).toBe("");
  await forgetName(context, { urn: program("acme"), name, id: "ID" });
});

test.each<[string, (path: string) => Promise<unknown>]>([
  ["garbage", (path) => writeFile(path, "{")],
  ["something else", (path) => writeFile(path, '{"urn": 7}')],
  ["too long", async (path) => writeFile(path, `${await readFile(path, "utf8")}${" ".repeat(10_000)}`)],
  ["a folder", (path) => rm(path).then(() => mkdir(path))],
  [
    "a link to a record",
    async (path) => {
      await writeFile(join(directory, "elsewhere.json"), await readFile(path));
      await rm(path);
      await symlink(join(directory, "elsewhere.json"), path);
    },
  ],
])("a record that is %s is not believed", async (_, spoil) => {
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  expect(await said(program("apex"), name)).not.toBe("");
  await spoil(await fileOf());
  expect(await said(program("apex"), name)).toBe("");
});

test("a folder of records that is a link is neither read nor written", async () => {
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  const elsewhere = { ...context, directory: join(directory, "elsewhere") };
  await mkdir(join(elsewhere.directory, ".microapps"), { recursive: true });
  await symlink(folder(), join(elsewhere.directory, ".microapps/organizations"));
  expect(await said(program("apex"), name, elsewhere)).toBe("");
  await noteName(elsewhere, { urn: program("other"), name: "Other", id: "ID" });
  expect(await readdir(folder())).toHaveLength(1);
});

test("a file or folder in the way ends nothing", async () => {
  await writeFile(join(directory, ".microapps"), "");
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  await forgetName(context, { urn: program("acme"), name, id: "ID" });
  expect(await said(program("apex"), name)).toBe("");
  await rm(join(directory, ".microapps"));
  await chmod(directory, 0o500);
  await noteName(context, { urn: program("acme"), name, id: "ID" });
  await chmod(directory, 0o700);
});

test("many who write at once leave whole records", async () => {
  const all = Array.from({ length: 40 }, (_, index) => ({
    urn: program(`o${index % 20}`),
    name: `many ${index % 20}`,
  }));
  await Promise.all(all.map((each) => noteName(context, { ...each, id: "ID" })));
  expect(await readdir(folder())).toHaveLength(20);
  for (const { name } of all) expect(await said(program("apex"), name)).toContain(name.replace("many ", '"o'));
});

test("a record goes with its organization, and not with another one that had the name before", async () => {
  await noteName(context, { urn: program("acme"), name, id: "NEW" });
  await forgetName(context, { urn: program("former"), name, id: "OLD" });
  expect(await said(program("apex"), name)).not.toBe("");
  await forgetName(context, { urn: program("former"), name, id: "NEW" }); // renamed meanwhile
  expect(await said(program("apex"), name)).toBe("");
});

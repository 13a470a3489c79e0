import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient } from "../../platform/client/index.ts";
import { testInLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { dynamic, plugin } from "../harness/kinds.ts";
import { Project, repository } from "../harness/project.ts";
import { ProviderHost, type Properties } from "../harness/providerHost.ts";
import { secretsIn, watching } from "./searching.ts";

const account = { email: "admin@example.com", password: "change-me-first" };
const testedKinds = ["dynamic", "plugin"];

/** Each with characters that JSON, YAML and URLs spell otherwise. */
const secretsOf = (providerKind: string) => ({
  file: `file "tok"/${providerKind}+ü?`,
  later: `later "tok"/${providerKind}+ü?`,
  configured: `configured "tok"/${providerKind}+ü?`,
  rotated: `rotated "tok"/${providerKind}+ü?`,
  written: `written "tok"/${providerKind}+ü?`,
  byHand: `by hand "tok"/${providerKind}+ü?`,
  added: `added "tok"/${providerKind}+ü?`,
});
const secrets = testedKinds.flatMap((providerKind) => Object.values(secretsOf(providerKind)));

const program = `
import * as pulumi from "@pulumi/pulumi";
import * as sdk from "pulumi-microapps";

const config = new pulumi.Config();
for (const door of ${JSON.stringify(testedKinds)}) {
  const declare = (name, args) =>
    door === "dynamic"
      ? new sdk.SeedRows(name + "-dynamic", args)
      : new pulumi.CustomResource("microapps:index:SeedRows", name + "-plugin", args);
  const labels = { secretLabels: ["Token"] };
  declare("file", { table: "file-" + door, key: "Code", source: door + ".csv", additions: [{ Code: "C", Token: config.requireSecret("added-" + door) }], ...labels });
  declare("inline", {
    table: "inline-" + door, key: "Code", ...labels,
    rows: [
      { Code: "2", Name: "two", Token: config.requireSecret("token-" + door) },
      { Code: "1", Name: "one", Token: config.get("written-" + door) },
    ],
  });
}
`;

let project: Project;
let emulator: Emulator;

beforeAll(async () => {
  const fields = { Code: "text", Name: "text", Token: "text" };
  const tables = Object.fromEntries(
    testedKinds.flatMap((providerKind) =>
      [`file-${providerKind}`, `inline-${providerKind}`].map((id) => [id, { fields }]),
    ),
  );
  const more = { vaults: { fields }, owners: { fields } };
  emulator = await createEmulator({ seed: { administrator: account, tables: { ...tables, ...more } } });
  project = await Project.running(
    program,
    { "microapps:endpoint": emulator.url, "microapps:email": account.email },
    { plugins: { providers: [{ name: "microapps", path: join(repository, "plugin") }] } },
  );
  project.environment["MICROAPPS_PASSWORD"] = account.password;
  project.environment["MICROAPPS_ALLOWED_ENDPOINTS"] = emulator.url;
  await project.succeed("stack init dev");
  for (const providerKind of testedKinds) {
    const is = secretsOf(providerKind);
    await csv(providerKind, is.file, "first");
    await project.succeed(`config set --secret added-${providerKind}`, is.added);
    await project.succeed(`config set --secret token-${providerKind}`, is.configured);
    await project.succeed(`config set --secret written-${providerKind}`, is.written);
  }
});
afterAll(() => endedCleanly(project, emulator));

const csv = (providerKind: string, token: string, name: string): Promise<void> =>
  project.write(`${providerKind}.csv`, `Code,Name,Token\nA,${name},"${token.replaceAll('"', '""')}"\nB,second,none\n`);

/** Applied content is looked up in the last commit. */
function commit(): void {
  const git = (...words: string[]): unknown =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { cwd: project.folder });
  git("init", "-q");
  git("add", "dynamic.csv", "plugin.csv");
  git("commit", "-qm", "rows");
}

const { seen, run: watched } = watching(() => project, /index\.js$|\.csv$|\.git\//);
const run = (command: string, ...flags: string[]): Promise<string> => watched(0, command, ...flags);

const mutating = (): number => emulator.calls().filter((call) => call.mutating).length;

/** Changes the token of one row of each table, as a person would. */
async function editByHand(): Promise<void> {
  const client = createClient({ endpoint: emulator.url, ...account });
  for (const [providerKind, { byHand }] of testedKinds.map((each) => [each, secretsOf(each)] as const)) {
    for (const microAppID of [`file-${providerKind}`, `inline-${providerKind}`]) {
      const searchFilter = [{ skip: 0, limit: 9 }];
      const { microAppRows } = await client.microappdata({ microAppID, searchFilter });
      const row = microAppRows.find(({ Code }) => Code === "A" || Code === "1");
      await client.updatemicroapprow({ rowID: row?._id ?? "", microAppID, rowData: { Token: byHand } });
    }
  }
  await client.close();
}

// Of an environment they are in secretEnvironment.test.ts.
testInLong("values of secret labels are nowhere, and the rest of the rows is shown", async () => {
  const created = await run("up --yes --skip-preview --diff");
  expect(created.match(/Code : "2"\n\s+Name : "two"\n\s+Token: \[secret\]/g)).toHaveLength(2);

  // Secrets that are rotated, and other changes in the same rows.
  commit();
  for (const providerKind of testedKinds) {
    await csv(providerKind, secretsOf(providerKind).later, "new name");
    await project.succeed(`config set --secret token-${providerKind}`, secretsOf(providerKind).rotated);
  }
  await project.edit("index.js", '"one"', '"the one"');
  const rotated = await run("up --yes --diff");
  expect(rotated.match(/1 to change \("A": Name "first" => "new name", Token changed\), 2 unchanged/g)).toHaveLength(2); // by the preview of each kind of provider
  expect(rotated.match(/~ \S+\.Name *: "one" => "the one"/g)).toHaveLength(4); // in preview and update
  expect(rotated.match(/~ \S+\.Token *: \[secret\] => \[secret\]/g)).toHaveLength(4);

  await editByHand();
  const refreshed = await run("refresh --yes --skip-preview --diff");
  expect(refreshed.match(/rows edited by hand: 1 changed \("[A1]": Token changed\)/g)).toHaveLength(4);
  await run("up --yes --skip-preview");

  // Another secret label, and one fewer: nothing is sent for that.
  const before = mutating();
  await project.edit("index.js", 'secretLabels: ["Token"]', 'secretLabels: ["Token", "Name"]');
  const hidden = await run("up --yes --diff");
  expect(hidden.match(/Name secret from now on: no row changes for that/g)).toHaveLength(4); // by the preview, of two seeds for each kind of provider
  await project.edit("index.js", 'secretLabels: ["Token", "Name"]', 'secretLabels: ["Token"]');
  expect(await run("preview --diff")).toContain("Name shown from now on: no row changes for that");
  expect(mutating()).toBe(before);
  await run("stack export");

  expect(secretsIn(seen, secrets)).toEqual([]);
  // The search finds what is there.
  const sources = await Promise.all(
    testedKinds.map(async (providerKind) => [await project.read(`${providerKind}.csv`), providerKind] as const),
  );
  expect(
    secretsIn(
      new Map(sources),
      testedKinds.map((providerKind) => secretsOf(providerKind).later),
    ),
  ).toEqual([]);
  expect(secretsIn(new Map([[await project.succeed("config get token-dynamic"), ""]]), secrets)).toHaveLength(1);
});

test.each([dynamic, plugin])("the $name provider says what is wrong with secret labels", async (providerKind) => {
  const settings = { "microapps:endpoint": emulator.url, "microapps:email": account.email };
  const host = await ProviderHost.start(providerKind, { ...settings, "microapps:password": account.password });
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
      'rows: rows[1]: the natural key "A" stands at rows[0] already: remove one of the two, or name more labels in key',
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
    await host.stop();
  }
});

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient } from "../../platform/client/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { Project } from "../harness/project.ts";
import { secretsIn, watching } from "./searching.ts";

/** A text that nothing else has, with characters that are spelled otherwise elsewhere. */
const random = (): string => `t${randomBytes(9).toString("base64url")} "of"/+ü?&<b>`;

const account = { email: "admin@example.com", password: random() };
const [cell, later, verb, key, inFile, configured, rotated, byHand] = Array.from({ length: 8 }, random) as [
  string,
  ...string[],
];
const secrets = [account.password, cell, later, verb, key, inFile, configured, rotated, byHand].map(String);

const yaml = (value: string | undefined): string => JSON.stringify(value);
const environment = (token: string, name: string): string => `
seeds:
  labelled:
    table: labelled
    key: Code
    secretLabels: [Token]
    rows: [{ Code: A, Name: ${name}, Token: ${yaml(token)} }, { Code: B, Name: b, Token: { config: token } }]
    rows+: [{ Code: C, Token: ${yaml(verb)} }]
  listed: { table: listed, key: Code, secretLabels: [Token], source: listed.csv }
  whole: { table: whole, key: Token, sensitive: true, rows: [{ Token: ${yaml(key)}, Name: ${yaml(token)} }] }
`;
const csv = (token: string): string => `Code,Token\nA,"${token.replaceAll('"', '""')}"\n`;

let project: Project;
let emulator: Emulator;

beforeAll(async () => {
  const fields = { Code: "text", Name: "text", Token: "text" };
  const tables = { labelled: { fields }, listed: { fields }, whole: { fields } };
  emulator = await createEmulator({ seed: { administrator: account, tables } });
  project = await Project.declaring({ "microapps:endpoint": emulator.url, "microapps:email": account.email });
  project.environment["MICROAPPS_PASSWORD"] = account.password;
  project.environment["MICROAPPS_ALLOWED_ENDPOINTS"] = emulator.url;
  await project.write("environments.yaml", "dev: { file: dev.yaml }\n");
  await project.write(".gitignore", "node_modules\n.pulumi*\n.state\n.cache\n");
  await project.write("dev.yaml", environment(cell, "a"));
  await project.write("listed.csv", csv(String(inFile)));
  await project.succeed("stack init dev");
  await project.succeed("config set --secret token", String(configured));
  const git = (...words: string[]): unknown =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { cwd: project.folder });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
});
afterAll(() => endedCleanly(project, emulator));

const { seen, run } = watching(() => project, /(dev\.yaml|\.csv)$|\.git\//);

test("secret rows, cells, values of the configuration and passwords are in no report, file or output", async () => {
  await run(0, "up --yes --skip-preview --diff");
  const shown = await run(0, "environment show dev.yaml --origin");
  expect(shown).toContain('Token: "[secret]" # dev.yaml:7:');
  expect(shown).toContain("config: token");
  expect(shown).toContain('rows: "[secret]"');
  await run(0, "environment show dev.yaml --json --origin");

  await project.write("dev.yaml", environment(String(later), "z"));
  await project.write("listed.csv", csv(String(rotated)));
  for (const format of ["md", "json", "text"]) {
    const output = await run(0, `report --base HEAD --format ${format}`);
    expect(output).toContain("Token");
    expect(output).toMatch(/secret/);
  }
  await project.succeed("config set --secret token", String(rotated));
  await run(0, "up --yes --diff");

  const client = createClient({ endpoint: emulator.url, ...account });
  for (const microAppID of ["labelled", "listed", "whole"]) {
    const { microAppRows } = await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 9 }] });
    const change = microAppID === "whole" ? { Name: byHand } : { Token: byHand };
    const rowID = microAppRows.find(({ Code }) => Code === "A" || microAppID === "whole")?._id ?? "";
    await client.updatemicroapprow({ rowID, microAppID, rowData: change });
  }
  await client.close();
  const drift = JSON.parse(await run(7, "drift --format json")) as object;
  expect(JSON.stringify(drift)).toContain('{"name":"Token","before":"[secret]","after":"[secret]","secret":true}');
  for (const format of ["md", "text"]) await run(7, `drift --format ${format}`);
  await run(0, "drift --tolerate --because tests");
  expect(await project.read("drift.yaml")).toContain("thing: labelled");
  expect(await run(0, "refresh --yes --skip-preview")).toContain('1 changed ("A": Token changed)');

  // Mistakes.
  await project.write("listed.csv", csv(String(later)).replace("A,", "A,x,"));
  await project.write("dev.yaml", environment(String(later), "a").replace("Code: B", "Code: A"));
  await run(2, "environment check dev.yaml");
  await run(1, "preview --diff");
  expect(secretsIn(seen, secrets)).toEqual([]);
  // The search finds what is there.
  expect(
    secretsIn(new Map([[await project.read("listed.csv").then((text) => text.replaceAll('""', '"')), ""]]), secrets),
  ).toHaveLength(1);
});

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient } from "../../platform/client/index.ts";
import { drawnFrom } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { dynamic, plugin } from "../harness/kinds.ts";
import { Project, repository } from "../harness/project.ts";
import { ProviderHost, type TestedKind, type Properties } from "../harness/providerHost.ts";
import { hostile } from "./hostile.ts";
import { secretsIn, watching } from "./searching.ts";
import { spellings } from "./spellings.ts";

// Each with characters that URLs, JSON and base64 spell otherwise.
const password = 'pass "word"/für+ada?&';
const apiKey = 'key \\of/the+operator"%';

/** Secrets for one kind of provider: names, texts, addresses, rows with their labels, tables. */
const planted = (providerKind: string) => ({
  team: `crew "of"/${providerKind}+ü?&`,
  motto: `motto "of the"/${providerKind}+ü?`,
  member: `mary+${providerKind}@hidden.example`,
  admin: `anna+${providerKind}@hidden.example`,
  listed: `lena+${providerKind}@hidden.example`,
  friend: `fred+${providerKind}@hidden.example`,
  message: `message "for"/${providerKind}+ä?&`,
  prompt: `An app about "${providerKind}/ÿ+Q?"`,
  pin: `pin \\"4711"/+${providerKind}ä?&`,
  label: `Label "of"/${providerKind}+ö`,
  table: `vault-of-${providerKind}`,
  code: `code "0815"/+${providerKind}ë?&`,
  token: `token "tok"/${providerKind}+ü?&`,
});
const told = { dynamic: planted("dynamic"), plugin: planted("plugin") };

const program = `
import * as pulumi from "@pulumi/pulumi";
import * as sdk from "pulumi-microapps";

const { secret } = pulumi;
const declare = (door, type, name, args, options) =>
  door === "dynamic"
    ? new sdk[type](name + "-" + door, args, options)
    : new pulumi.CustomResource("microapps:index:" + type, name + "-" + door, args, options);

const acme = new sdk.Organization("acme", { name: "Acme" });
for (const [door, is] of Object.entries(${JSON.stringify(told)})) {
  const team = declare(door, "Team", "crew", { organizationID: acme.id, name: secret(is.team), description: secret(is.motto) });
  declare(door, "TeamMember", "member", { teamID: team.id, email: secret(is.member) });
  const ring = declare(door, "Team", "ring", { organizationID: acme.id, name: "Ring " + door });
  declare(door, "TeamRoster", "roster", { teamID: ring.id, members: secret({ [is.admin]: "admin" }) });
  const hall = declare(door, "Team", "hall", { organizationID: acme.id, name: "Hall " + door });
  // Only the plugin's schema offers it: the class sets it by itself, where members are a secret.
  if (door === "plugin") declare(door, "TeamRoster", "listed", { teamID: hall.id, source: door + "-people.csv", sensitive: true });
  declare(door, "SeedRows", "safes", {
    table: "safes-" + door, key: "Pin", rows: secret([{ Pin: is.pin, [is.label]: "x", Doors: 2 }]),
  });
  declare(door, "SeedRows", "vault", { table: secret(is.table), key: "Code", rows: [{ Code: "A" }] });
  declare(door, "SeedRows", "file", { table: "files-" + door, key: "Code", source: door + ".csv", types: { Doors: "number" }, sensitive: true });
  declare(door, "SeedRows", "labelled", {
    table: "labelled-" + door, key: "Code", secretLabels: ["Token"], rows: [{ Code: "A", Name: "first", Token: "1" + is.token }],
  });
  const app = declare(door, "GeneratedApp", "portal", { userEmail: "admin@example.com", appPrompt: secret(is.prompt) });
  declare(door, "Notification", "welcome", { appID: app.id, email: secret(is.friend), message: secret(is.message) });
}
`;

const tablesOf = (providerKind: string, { label, table }: ReturnType<typeof planted>) => ({
  [`safes-${providerKind}`]: { fields: { Pin: "text", Doors: "number", [label]: "text" } },
  [`files-${providerKind}`]: { fields: { Code: "text", Doors: "number" } },
  [`labelled-${providerKind}`]: { fields: { Code: "text", Name: "text", Token: "text" } },
  [table]: { fields: { Code: "text" } },
});

let project: Project;
let emulator: Emulator;
describe("a project", () => {
  beforeEach(async () => {
    emulator = await createEmulator({
      seed: {
        administrator: { email: "admin@example.com", password, apiKey },
        users: Object.values(told).map(({ friend }) => ({ email: friend })),
        tables: Object.fromEntries(
          Object.entries(told).flatMap(([providerKind, is]) => Object.entries(tablesOf(providerKind, is))),
        ),
        settings: { generationSeconds: 0 },
      },
    });
    project = await Project.running(
      program,
      { "microapps:endpoint": emulator.url, "microapps:email": "admin@example.com" },
      { plugins: { providers: [{ name: "microapps", path: join(repository, "plugin") }] } },
    );
    for (const [providerKind, { code }] of Object.entries(told)) {
      await project.write(`${providerKind}.csv`, `Code,Doors\n"${code.replaceAll('"', '""')}",2\n`);
    }
    for (const [providerKind, { listed }] of Object.entries(told))
      await project.write(`${providerKind}-people.csv`, `email,role\n${listed},admin\n`);
    await project.succeed("stack init dev");
  });
  afterEach(async () => {
    await endedCleanly(project, emulator);
  });

  test("secrets are in no file and in no output, whatever is run and whatever goes wrong", async () => {
    const { seen, run } = watching(() => project, /index\.js$|\.csv$/);
    await project.succeed("config set microapps:password --secret", password);
    await project.succeed("config set microapps:apiKey --secret", apiKey);

    // The answers of the generations are lost, and the platform refuses rows.
    emulator.setFaults({ faults: [{ kind: "reset", commit: true, endpoint: "createappwithprompt" }] });
    await project.edit("index.js", "Doors: 2", 'Doors: "two"');
    expect(await run(1, "up --yes --skip-preview --diff")).toMatch(/\[secret\] must be a number|did not arrive/);
    await rm(join(project.folder, ".state/pulumi-microapps/journal"), { recursive: true, force: true });
    emulator.setFaults();
    await project.edit("index.js", '"two"', "2");
    await run(0, "up --yes --skip-preview --json");

    // Mistakes that a preview finds.
    const sound = await project.read("index.js");
    await project.edit("index.js", "Doors: 2 }", "Doors: 2 }, { Pin: is.pin }");
    await project.edit("index.js", "secret(is.member)", 'secret(is.member + " & co")');
    await project.edit("index.js", '[is.admin]: "admin"', '[is.admin]: "admin", [is.admin.toUpperCase()]: "member"');
    await project.edit("index.js", "secret(is.table)", "secret(is.table), tabel: secret(is.table)");
    expect(await run(1, "preview --diff")).toContain("has a problem");
    await project.write("index.js", sound);

    await project.edit("index.js", '"Ring "', '"The ring "');
    await project.edit("index.js", "secret(is.motto)", 'secret("the " + is.motto)');
    await project.edit("index.js", "Doors: 2", "Doors: 3");
    // Of a row with a secret label the rest is shown.
    await project.edit("index.js", 'Name: "first", Token: "1"', 'Name: "second", Token: "2"');
    const changed = await run(0, "up --yes --diff");
    expect(changed.match(/~ \S+\.Name *: "first" => "second"/g)).toHaveLength(4); // of each kind, in preview and update
    expect(changed.match(/~ \S+\.Token *: \[secret\] => \[secret\]/g)).toHaveLength(4);
    await run(0, "stack export");
    await run(0, "stack output --json");
    await run(0, "config");

    const client = createClient({ endpoint: emulator.url, email: "admin@example.com", password, apiKey });
    const { authToken, userId } = await client.login({ email: "admin@example.com", password });
    await client.close();
    // Where credentials of the environment may go.
    project.environment["MICROAPPS_ALLOWED_ENDPOINTS"] = emulator.url;
    Object.assign(project.environment, { MICROAPPS_TOKEN: authToken, MICROAPPS_USER_ID: userId });
    await run(0, "refresh --yes --json");

    // A token and a password with which the platform knows nobody.
    const token = 'token/"of ada"+?&==';
    Object.assign(project.environment, { MICROAPPS_TOKEN: token });
    await run(1, "refresh --yes --diff");
    Object.assign(project.environment, { MICROAPPS_TOKEN: undefined, MICROAPPS_USER_ID: undefined });
    project.environment["MICROAPPS_PASSWORD"] = `${password}!`;
    await run(1, "refresh --yes");
    project.environment["MICROAPPS_PASSWORD"] = undefined;
    const own = Object.values(told).flatMap((one) => Object.values(one));
    const secrets = [password, apiKey, authToken, token, ...own];
    await run(0, "destroy --yes --diff");
    expect(secretsIn(seen, secrets)).toEqual([]);
    // Nor is what digests of rows are keyed with, which each seed has, also when its rows are no secret.
    expect([...seen].filter(([text]) => /"2:[\w-]{22}"/.test(text)).map(([, place]) => place)).toEqual([]);
    // The search finds what is there.
    expect(secretsIn(new Map([[await project.read("index.js"), ""]]), secrets)).toHaveLength(own.length);
  });
});

/** Inputs in an engine's form, these of them as secrets. */
const secretly = ({ name }: TestedKind, inputs: Properties, secrets: readonly string[]): Properties =>
  name === "dynamic"
    ? { ...inputs, __options: { secrets } }
    : Object.fromEntries(
        Object.entries(inputs).map(([key, value]) => [key, secrets.includes(key) ? { [mark]: kind, value } : value]),
      );
const [mark, kind] = ["4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"];

test.each(drawnFrom([dynamic, plugin], "secret"))(
  "the $name provider says what is wrong with a secret, and not what it is",
  async (providerKind) => {
    const platform = await hostile();
    const account = {
      "microapps:email": "admin@example.com",
      "microapps:password": password,
      "microapps:apiKey": apiKey,
    };
    const host = await ProviderHost.start(providerKind, { "microapps:endpoint": platform.url, ...account });
    const problems = async (type: string, inputs: Properties, ...secrets: string[]): Promise<string[]> =>
      (await host.check(type, secretly(providerKind, inputs, secrets))).problems;
    try {
      const { pin, label, member, admin, table, team } = told[providerKind.name as keyof typeof told]; // indexed by the names of the provider kinds
      const rows = [{ Pin: pin, [label]: "x" }, { Pin: pin, [label]: "y" }, { [label]: "z" }];
      expect(await problems("SeedRows", { table: "safes", key: "Pin", rows }, "rows")).toEqual([
        "rows: rows[1]: the natural key is at rows[0] already: remove one of the two, or name more labels in key\n" +
          "rows[2]: the row has no Pin, which is its natural key: give it one",
      ]);
      expect(await problems("TeamMember", { teamID: "t1", email: `${member} & co` }, "email")).toEqual([
        "email: must be an e-mail address",
      ]);
      const members = { [admin]: "boss" };
      expect(await problems("TeamRoster", { teamID: "t1", members }, "members")).toEqual([
        "members.[secret]: must be admin or member",
      ]);
      expect(await problems("SeedRows", { [table]: table, table, key: "Code" }, table, "table")).toEqual([
        expect.stringMatching(/^\[secret\]: is not an input of SeedRows; it has table, key, [\w, ]+$/),
      ]);
      const { inputs } = await host.check(
        "Team",
        secretly(providerKind, { organizationID: "o1", name: team }, ["name"]),
      );
      for (const [spelling, spell] of Object.entries(spellings)) {
        platform.answer = (request, response) => {
          const welcome = { status: "success", authToken: "token-of-theirs", userId: "user-of-theirs" };
          const said = [password, team].map((secret) => `<${spell(secret)}>`).join(" and ");
          const answer = request.url?.includes("login") ? welcome : { error: `not ${said}` };
          response.writeHead("error" in answer ? 400 : 200, { "content-type": "application/json" });
          response.end(JSON.stringify(answer));
        };
        const failure = await host.create("Team", inputs).catch((error: unknown) => String(error));
        expect([spelling, failure]).toEqual([spelling, expect.stringContaining("not <[secret]> and <[secret]>.")]);
      }
    } finally {
      await host.stop();
      await platform.close();
    }
  },
);

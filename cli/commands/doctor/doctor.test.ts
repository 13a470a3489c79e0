import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createEmulator, type Emulator } from "../../../emulator/index.ts";
import { setConfig, Workspace, type Terminal } from "../../../engine/index.ts";
import { createClient } from "../../../platform/client/index.ts";
import { elsewhere, localhost } from "../../../platform/client/testing/certificates.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { always, at, Front, type Answering } from "../../../testing/harness/front.ts";
import { runDoctor, type DoctorOutcome } from "./doctor.ts";

const secrets = { password: "correct-horse", apiKey: "key-of-the-operator", other: "battery-staple" };
const account = { email: "ada@example.com", password: secrets.password };
const code = { Code: "text" as const };
const seed = {
  administrator: { id: "ada", ...account, apiKey: secrets.apiKey },
  tables: {
    regions: { fields: { ...code, Name: "text" as const } },
    twins: { fields: code },
    empty: { fields: code },
  },
};

let emulator: Emulator;
let folder: string;
let fronts: Front[];
/** Addresses by what stands for them. */
let places: [name: string, url: string][];
beforeAll(async () => {
  emulator = await createEmulator({ seed });
  fronts = [];
  for (const identity of [undefined, localhost, elsewhere]) fronts.push(await Front.start(emulator.url, identity));
  const gone = await createEmulator();
  await gone.close();
  const urls = [emulator.url, ...fronts.map(({ url }) => url), gone.url];
  places = urls.map((url, index) => [["<platform>", "<front>", "<secure>", "<other>", "<nobody>"][index] ?? "", url]);
  const client = createClient({ endpoint: emulator.url, ...account });
  const organizationID = "org-acme";
  await client.insertorganization({ organizationInfo: { _id: organizationID, name: "Acme" } });
  await client.insertteam({ teamInfo: { _id: "team-crew", organizationID, name: "Crew" }, adminID: "ada" });
  await client.insertmicroapprows({ microAppID: "regions", rows: [{ Code: "R1", Name: "one" }, { Code: "R2" }] });
  await client.insertmicroapprows({ microAppID: "twins", rows: ["A", "A", "B"].map((Code) => ({ Code })) });
  await client.close();
  folder = temporaryFolder();
  await writeFile(join(folder, "Pulumi.yaml"), 'name: crew\nruntime: nodejs\nbackend: { url: "file://." }\n');
  const stack = await (await workspace()).init("dev");
  const resource = (type: string, id: string, outputs: object): object => ({
    ...{ urn: `urn:pulumi:dev::crew::microapps:index:${type}::${id}`, type: `microapps:index:${type}`, id, outputs },
    ...{ custom: true, inputs: {}, dependencies: [], propertyDependencies: {}, initErrors: [], aliases: [] },
    ...{ additionalSecretOutputs: [], ignoreChanges: [], replaceOnChanges: [], hideDiff: [], stackTrace: [] },
    ...{ customTimeouts: {}, parent: "", provider: "", deletedWith: "", importID: "", created: "", modified: "" },
  });
  const resources = [
    resource("Organization", organizationID, { name: "Acme" }),
    resource("Team", "team-crew", { name: "Crew" }),
    resource("SeedRows", "seed", { table: "regions", key: ["Code"], labels: ["Code", "Name"] }),
  ];
  await stack.write({ resources: resources as never, operations: [], metadata: {} });
});
afterAll(async () => {
  for (const front of fronts) await front.close();
  await emulator.close();
});

const environmentOf = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...{ PULUMI_CONFIG_PASSPHRASE: "x", PULUMI_HOME: join(folder, "home"), HOME: folder },
  ...more,
});
const workspace = (): Promise<Workspace> => Workspace.open({ cwd: folder, environment: environmentOf() });

/** What differs from a stack where all is well. */
interface Case {
  /** Settings by key; undefined takes one away. */
  config?: Readonly<Record<string, string | undefined>>;
  environment?: NodeJS.ProcessEnv;
  /** The Environment file of the stack. */
  file?: string;
  tables?: string[];
  stack?: string;
  /** How the server before the platform answers. */
  answer?: Answering;
}

/** Looks, and holds what must always hold: one refused login at most, no change, no secret. */
async function look({ config = {}, environment, file = "seeds: {}\n", tables = [], stack = "dev", answer }: Case) {
  const own = await (await workspace()).stack("dev");
  const usual = { endpoint: answer ? "<front>" : "<platform>", ...account, organizationID: "org-acme" };
  for (const key of Object.keys(own.file.values())) own.file.set(key, undefined);
  for (const [key, text] of Object.entries<string | undefined>({ ...usual, ...config })) {
    if (text === undefined) continue;
    const value = places.reduce((written, [name, url]) => written.replace(name, url), text);
    const isSecret = ["password", "token", "apiKey"].includes(key);
    await setConfig(own, `microapps:${key}`, value, isSecret ? own.crypter : undefined);
  }
  await writeFile(join(folder, "dev.yaml"), file);
  for (const front of fronts) front.answer = answer ?? (() => false);
  const since = emulator.lastCall();
  const said: string[] = [];
  for (const json of [true, false]) {
    const output = new PassThrough();
    const streams = { input: new PassThrough(), output, errors: new PassThrough() };
    const terminal = { ...streams, environment: environmentOf(environment) } as unknown as Terminal; // as much as is used
    const options = { cwd: folder, color: "never" as const, table: tables, json, stack };
    said.push(String(await runDoctor(options, terminal, { timeoutMs: 2_000 })));
    said.push(places.reduce((seen, [name, url]) => seen.replaceAll(url, name), String(output.read())));
  }
  const calls = emulator.calls({ since });
  expect(calls.filter(({ mutating }) => mutating)).toEqual([]);
  expect(calls.filter(({ endpoint, status }) => endpoint === "login" && status >= 400).length).toBeLessThanOrEqual(2);
  for (const secret of Object.values(secrets)) expect(said.join("\n")).not.toContain(secret);
  const [status, json = "", , screen = ""] = said;
  const outcome = JSON.parse(json) as DoctorOutcome; // the command's own
  expect(String(outcome.status)).toBe(status);
  return { ...outcome, screen };
}

test("where all is well each of the twelve says so, and nothing is changed", async () => {
  const { findings, ...outcome } = await look({ config: { apiKey: secrets.apiKey } });
  const ids = ["reachable", "tls", "clock", "login", "apiKey", "wireNames", "tables", "labels", "pages", "userid"];
  expect(findings.map(({ id }) => id)).toEqual([...ids, "rights", "versions"]);
  expect(findings.filter(({ is }) => is !== "well")).toEqual([]);
  expect(outcome).toMatchObject({ version: 2, status: 0, stack: "dev", platform: "<platform>" });
});

const failure = (status: number, message: string): Answering => always(status, { status: "failure", message });
const page = (status: number, body: unknown, location = ""): Case => ({ answer: always(status, body, { location }) });
const endpoint = (name: string): Case => ({ config: { endpoint: name } });
const seeds = (text: string): Case => ({ file: `seeds: { r: { ${text} } }\n` });
const late: Answering = (request, response) => {
  response.setHeader("date", new Date(Date.now() - 5 * 3_600_000).toUTCString());
  const isKnown = request.headers["x-auth-token"] !== undefined || request.url?.endsWith("/login") === true;
  return isKnown ? false : failure(401, "You must be logged in")(request, response);
};

/** The check that finds it, what is the matter, what it says, and the exit status. */
test.each<[id: string, Case, seen: string, status?: 0 | 2 | 3]>([
  ["reachable", endpoint("<nobody>"), "Nothing listens at <nobody>."],
  ["reachable", page(302, "", "https://sso.example.com/x"), "a redirection to https://sso.example.com (HTTP 302)"],
  ["reachable", page(200, "<!doctype html><title>Welcome</title>"), 'the web page "Welcome" (HTTP 200)'],
  ["reachable", page(404, { detail: "Not Found" }), "<front> answers with other JSON (HTTP 404)"],
  ["reachable", page(502, "<html>Bad Gateway</html>"), "something that is not JSON (HTTP 502)"],
  ["reachable", { config: { endpoint: undefined } }, "No endpoint is configured"],
  ["reachable", { config: { password: undefined } }, "microapps:password is not set"],
  ["reachable", { config: { readonly: "true" } }, "microapps:readonly is not a setting; did you mean"],
  ["reachable", { environment: { PULUMI_CONFIG_PASSPHRASE: "y" } }, "Incorrect passphrase"],
  ["reachable", { stack: "dve" }, "No stack named 'dve' found; did you mean 'dev'?"],
  [
    "reachable",
    seeds("table: regions, kye: Code"),
    "Environment file dev.yaml has a problem: dev.yaml:1:31: unknown key",
  ],
  ["tls", endpoint("<secure>"), "The certificate of the platform is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)."],
  ["tls", endpoint("<other>"), "The certificate of the platform is not trusted"],
  ["tls", { ...endpoint("<secure>"), environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } }, "trusts every certificate"],
  ["clock", { answer: late }, "The clock of this machine is 5 hours ahead of the platform's."],
  ["login", { config: { password: secrets.other } }, "The platform refuses the login of ada@example.com: Login", 3],
  ["login", { config: { password: `${account.password}\n` } }, "The password begins or ends with white space", 3],
  [
    "login",
    { answer: at("/login", failure(401, "Account locked")) },
    "The platform accepts no login for now: Account",
    3,
  ],
  [
    "login",
    { answer: at("/login", always(200, { session: "abc" })) },
    "does not answer login as it should (badAnswer)",
  ],
  ["login", { config: { password: undefined, token: secrets.other, userID: "me" } }, "refuses the token of user me", 3],
  ["apiKey", { config: { apiKey: secrets.other } }, "The platform refuses the API key"],
  ["apiKey", { file: "apps: { a: { userEmail: ada@example.com, appPrompt: An app } }\n" }, "No API key is set"],
  ["wireNames", { answer: at("/storecopy", failure(404, "no")) }, "The platform calls storecopy otherwise: s3copy."],
  ["tables", seeds("table: region, key: Code, rows: [{ Code: A }]"), "There is no table region on the platform."],
  ["tables", { answer: at("/microappdata", failure(400, "No list")) }, "as it should (invalidRequest): No list."],
  ["tables", { answer: at("/microappdata", failure(403, "Not yours")) }, "as it should (forbidden): Not yours."],
  ["tables", { tables: ["empty:Code"] }, "empty has no rows that this account sees", 0],
  ["labels", seeds("table: regions, key: code, rows: [{ code: A }]"), 'has the label "code", which is in its key.'],
  ["labels", seeds("table: regions, key: Code, rows: [{ Code: A, Nmae: a }]"), 'has the label "Nmae".'],
  ["labels", { tables: ["twins:Code"] }, "Rows of table twins share 1 key."],
  ["rights", { config: { organizationID: "org-acne" } }, "There is no organization org-acne on the platform."],
  ["userid", { answer: at("/userid", failure(403, "switched off")) }, "the platform finds none: switched off.", 0],
])("%s: %j", async (id, one, seen, expected = 2) => {
  const { status, findings } = await look(one);
  expect(findings.find((each) => each.id === id)?.seen).toContain(seen);
  const broken = findings.find(({ is }) => is === "wrong");
  expect([broken?.id, status]).toEqual([expected === 0 ? undefined : id, expected]);
  for (const { is, because } of findings) if (is === "skipped") expect(because).toBe(broken?.title);
});

test("people see what was seen and what to do, in their columns", async () => {
  const { screen } = await look({ config: { organizationID: "Acme" }, tables: ["regions:code"] });
  expect(screen).toContain(`${"MEND  labels".padEnd(24)}No row of table regions has the label "code"`);
  expect(screen).toContain("--table: Code instead of code");
  expect(screen).toContain(`microapps config set microapps:organizationID org-acme -s dev -C ${folder}`);
  expect(screen).toMatch(/\n2 things have to be mended\. \d+ calls, none of which changes anything\.\n$/);
  expect(screen.split("\n").filter((line) => line.length > 100 && !/^ +microapps /.test(line))).toEqual([]);
});

test("without a project it says which variable to set", async () => {
  const environment = { HOME: tmpdir(), PULUMI_HOME: join(folder, "home") };
  const output = new PassThrough();
  const terminal = { input: new PassThrough(), output, errors: new PassThrough(), environment } as unknown as Terminal;
  expect(await runDoctor({ cwd: tmpdir(), color: "never", table: [], json: true }, terminal)).toBe(2);
  const { findings, calls } = JSON.parse(String(output.read())) as DoctorOutcome; // the command's own
  expect([findings[0]?.is, findings[0]?.mend, calls]).toEqual(["wrong", ["export MICROAPPS_ENDPOINT=…"], 0]);
});

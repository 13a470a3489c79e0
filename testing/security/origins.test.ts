import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import fc from "fast-check";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { parse } from "yaml";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import {
  certificateWarning,
  configuration,
  configure,
  warnOfCertificates,
} from "../../provider/pulumi/configuration.ts";
import { connect } from "../../provider/pulumi/platform.ts";
import { runCommand } from "../harness/commands.ts";
import { testThrough } from "../harness/drawn.ts";
import { here } from "../harness/inProcessPlugin.ts";
import * as testedKinds from "../harness/kinds.ts";
import { environmentOf, Project } from "../harness/project.ts";
import { ProviderHost, type TestedKind } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";
import { hostile, type Hostile } from "./hostile.ts";

// A credential belongs to an origin. An author of a pull request writes the stack's file, the program and the state; the
// pipeline has the environment. What the hostile server wrote down judges. And no value of the configuration stands in an
// error, under whatever key its author puts it.

const email = "robot@example.com";
const pipeline = { password: "password-of-the-pipeline", apiKey: "key-of-the-pipeline" };
const own = { email: "ada@example.com", password: "password-of-the-author", apiKey: "key-of-the-author" };

let enemy: Hostile;
let platform: Emulator;
beforeEach(async () => {
  enemy = await hostile();
  platform = await createEmulator({ seed: { administrator: { email, ...pipeline } } });
});
afterEach(async () => {
  await enemy.close();
  await platform.close();
});

type Where = "platform" | "enemy";
/** Where each thing comes from. */
interface Case {
  variables: { endpoint: boolean; account: boolean; allowed: boolean; readOnly: boolean };
  said: {
    endpoint: Where | undefined;
    account: boolean;
    sameUser: boolean;
    movedFrom: boolean;
    readOnly: boolean | undefined;
  };
  explicit: boolean;
}

const cases: fc.Arbitrary<Case> = fc.record({
  variables: fc.record({
    endpoint: fc.boolean(),
    account: fc.boolean(),
    allowed: fc.boolean(),
    readOnly: fc.boolean(),
  }),
  said: fc.record({
    endpoint: fc.constantFrom("platform" as const, "enemy" as const, undefined),
    account: fc.boolean(),
    sameUser: fc.boolean(),
    movedFrom: fc.boolean(),
    readOnly: fc.constantFrom(true, false, undefined),
  }),
  explicit: fc.boolean(),
});

/** Settings under `microapps:`, without that prefix. */
const ownSettings = (config: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(config).map(([key, value]) => [key.replace("microapps:", ""), value]));

const urlOf = (where: Where): string => (where === "platform" ? platform.url : enemy.url);

/** The environment and the branch's settings, with the platform as the pipeline's. */
function written({ variables, said, explicit }: Case) {
  const environment: Record<string, string> = {};
  if (variables.endpoint) environment["MICROAPPS_ENDPOINT"] = platform.url;
  if (variables.account) {
    Object.assign(environment, {
      MICROAPPS_EMAIL: email,
      MICROAPPS_PASSWORD: pipeline.password,
      MICROAPPS_API_KEY: pipeline.apiKey,
    });
  }
  if (variables.allowed) environment["MICROAPPS_ALLOWED_ENDPOINTS"] = `https://x.example.com, ${platform.url}/`;
  if (variables.readOnly) environment["MICROAPPS_READ_ONLY"] = "true";
  const config: Record<string, string> = {};
  if (said.endpoint) config["microapps:endpoint"] = urlOf(said.endpoint);
  if (said.account) for (const [key, value] of Object.entries(own)) config[`microapps:${key}`] = value;
  if (said.account && said.sameUser) config["microapps:email"] = email;
  if (said.movedFrom) config["microapps:movedFrom"] = platform.url;
  if (said.readOnly !== undefined) config["microapps:readOnly"] = String(said.readOnly);
  if (explicit) config["microapps:explicitProvider"] = "true";
  return { environment, config };
}

/** Checks for secrets that the enemy must not have. */
function judged({ variables, said }: Case): void {
  const log = enemy.log.join("\n");
  for (const secret of [...Object.values(pipeline), ...(said.sameUser ? [] : [email])])
    expect(log).not.toContain(secret);
  if (variables.allowed) expect(enemy.log).toEqual([]);
  if (variables.readOnly) expect(log).not.toMatch(/insert|update|delete|create/);
}

test("no credential of the environment comes to another origin, wherever anything else comes from", async () => {
  let arrived = 0;
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      enemy.log.length = 0;
      const { environment, config } = written(one);
      const since = platform.lastCall();
      try {
        const settings = configure(ownSettings(config), environment, one.explicit);
        const { client, close } = await connect(settings, process.cwd());
        await client.readorganization({ organizationID: "acme" }).catch(() => undefined);
        await client.insertorganization({ organizationInfo: { name: "Acme" } }).catch(() => undefined);
        await close();
      } catch {
        expect(platform.calls({ since })).toEqual([]);
      }
      judged(one);
      if (one.variables.readOnly) expect(platform.calls({ since, mutating: true })).toEqual([]);
      arrived += platform.calls({ since }).length;
    }),
    { numRuns: 150 },
  );
  expect(arrived).toBeGreaterThan(0); // who is entitled does come through
});

const nothing: Case = {
  variables: { endpoint: false, account: true, allowed: false, readOnly: false },
  said: { endpoint: "enemy", account: false, sameUser: false, movedFrom: false, readOnly: undefined },
  explicit: false,
};
const attacks: [string, Case][] = [
  ["another endpoint in the stack", nothing],
  [
    "another endpoint in the stack, as if the platform had moved",
    { ...nothing, said: { ...nothing.said, movedFrom: true } },
  ],
  ["an explicit provider with another endpoint", { ...nothing, explicit: true }],
  [
    "an explicit provider beside the pipeline's own platform",
    { ...nothing, variables: { ...nothing.variables, endpoint: true }, explicit: true },
  ],
  [
    "an explicit provider with credentials of its own, where only the platform is allowed",
    {
      variables: { ...nothing.variables, allowed: true },
      said: { ...nothing.said, account: true },
      explicit: true,
    },
  ],
];

/** A kind of provider whose process finds these variables. */
const withEnvironment = (providerKind: TestedKind, environment: Readonly<Record<string, string>>): TestedKind => ({
  ...providerKind,
  environment: { ...providerKind.environment, ...environment },
});

/** Everything that an engine asks of a provider about one organization that the platform has. */
async function everything(providerKind: TestedKind, config: Record<string, string>): Promise<string> {
  const said: string[] = [];
  const note = (error: unknown): void => void said.push(String(error));
  const host = await ProviderHost.start(providerKind, config).catch(note);
  if (!host) return said.join("\n");
  const state = { name: "Acme", platform: platform.url };
  const inputs = host.providerKind.given("Organization", host.urn("Organization"), { name: "Acme" });
  await host.check("Organization", { name: "Acme" }).catch(note);
  await host.diff("Organization", "acme", { ...inputs, ...state }, inputs).catch(note);
  await host.read("Organization", "acme", { ...inputs, ...state }).catch(note);
  await host.create("Organization", inputs).catch(note);
  await host.update("Organization", "acme", { ...inputs, ...state }, inputs).catch(note);
  await host.delete("Organization", "acme", { ...inputs, ...state }).catch(note);
  const app = { userEmail: "ada@example.com", appPrompt: "An app" };
  await host.create("GeneratedApp", host.providerKind.given("GeneratedApp", host.urn("GeneratedApp"), app)).catch(note);
  await host.stop();
  return [...said, ...host.told, host.printed].join("\n");
}

const keys = configuration.keyof().options;
const marker = "horsebattery";
/** Forms of a value that was moved: each gets further with some key. */
const forms: Readonly<Record<string, readonly string[]>> = {
  endpoint: [marker, `https://${marker} x`, `https://platform.example.com/${marker}`, `emulator:?seed=${marker}`],
  wireNames: [`{ "${marker}": "${marker}" }`],
  email: [`${marker}@example.com`],
  movedFrom: [`https://platform.example.com/${marker}`],
};
/** Quoted where they came in clear, since people mistype them and none is a credential. A ciphertext is refused before. */
const quotedInClear = ["organizationID", "appServer", "profile"];

describe.each(Object.values(testedKinds))("with the $name provider:", (providerKind) => {
  const test = testThrough(providerKind.name);
  test.each(attacks)("%s gets nothing, and the error says what to set", async (_, one) => {
    const { environment, config } = written(one);
    const said = await everything(withEnvironment(providerKind, environment), config);
    judged(one);
    expect(enemy.log).toEqual([]);
    expect(said).toContain("MICROAPPS_ALLOWED_ENDPOINTS");
    expect(said).not.toContain(enemy.url);
  });

  test("credentials of the environment count for an explicit provider of the same origin", async () => {
    const same: Case = { ...nothing, said: { ...nothing.said, endpoint: "platform" }, explicit: true };
    const { environment, config } = written({ ...same, variables: { ...same.variables, endpoint: true } });
    const host = await ProviderHost.start(withEnvironment(providerKind, environment), config);
    const inputs = host.providerKind.given("Organization", host.urn("Organization"), { name: "Acme" });
    const { id } = await host.create("Organization", inputs);
    await host.stop();
    expect(id).not.toBe("");
  });

  test("what the environment forbids no explicit provider allows", async () => {
    const said = { endpoint: "platform" as const, account: false, sameUser: false, movedFrom: false, readOnly: false };
    const variables = { endpoint: true, account: true, allowed: true, readOnly: true };
    const { environment, config } = written({ variables, said, explicit: true });
    expect(await everything(withEnvironment(providerKind, environment), config)).toContain("readOnly");
    expect(platform.calls({ mutating: true })).toEqual([]);
  });

  test("http:// to another machine needs insecure, and says so before anything is sent", async () => {
    const config = { "microapps:endpoint": "http://platform.example.com", ...toKeys({ ...own, email }) };
    expect(await everything(providerKind, config)).toContain("set microapps:insecure to true");
    const allowed = { ...config, "microapps:insecure": "true", "microapps:readOnly": "true" };
    const host = await ProviderHost.start(providerKind, allowed);
    const { problems } = await host.check("Organization", { name: "Acme" });
    await host.stop();
    expect(problems).toEqual([]);
  });
});

test.each(keys.filter((key) => !quotedInClear.includes(key)))(
  "nothing that stands under microapps:%s is quoted",
  async (key) => {
    for (const form of forms[key] ?? [marker]) {
      const sound = { "microapps:endpoint": platform.url, ...toKeys({ email, ...pipeline }) };
      const said = await everything(here, { ...sound, [`microapps:${key}`]: form });
      expect(said).not.toContain(marker);
    }
  },
);

const toKeys = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`microapps:${key}`, value]));

const kinds = {
  "with files alone": (config: Record<string, string>) => Project.declaring(config),
  "with a program": (config: Record<string, string>) =>
    Project.running(
      'import { Organization } from "pulumi-microapps"; new Organization("acme", { name: "Acme" });',
      config,
    ),
};
test.each(Object.entries(kinds))(
  "a ciphertext that was moved to any key is printed by no command, %s",
  async (kind, open) => {
    const hasProgram = kind === "with a program";
    const project = await open({ "microapps:endpoint": platform.url, "microapps:email": email });
    try {
      await project.write("dev.yaml", "organizations: { acme: { name: Acme } }\n");
      await project.succeed("stack init dev");
      await project.succeed("config set microapps:password --secret", pipeline.password);
      await project.succeed("config set shop:moved --secret", marker);
      const before = parse(await project.read("Pulumi.dev.yaml")) as { config: Record<string, unknown> };
      for (const key of hasProgram ? (["endpoint"] as const) : keys) {
        const config = { ...before.config, [`microapps:${key}`]: before.config["shop:moved"] };
        await project.write("Pulumi.dev.yaml", JSON.stringify({ ...before, config }));
        const since = platform.lastCall();
        for (const command of ["preview", ...(key === "endpoint" ? ["api readorganization"] : [])]) {
          const { status, output } = await project.run(command);
          expect(`${key}: ${output}`).not.toContain(marker);
          if (key !== "endpoint") continue;
          expect([status === 0, platform.calls({ since })]).toEqual([false, []]);
          // A run of files has its settings from the engine, without what was a secret.
          const knows = hasProgram || command !== "preview";
          expect(output).toContain(
            `microapps:endpoint ${knows ? "is a secret in the configuration" : "must be an address"}`,
          );
        }
      }
    } finally {
      await project.remove();
    }
  },
);

const struct = (properties: object) => structProto.Struct.fromJavaScript(properties as Record<string, never>); // JSON
const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

test.each(quotedInClear)(
  "of a secret under %s, which engines tell the plugin apart, nothing is quoted",
  async (key) => {
    const stage = await Stage.set({}, {}, here);
    try {
      const { id, outputs } = await stage.create("Organization", { name: "Acme" });
      const args = { endpoint: stage.emulator.url, email: "admin@example.com", password: secret("correct-horse") };
      const request = new providerProto.ConfigureRequest().setArgs(struct({ ...args, [key]: secret("our secret") }));
      const said: string[] = [];
      const note = (error: unknown): void => void said.push(String(error));
      await stage.host.ask((client, done) => client.configure(request, done)).catch(note);
      await stage.host.check("Organization", { name: "Acme" }).catch(note);
      await stage.host.read("Organization", id, outputs).catch(note);
      expect(said.join()).toContain(`microapps:${key}`);
      expect([...said, ...stage.host.told, stage.host.printed].join()).not.toContain("our secret");
    } finally {
      await stage.clear();
    }
  },
);

test("where every certificate is believed each run warns of it", async () => {
  const outputOf = async (environment: Record<string, string>): Promise<string> =>
    (await runCommand({ words: ["api"], folder: ".", environment: environmentOf(environment) })).output;
  expect(await outputOf({ NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toContain(`warning: ${certificateWarning}`);
  expect(await outputOf({})).not.toContain("NODE_TLS");
  const texts: string[] = [];
  const report = () => ({ warning: (text: string) => void texts.push(text) });
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  for (let times = 0; times < 2; times++) warnOfCertificates(report);
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  expect(texts).toEqual([certificateWarning]);
});

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { configure } from "../../provider/pulumi/configuration/configuration.ts";
import { connect } from "../../provider/pulumi/platform.ts";
import { testInLong, testThrough } from "../harness/drawn.ts";
import * as testedKinds from "../harness/kinds.ts";
import { Project } from "../harness/project.ts";
import { ProviderHost, type TestedKind } from "../harness/providerHost.ts";
import { hostile, type Hostile } from "./hostile.ts";

// An author of a pull request writes the stack's file, the program and the state; the pipeline has the environment. What
// the hostile server wrote down judges.

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
  await host.stop();
  return [...said, ...host.told, host.printed].join("\n");
}

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

  testInLong("what stands under the endpoint is quoted by no error", async () => {
    const moved = "correct horse battery staple";
    for (const endpoint of [moved, `emulator:?seed=${moved}`, `emulator:a.db?${moved}`, `https://${moved}`]) {
      const said = await everything(providerKind, { "microapps:endpoint": endpoint, ...toKeys({ ...own, email }) });
      expect(said).toContain("endpoint");
      expect(said).not.toContain("horse");
    }
  });
});

const toKeys = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`microapps:${key}`, value]));

test("a ciphertext that was moved to a key in clear is refused by key, in a program and by api", async () => {
  const moved = "correct-horse-battery";
  const program = `
import { getTeam, Organization } from "pulumi-microapps";
new Organization("acme", { name: "Acme" });
`;
  const project = await Project.running(program, { "microapps:email": email });
  try {
    await project.succeed("stack init dev");
    await project.succeed("config set microapps:password --secret", pipeline.password);
    await project.succeed("config set microapps:endpoint --secret", moved);
    for (const command of ["preview", "api readorganization"]) {
      const { status, output } = await project.run(command);
      expect(status).not.toBe(0);
      expect(output).toContain("microapps:endpoint is a secret in the configuration");
      expect(output).not.toContain(moved);
    }
    expect(platform.calls()).toEqual([]);
  } finally {
    await project.remove();
  }
});

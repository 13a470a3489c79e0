import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { hashPassword } from "../../emulator/data/hashing.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { testInLong } from "../harness/drawn.ts";
import { temporaryFolder } from "../harness/folders.ts";
import { plugin } from "../harness/kinds.ts";
import { configOf, Project } from "../harness/project.ts";
import { ProviderHost, type TestedKind, type Properties } from "../harness/providerHost.ts";

// A renewed password never locks out.

const email = "admin@example.com";
const [first, renewed, wrong] = ["correct-horse", "battery-staple", "neither-of-them"];

let folder: string;
let emulator: Emulator;
beforeEach(async () => {
  folder = temporaryFolder();
  emulator = await createEmulator({
    data: join(folder, "platform.db"),
    seed: { administrator: { email, password: first } },
  });
});
afterEach(async () => {
  await emulator.close();
});

/** Renews the password on the platform: the one before is worth nothing any more, and nobody is logged in. */
function renew(): void {
  const database = new DatabaseSync(join(folder, "platform.db"), { timeout: 5_000 });
  database.prepare("UPDATE users SET password = ? WHERE email = ?").run(hashPassword(renewed), email);
  database.exec("DELETE FROM sessions");
  database.close();
}

/** Message for every later failure after the first one of a login. */
const refusedLogin = "not done, since the platform refuses the login, as is said once in this run.";

const struct = (properties: Properties) => structProto.Struct.fromJavaScript(properties as Record<string, never>);
const settings = (password: string): Record<string, string> => ({ endpoint: emulator.url, email, password });

/** Problems that the check of a provider finds in new inputs. */
async function refusals(host: ProviderHost, name: string, olds: Properties, news: Properties): Promise<string[]> {
  const request = new providerProto.CheckRequest()
    .setUrn(`urn:pulumi:dev::tests::pulumi:providers:microapps::${name}`)
    .setOlds(struct(olds))
    .setNews(struct(news));
  const answer = await host.ask<InstanceType<typeof providerProto.CheckResponse>>((client, done) =>
    client.checkConfig(request, done),
  );
  return answer.getFailuresList().map((failure) => `${failure.getProperty()}${failure.getReason()}`);
}

const started = (
  password: string,
  explicit: boolean,
  environment: Readonly<Record<string, string>> = {},
  { environment: own, ...providerKind }: TestedKind = plugin,
) => {
  const config = Object.entries(settings(password)).map(([key, value]) => [`microapps:${key}`, value]);
  return ProviderHost.start(
    { ...providerKind, environment: { ...own, ...environment } },
    {
      ...(Object.fromEntries(config) as Record<string, string>), // just made of pairs
      ...(explicit ? { "microapps:explicitProvider": "true" } : {}),
    },
  );
};

describe.each([
  ["the default provider", "default", false],
  ["an explicit provider", "own", true],
])("%s of the plugin", (_, name, explicit) => {
  test("tries new credentials once, and says so when they are refused", async () => {
    const host = await started(first, explicit);
    try {
      const check = (olds: Properties, password: string) => refusals(host, name, olds, settings(password));
      expect(await check(settings(first), first)).toEqual([]);
      const refused = [
        expect.stringMatching(/^the platform refuses the login, and the state keeps the one that it has: login:/),
      ];
      expect(await check(settings(first), wrong)).toEqual(refused);
      // Nothing was made yet, or nobody answers: a preview is offline.
      expect(await check({}, wrong)).toEqual([]);
      const at = (endpoint: string, password = wrong) => ({ ...settings(password), endpoint });
      const [nobody, other] = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
      expect(await refusals(host, name, at(nobody, first), at(nobody))).toEqual([]);
      // Saved, it would be what each later run reads the resources with.
      const elsewhere = `it belongs to the platform ${nobody}, and the configuration says ${other}: nothing was sent.`;
      expect(await refusals(host, name, at(nobody), at(other))).toEqual([expect.stringContaining(elsewhere)]);
      expect(await refusals(host, name, at(nobody), { ...at(other), movedFrom: nobody })).toEqual([]);
      renew();
      // Unchanged, and refused all the same: "unchanged" would be a lie about what was looked at.
      expect(await check(settings(first), first)).toEqual(refused);
      expect(await check(settings(first), renewed)).toEqual([]);
      const calm = { ...settings(first), driftOnPreview: "false" };
      expect(await refusals(host, name, calm, calm)).toEqual([]);
      expect((await check(settings(first), wrong)).join()).not.toContain(wrong);
    } finally {
      await host.stop();
    }
  });

  (explicit ? testInLong : test)(
    "with a login that was revoked leaves the state as it is, says so, and goes on with the environment's",
    async () => {
      const host = await started(first, explicit);
      const { id, outputs } = await host.create("Organization", { name: "Acme" });
      await host.stop();
      renew();

      const locked = await started(first, explicit);
      try {
        const read = await locked.read("Organization", id, outputs, { name: "Acme" });
        expect(read).toEqual({ id, outputs, inputs: { name: "Acme" } });
        expect(locked.told).toEqual([
          expect.stringMatching(
            /^warning: the platform refuses the login that the state remembers: what was changed by hand was not looked for/,
          ),
        ]);
        // An import has no state that could stay.
        await expect(locked.import("Organization", id)).rejects.toThrow(refusedLogin);
        await expect(locked.destroy("Organization", id, outputs)).rejects.toThrow("Login failed"); // another process
        const updating = locked.update("Organization", id, outputs, { name: "Acme & Co" });
        await expect(updating).rejects.toThrow(refusedLogin);
      } finally {
        await locked.stop();
      }

      const environment = {
        MICROAPPS_ALLOWED_ENDPOINTS: emulator.url,
        MICROAPPS_EMAIL: email,
        MICROAPPS_PASSWORD: renewed,
      };
      const unlocked = await started(first, explicit, environment);
      try {
        expect((await unlocked.read("Organization", id, outputs, { name: "Acme" })).outputs).toEqual(outputs);
        expect(unlocked.told).toEqual([]);
        await unlocked.destroy("Organization", id, outputs);
      } finally {
        await unlocked.stop();
      }
      expect(emulator.calls({ mutating: true }).map(({ endpoint }) => endpoint)).toEqual([
        "insertorganization",
        "deleteorganization",
      ]);
    },
  );
});

test("under the embedded engine a renewed password locks nobody out, and a wrong one is never saved", async () => {
  const project = await Project.declaring(configOf(emulator, { email, password: first }));
  try {
    await project.write("dev.yaml", "organizations: { acme: { name: Acme } }\n");
    await project.succeed("stack init dev");
    await project.succeed("up --yes --skip-preview");
    renew();
    const unchanged = await project.run("preview");
    expect(unchanged.status).not.toBe(0);
    expect(unchanged.output).toContain("the platform refuses the login");

    await project.succeed("config set microapps:password", wrong);
    const refused = await project.run("up --yes --skip-preview");
    expect(refused.status).not.toBe(0);
    expect(refused.output).toContain("the platform refuses the login");
    expect(await project.stateText()).not.toContain(wrong);

    await project.succeed("config set microapps:password", renewed);
    expect(await project.succeed("preview")).toContain("what was changed by hand was not looked for");
    await project.succeed("up --yes --skip-preview");
    expect(await project.succeed("preview --expect-no-changes")).not.toContain("was not looked for");
    await project.succeed("destroy --yes --skip-preview");
  } finally {
    await project.remove();
  }
});

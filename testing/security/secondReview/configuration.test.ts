import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { createEmulator, type Emulator } from "../../../emulator/index.ts";
import { configuration } from "../../../provider/pulumi/configuration/configuration.ts";
import { testThrough, partOf } from "../../harness/drawn.ts";
import * as testedKinds from "../../harness/kinds.ts";
import { Project } from "../../harness/project.ts";
import { ProviderHost, type TestedKind } from "../../harness/providerHost.ts";

// "A ciphertext moved to microapps:door was printed in clear": no value of the configuration stands in an error, under
// whatever key the author of a branch puts it.

const keys = configuration.keyof().options;
const marker = "horsebattery";
/** Forms of the moved secret: each form gets further with some key. */
const forms: Readonly<Record<string, readonly string[]>> = {
  endpoint: [`https://platform.example.com/${marker}`, `emulator:?seed=${marker}`],
  wireNames: [`{ "${marker}": "${marker}" }`],
  email: [`${marker}@example.com`],
  movedFrom: [`https://platform.example.com/${marker}`],
};
/** Quoted where they came in clear, since people mistype them and none is a credential. A ciphertext is refused before. */
const quotedInClear = ["organizationID", "appServer", "profile"];

let platform: Emulator;
beforeEach(async () => {
  platform = await createEmulator({
    seed: { administrator: { email: "ada@example.com", password: "password of ada" } },
  });
});
afterEach(() => platform.close());

const sound = (): Record<string, string> => ({
  "microapps:endpoint": platform.url,
  "microapps:email": "ada@example.com",
  "microapps:password": "password of ada",
});

/** All that an engine asks of a provider that gets the value in clear, as the host of dynamic resources does. */
async function said(providerKind: TestedKind, config: Record<string, string>): Promise<string> {
  const errors: string[] = [];
  const note = (error: unknown): void => void errors.push(String(error));
  const host = await ProviderHost.start(providerKind, config).catch(note);
  if (!host) return errors.join("\n");
  const inputs = host.providerKind.given("Organization", host.urn("Organization"), { name: "Acme" });
  await host.check("Organization", { name: "Acme" }).catch(note);
  const state = { ...inputs, name: "Acme", platform: "https://other.example.com#another" };
  await host.diff("Organization", "acme", state, inputs).catch(note);
  await host.read("Organization", "acme", state).catch(note);
  await host.create("Organization", inputs).catch(note);
  await host.update("Organization", "acme", state, inputs).catch(note);
  await host.delete("Organization", "acme", state).catch(note);
  const app = { userEmail: "ada@example.com", appPrompt: "An app" };
  await host.create("GeneratedApp", host.providerKind.given("GeneratedApp", host.urn("GeneratedApp"), app)).catch(note);
  await host.stop();
  return [...errors, ...host.told, host.printed].join("\n");
}

describe.each(Object.values(testedKinds))("a provider of the kind $name", (providerKind) => {
  const test = testThrough(providerKind.name);
  test.each(
    partOf(
      keys.filter((key) => !quotedInClear.includes(key)),
      0,
      3,
    ),
  )("quotes nothing that stands under microapps:%s", async (key) => {
    for (const form of forms[key] ?? [marker]) {
      const text = await said(providerKind, { ...sound(), [`microapps:${key}`]: form });
      expect(text).not.toContain(marker);
    }
  });
});

test("a ciphertext that was moved to any key is printed by no command", async () => {
  const program = `
import { Organization } from "pulumi-microapps";
new Organization("acme", { name: "Acme" });
`;
  const project = await Project.running(program, {
    "microapps:endpoint": platform.url,
    "microapps:email": "ada@example.com",
  });
  try {
    await project.succeed("stack init dev");
    await project.succeed("config set microapps:password --secret", "password of ada");
    await project.succeed("up --yes --skip-preview");
    const before = await project.read("Pulumi.dev.yaml");
    await project.succeed("config set shop:moved --secret", marker);
    const settings = parse(await project.read("Pulumi.dev.yaml")) as { config: Record<string, { secure?: string }> };
    const cipher = settings.config["shop:moved"];
    expect(cipher?.secure).toMatch(/^v1:/);
    for (const key of partOf(keys, 0)) {
      const own = parse(before) as { config: object };
      const moved = { ...own, config: { ...own.config, [`microapps:${key}`]: cipher } };
      await project.write("Pulumi.dev.yaml", JSON.stringify(moved));
      for (const command of [...quotedInClear, "providerKind"].includes(key)
        ? ["preview", "refresh --yes", "api readorganization"]
        : ["preview"]) {
        const { output } = await project.run(command);
        expect(`${key}: ${output}`).not.toContain(marker);
      }
    }
    await project.write("Pulumi.dev.yaml", before);
  } finally {
    await project.remove();
  }
});

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { drawnKinds, testInLong } from "../harness/drawn.ts";
import { Project, repository } from "../harness/project.ts";

const administrator = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };

const preambles = {
  dynamic: `import { GeneratedApp, Notification } from "pulumi-microapps";`,
  plugin: `import pulumi from "@pulumi/pulumi";
const declared = (type) => class extends pulumi.CustomResource {
  constructor(name, inputs, options) { super("microapps:index:" + type, name, { appID: undefined, ...inputs }, options); }
};
const [GeneratedApp, Notification] = ["GeneratedApp", "Notification"].map(declared);`,
};

const app = (name: string, more = "", options = "{}"): string =>
  `const app = new GeneratedApp("${name}", { userEmail: "admin@example.com", appPrompt: "An atlas."${more} }, ${options});`;
const mail = (name: string, more = "", options = "{}"): string =>
  `new Notification("${name}", { appID: app.appID, email: "ada@example.com", message: "Welcome"${more} }, ${options});`;

describe.each(drawnKinds("what can't be taken back"))(
  "what can't be taken back, with the %s provider:",
  (providerKind) => {
    let emulator: Emulator;
    let project: Project;
    beforeAll(async () => {
      emulator = await createEmulator({
        seed: { administrator, users: [{ email: "ada@example.com" }], settings: { generationSeconds: 0 } },
      });
      const config = {
        "microapps:endpoint": emulator.url,
        "microapps:email": administrator.email,
        "microapps:password": administrator.password,
        "microapps:apiKey": administrator.apiKey,
      };
      const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
      project = await Project.running("", config, providerKind === "plugin" ? { plugins } : {});
      await project.succeed("stack init dev");
    });
    afterAll(async () => {
      await project.remove();
      await emulator.close();
    });

    const write = (...lines: string[]): Promise<void> =>
      project.write("index.js", [preambles[providerKind], ...lines, ""].join("\n"));
    const done = (): number[] =>
      (["createappwithprompt", "sendnotification"] as const).map((endpoint) => emulator.calls({ endpoint }).length);
    const refused = async (words: RegExp): Promise<void> => {
      const before = done();
      for (const command of ["preview", "up --yes --skip-preview"]) {
        const { status, output } = await project.run(command);
        expect(output).toMatch(words);
        expect(status).not.toBe(0);
      }
      expect(done()).toEqual(before);
    };
    /** Has the next run replace a resource, as `pulumi state taint` does it, or takes that back. */
    const taint = async (name: string, taint = true): Promise<void> => {
      if (taint) await project.succeed("preview"); // which sees that the state has what was done
      const state = JSON.parse(await project.stateText()) as {
        features?: string[];
        checkpoint: { latest: { resources: { urn: string; taint?: boolean }[] } };
      };
      const resource = state.checkpoint.latest.resources.find(({ urn }) => urn.endsWith(`::${name}`));
      Object.assign(resource ?? {}, { taint });
      Object.assign(state, { version: 4, features: [...new Set([...(state.features ?? []), "taint"])] });
      await project.write(".pulumi/stacks/tests/dev.json", JSON.stringify(state));
    };

    test("a replacement by order and another name do nothing again, and a preview says so", async () => {
      await write(app("atlas"), mail("welcome"));
      await project.succeed("up --yes --skip-preview");
      expect(done()).toEqual([1, 1]);
      // An order for each.
      await taint("welcome");
      await refused(/message: is the same as before, and this run is to replace it/);
      await taint("welcome", false);
      await taint("atlas");
      await refused(/appPrompt: is the same as before, and this run is to replace it/);
      await taint("atlas", false);
      // Another name.
      await write(app("map"), mail("welcome"));
      await refused(/appPrompt: was generated as GeneratedApp "atlas", which the program does not declare so far/);
      await write(app("atlas"), mail("hello"));
      await refused(/message: was sent as Notification "welcome", which the program does not declare so far/);
      await write(app("atlas"), mail("hello", "", `{ aliases: [{ name: "welcome" }] }`));
      await project.succeed("up --yes --skip-preview");
      expect(done()).toEqual([1, 1]);
    });

    testInLong("and where it is asked for: each time once", async () => {
      await write(app("atlas"), mail("hello", ", again: true"));
      await project.succeed("up --yes --skip-preview");
      expect(done()).toEqual([1, 1]);
      for (const sent of [2, 3]) {
        await taint("hello");
        await project.succeed("up --yes --skip-preview");
        expect(done()).toEqual([1, sent]);
      }
      await write(app("atlas"), mail("greeting", ", again: true"));
      expect((await project.run("preview")).output).toContain("again: true: the same is sent a second time");
      await project.succeed("up --yes --skip-preview");
      expect(done()).toEqual([1, 4]);
      await write(app("atlas", ", again: true"), mail("greeting", ", again: true"));
      await project.succeed("up --yes --skip-preview");
      for (const generated of [2, 3]) {
        // The notification is about the new app: another one.
        await taint("atlas");
        await project.succeed("up --yes --skip-preview");
        expect(done()).toEqual([generated, 3 + generated]);
      }
      await project.isSettled(providerKind === "plugin");
      // Gone from the program and the state, it may be sent as something new.
      await write(app("atlas"));
      await project.succeed("up --yes --skip-preview");
      await write(app("atlas"), mail("welcome"));
      await project.succeed("up --yes --skip-preview");
      expect(done()).toEqual([3, 7]);
    });
  },
);

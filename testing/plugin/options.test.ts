import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient } from "../../platform/client/index.ts";
import { drawnFrom, sampleStories } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { configOf, Project, repository } from "../harness/project.ts";

const tables = { currencies: { fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };

/** Beginning of a program for each kind of provider. */
const heads = {
  dynamic: 'import * as sdk from "pulumi-microapps"; const make = (type, ...rest) => new sdk[type](...rest);',
  plugin: `import pulumi from "@pulumi/pulumi";
    class Resource extends pulumi.CustomResource {}
    const make = (type, ...rest) => new Resource("microapps:index:" + type, ...rest);`,
};

interface Edit {
  solo?: string;
  ada?: string;
  kay?: string;
  euro?: string;
  /** Options by the name of the resource. */
  options?: Readonly<Record<string, object>>;
  /** Further inputs by the name of the resource. */
  more?: Readonly<Record<string, object>>;
}

const program = ({
  solo = "Solo",
  ada = "admin",
  kay = "member",
  euro = "Euro",
  options = {},
  more = {},
}: Edit): string => `
const options = ${JSON.stringify(options)};
const more = ${JSON.stringify(more)};
make("Organization", "solo", { name: "${solo}", ...more.solo }, options.solo);
const { id: organizationID } = make("Organization", "acme", { name: "Acme" });
const { id: teamID } = make("Team", "crew", { organizationID, name: "Crew" });
const members = { "ada@example.com": "${ada}", "kay@example.com": "${kay}" };
make("TeamRoster", "roster", { teamID, members, ...more.roster }, options.roster);
const rows = [{ Code: "USD", Name: "Dollar" }, { Code: "EUR", Name: "${euro}" }, { Code: "10", Name: "Ten" }];
make("SeedRows", "currencies", { table: "currencies", key: "Code", rows, ...more.currencies }, options.currencies);
`;

describe.each(drawnFrom(["dynamic", "plugin"] as const, "options"))("with the %s provider", (providerKind) => {
  const test = sampleStories();
  let project: Project;
  let emulator: Emulator;
  // What is tried here is put right again, so that it is brought up once.
  beforeAll(async () => {
    emulator = await createEmulator({ seed: { tables } });
    const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
    project = await Project.running(heads[providerKind] + program({}), configOf(emulator), { plugins });
    await project.succeed("stack init dev");
    await project.succeed("up --yes --skip-preview");
  });
  afterAll(async () => {
    await endedCleanly(project, emulator);
  });
  const edit = (to: Edit): Promise<void> => project.write("index.js", heads[providerKind] + program(to));
  const changes = async (): Promise<string[]> =>
    (await project.steps("preview")).filter((step) => !step.startsWith("refresh")).toSorted();

  test("ignoreChanges keeps properties, parts of members and whole rows, and refuses parts of rows", async () => {
    const since = emulator.lastCall();
    const options = {
      solo: { ignoreChanges: ["name"] },
      roster: { ignoreChanges: ['members["ada@example.com"]'] },
      currencies: { ignoreChanges: ["rows"] },
    };
    await edit({ solo: "Other", ada: "member", euro: "Euroo", options });
    await project.succeed("preview --expect-no-changes");
    await edit({ euro: "Euroo", options: { currencies: { ignoreChanges: ['rows["EUR"].Name'] } } });
    const { status, output } = await project.run("up --yes --skip-preview");
    expect(status).toBe(1);
    expect(output).toContain(
      'ignoreChanges names rows["EUR"].Name, and a part of rows can\'t be ignored: set mode to "upsert", which removes no row, ' +
        'and leave a label out of the rows to leave its values alone, set mode to "insertOnly" to change no row that is there, or set onConflict to "keepLive"',
    );
    expect(output).not.toMatch(/^\s+at /m);
    expect(emulator.calls({ since, mutating: true })).toEqual([]);
  });

  test("what ignoreChanges names is not written back when something else changes, and no run sees a change in it", async () => {
    const client = createClient({ endpoint: emulator.url, email: "admin@example.com", password: "admin" });
    const ids = await project.state();
    const [organizationID = "", teamID = ""] = ["solo", "crew"].map((name) => ids.get(name)?.id);
    const people = async () => (await client.teammembers({ teamIDs: [teamID] })).teamMembers;
    const kay = (await people()).find(({ email }) => email === "kay@example.com");
    await client.updateorganization({ organizationID, organizationInfo: { name: "By hand" } });
    await client.updateteammember({ teamID, userID: kay?.userID ?? "", role: "admin" });
    const { microAppRows } = await client.microappdata({ microAppID: "currencies" });
    const euro = microAppRows.find(({ Code }) => Code === "EUR")?._id ?? "";
    await client.updatemicroapprow({ rowID: euro, rowData: { Name: "by hand" } });
    const options = {
      solo: { ignoreChanges: ["name"] },
      roster: { ignoreChanges: ['members["kay@example.com"]'] },
      currencies: { ignoreChanges: ["rows"] },
    };
    const more = { solo: { description: "More" }, roster: { maxRemovals: 0.5 }, currencies: { maxRemovals: 0.5 } };
    await edit({ options, more });
    const since = emulator.lastCall();
    await project.succeed("up --yes --skip-preview");
    const sent = emulator.calls({ since, mutating: true }).map(({ endpoint, request }) => [endpoint, request]);
    expect(sent).toMatchObject([["updateorganization", { organizationInfo: { description: "More" } }]]);
    expect(JSON.stringify(sent)).not.toContain("Solo");
    await project.succeed("preview --expect-no-changes");
    await project.succeed("refresh --yes --skip-preview");
    await project.succeed("preview --expect-no-changes");
    await edit({ options, more: { ...more, solo: { description: "Less" } } });
    await project.succeed("up --yes --skip-preview");
    expect((await client.readorganization({ organizationID })).organization).toMatchObject({ name: "By hand" });
    expect((await people()).map(({ role }) => role)).toEqual(["admin", "admin", "admin"]);
    // Without the option all of it is put right.
    await edit({});
    await project.succeed("up --yes --refresh --skip-preview");
    expect((await client.readorganization({ organizationID })).organization).toMatchObject({ name: "Solo" });
    await project.succeed("preview --expect-no-changes");
    await client.close();
  });

  if (providerKind === "plugin")
    test("replaceOnChanges replaces what changed at its paths, and what did not is updated or left", async () => {
      const elsewhere = { replaceOnChanges: ['members["ada@example.com"]', "mode"] };
      await edit({
        kay: "admin",
        solo: "Other",
        options: { roster: elsewhere, solo: { replaceOnChanges: ["adminID"] } },
      });
      expect(await changes()).toEqual(["update roster", "update solo"]);

      const options = {
        roster: { replaceOnChanges: ['members["kay@example.com"]'] },
        solo: { replaceOnChanges: ["*"] },
        currencies: { replaceOnChanges: ["rows"] },
      };
      await edit({ kay: "admin", solo: "Other", euro: "Euroo", options });
      const planned = await changes();
      expect(planned.filter((step) => step.startsWith("replace "))).toEqual([
        "replace currencies",
        "replace roster",
        "replace solo",
      ]);
      await edit({ options });
      await project.succeed("preview --expect-no-changes");
    });
  else
    test("options that no engine hands to a dynamic resource are refused where it is made", async () => {
      for (const [option, value] of Object.entries({ replaceOnChanges: ["*"], customTimeouts: { create: "5m" } })) {
        await edit({ options: { solo: { [option]: value } } });
        const { status, output } = await project.run("preview");
        expect(status).toBe(1);
        expect(output).toContain(
          `Organization "solo": the option ${option} does not reach dynamic resources: leave it out`,
        );
      }
    });
});

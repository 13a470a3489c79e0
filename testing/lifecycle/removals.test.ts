import { expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { applied } from "../harness/seeds/seeded.ts";

const tables = { regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const people = ["ada@example.com", "bob@example.com"] as const;

throughBothKinds({ tables, users: people.map((email) => ({ email })) }, (scene) => {
  const write = (...lines: string[]): Promise<void> =>
    writeFile(join(scene.host.folder, "prod.yaml"), ["removals: declared", ...lines, ""].join("\n"));
  const at = (...path: string[]) => ({ removal: { file: "prod.yaml", path } });
  const said = (what: string, line: string): string =>
    `prod.yaml has removals: declared, and no line for ${what}. Nothing was removed. If it is meant to leave, add: removed: { ${line} }`;
  /** Something is refused without a changing call. */
  const refused = async (work: () => Promise<unknown>, message: string): Promise<void> => {
    const calls = await scene.calls(() => expect(work()).rejects.toThrow(message));
    expect(calls).toEqual([]);
  };

  test("a team is deleted with its line, or with that of its organization, and replaced without", async () => {
    const { host } = scene;
    const organizationID = await scene.organization();
    const make = (name: string) => {
      host.resource = name;
      return scene.create("Team", { organizationID, name, ...at("teams", `acme/${name}`) });
    };
    const [ops, crew, sales] = [await make("ops"), await make("crew"), await make("sales")];
    await write("organizations: { acme: { name: Acme, teams: { sales: { name: Sales } } } }");
    const remove = ({ id, outputs }: typeof ops) => {
      host.resource = String(outputs["name"]);
      return host.destroy("Team", id, outputs);
    };
    await refused(() => remove(ops), said("team acme/ops", "teams: [acme/ops]"));
    await write("removed: { teams: [acme/ops] }");
    expect(await scene.calls(() => remove(ops))).toEqual(["deleteteam"]);
    await refused(() => remove(crew), said("team acme/crew", "teams: [acme/crew]"));
    await write("organizations: { acme: { name: Acme, teams: { sales: { name: Sales } } } }");
    expect(await scene.calls(() => remove(sales))).toEqual(["deleteteam"]);
    await write("extends: base.yaml", "seeds: {}");
    await writeFile(join(host.folder, "base.yaml"), "removed: { organizations: [acme] }\n");
    expect(await scene.calls(() => remove(crew))).toEqual(["deleteteam"]);
    await writeFile(join(host.folder, "prod.yaml"), "removed: { teams: ops }\n");
  });

  test("members leave with their lines, one by one and out of a roster", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const member = await scene.create("TeamMember", {
      teamID,
      email: people[0],
      ...at("members", "acme/crew", people[0]),
    });
    await write("organizations: {}");
    const line = `members: { acme/crew: [${people[0]}] }`;
    await refused(() => host.destroy("TeamMember", member.id, member.outputs), said("1 member of acme/crew", line));
    // The line may use the team's present name.
    const renamed =
      "organizations: { zenith: { name: Acme, formerly: acme, teams: { band: { name: B, formerly: crew } } } }";
    await write(renamed);
    await refused(() => host.destroy("TeamMember", member.id, member.outputs), said("1 member of acme/crew", line));
    await write(renamed, "removed: { members: { zenith/band: [ADA@example.com] } }");
    await host.destroy("TeamMember", member.id, member.outputs);

    const crew = { teamID, adopt: true, ...at("members", "acme/crew") };
    const roster = await scene.create("TeamRoster", {
      ...crew,
      members: { [people[0]]: "member", [people[1]]: "member" },
    });
    const { inputs } = await host.check("TeamRoster", { ...crew, members: { [people[1]]: "member" } }, roster.inputs);
    await write("organizations: {}");
    const missing = said("1 member of acme/crew", line);
    await refused(() => host.diff("TeamRoster", roster.id, roster.outputs, inputs), missing);
    await refused(() => host.update("TeamRoster", roster.id, roster.outputs, inputs), missing);
    await write(`removed: { members: { acme/crew: [${people[0]}] } }`);
    await host.diff("TeamRoster", roster.id, roster.outputs, inputs);
    const outputs = await host.update("TeamRoster", roster.id, roster.outputs, inputs);
    const all = said("1 member of acme/crew", `members: { acme/crew: [${people[1]}] }`);
    await refused(() => host.destroy("TeamRoster", roster.id, outputs), all);
    await write("removed: { teams: [acme/crew] }");
    await host.destroy("TeamRoster", roster.id, outputs);
  });

  test("rows leave with their lines, and a seed with its own", async () => {
    const { host, stage } = scene;
    const rows = ["N", "E", "yes"].map((Code) => ({ Code, Name: Code }));
    const seed = { table: "regions", key: "Code", maxRemovals: 1, ...at("seeds", "regions") };
    await write("organizations: {}");
    const made = await applied(stage, { ...seed, rows });
    const { inputs } = await host.check("SeedRows", { ...seed, rows: rows.slice(0, 1) }, made.inputs);
    const line = 'rows: { regions: [E, "yes"] }';
    await refused(() => host.diff("SeedRows", made.id, made.outputs, inputs), said("2 rows of seed regions", line));
    await refused(() => host.update("SeedRows", made.id, made.outputs, inputs), "no line for 2 rows of seed regions");
    await write("removed: { rows: { regions: [E] } }");
    const other = said("1 row of seed regions", 'rows: { regions: ["yes"] }');
    await refused(() => host.diff("SeedRows", made.id, made.outputs, inputs), other);
    await write('removed: { rows: { regions: [E, "yes"] } }');
    await host.diff("SeedRows", made.id, made.outputs, inputs);
    const outputs = await host.update("SeedRows", made.id, made.outputs, inputs);
    expect(outputs).toMatchObject({ rowCount: 1 });
    await host.diff("SeedRows", made.id, outputs, inputs);
    expect(host.told).toContain(
      'info: prod.yaml: rows under removed that are gone already: regions: [E, "yes"]. Delete these lines.',
    );

    const moved = await host.check("SeedRows", { ...seed, table: "others", rows: rows.slice(0, 1) }, inputs);
    await refused(() => host.diff("SeedRows", made.id, outputs, moved.inputs), "1 row leaving table regions");
    await refused(() => host.destroy("SeedRows", made.id, outputs), said("seed regions", "seeds: [regions]"));
    await write("removed: { seeds: [regions] }");
    await host.destroy("SeedRows", made.id, outputs);
    expect((await scene.client.microappdata({ microAppID: "regions" })).microAppRows).toEqual([]);
  });

  test("without the file, or without what it says of removals, nothing leaves", async () => {
    const { host } = scene;
    const made = await scene.create("Organization", { name: "Acme", ...at("organizations", "acme") });
    const remove = () => host.destroy("Organization", made.id, made.outputs);
    await refused(
      remove,
      "prod.yaml says what may be removed, and can't be read: can't be read: there is no such file",
    );
    await write("removed: { organizations: acme }");
    await refused(remove, "prod.yaml says what may be removed, and can't be read: correct removed");
    await write("removed: { organizations: [acme] }");
    await remove();
  });
});

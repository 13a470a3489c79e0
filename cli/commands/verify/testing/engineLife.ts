import { Project } from "../../../../testing/harness/project.ts";
import { account, type Stand } from "./stand.ts";

/** How a life ended: with nothing to do after each run, or with what `up` was refused by. */
type EngineLife = { refused: string } | { steps: string[] };

/** Rows and people as they are declared at first, and after a change. */
const declared = (isChanged: boolean, role: "admin" | "member"): string => {
  const codes = Array.from({ length: 30 }, (_, index) => `C${String(index).padStart(2, "0")}`);
  const currencies = (isChanged ? codes.slice(1) : codes).map((Code) => ({ Code, Digits: isChanged ? 3 : 2 }));
  const country = { Code: "CZ", Name: isChanged ? "" : "Česko", Population: 10, Currency: isChanged ? "C02" : "C01" };
  const cities = ["Brno", isChanged ? "Plzeň" : "Praha"].map((Name) => ({ Name, Run: String(isChanged), in: "CZ" }));
  const links = { references: { Currency: { table: "bed-currencies", key: "Code" } } };
  const people = isChanged ? { "other@example.com": "member" } : { "member@example.com": role };
  const description = isChanged ? "" : `, description: "A test."`;
  return `
import { Organization, SeedRows, Team, TeamRoster } from "pulumi-microapps";
const organization = new Organization("acme", { name: "Acme"${description} });
const team = new Team("crew", { organizationID: organization.id, name: "${isChanged ? "Crew 2" : "Crew"}"${description} });
new TeamRoster("roster", { teamID: team.id, members: ${JSON.stringify(people)} });
const seed = (name, args, ...dependsOn) => new SeedRows(name, args, { dependsOn });
const currencies = seed("currencies", ${JSON.stringify({ table: "bed-currencies", key: "Code", types: { Digits: "number" }, rows: currencies })});
const countries = seed("countries", ${JSON.stringify({ table: "bed-countries", key: "Code", types: { Population: "number" }, ...links, rows: [country] })}, currencies);
seed("cities", ${JSON.stringify({ table: "bed-cities", key: "Name", parent: { table: "bed-countries", key: "Code", by: "in" }, maxRemovals: 1, rows: cities })}, countries);
`;
};

/**
 * Lives with the engine on the platform of a stand, with the profile that verify has written there: up, a preview of
 * nothing, a change, a preview of nothing, destroy. A refused `up` is destroyed as well.
 */
export async function liveWithEngine(stand: Stand, profile: string, role: "admin" | "member"): Promise<EngineLife> {
  const project = await Project.running(declared(false, role), {
    "microapps:endpoint": stand.emulator.url,
    "microapps:email": account.email,
    "microapps:password": account.password,
    "microapps:profile": profile,
  });
  try {
    await project.write(profile, await stand.read(profile));
    await project.succeed("stack init dev");
    const up = await project.run("up --yes");
    if (up.status !== 0) {
      await project.succeed("destroy --yes");
      return { refused: up.output };
    }
    await project.succeed("preview --refresh --expect-no-changes");
    await project.write("index.js", declared(true, role));
    const steps = await project.steps("up --yes --skip-preview");
    await project.succeed("preview --refresh --expect-no-changes");
    await project.succeed("destroy --yes");
    return { steps };
  } finally {
    await project.remove();
  }
}

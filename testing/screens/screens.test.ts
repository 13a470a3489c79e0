import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, pages } from "../../platform/client/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { Project, repository } from "../harness/project.ts";
import { recorded, type Recording, screen } from "./recording.ts";

// Screens of a stack's life on terminals of two widths, on none and with --diff, and what other commands print. UPDATE_SCREENS=1 rewrites
// the texts: read them.
const places = [
  ["80 columns", { width: 80 }],
  ["120 columns", { width: 120 }],
  ["no terminal", { width: 120, interactive: false }],
] as const;
/** Shown with --diff as well: what is made, changed, added and removed, each property below its resource. */
const withDiff = ["create", "roster", "fileSeed", "repair"];
const diffs = ["no terminal, with --diff", { width: 120, interactive: false, diff: true }] as const;
const text = (name: string): string => join(repository, "testing/screens", `${name}.txt`);

const dev = `organizations:
  acme:
    name: Acme
    teams:
      crew:
        name: Crew
        description: Runs the place.
        roster: { members: { ada@example.com: admin, grace@example.com: member, kay@example.com: member } }
      support:
        name: Support
        members: { alan@example.com: admin }
seeds:
  countries: { table: countries, key: Code, source: countries.csv }
  offices:
    table: offices
    key: Name
    references: { Country: { seed: countries } }
    rows:
      - { Name: Lisbon, Country: PT, Desks: "12" }
      - { Name: Osaka, Country: JP, Desks: "8" }
`;
const countries = "Code,Name\nPT,Portugal\nKE,Kenya\nJP,Japan\nAT,Austira\n";
const offices = { Name: "text", Country: { type: "linked", table: "countries" }, Desks: "text" };
const tables = {
  countries: { fields: { Code: "text", Name: "text" } },
  offices: { fields: offices },
  branches: { fields: offices },
};

let project: Project;
let emulator: Emulator;
const recordings = new Map<string, Recording>();

/** Runs a command and keeps its events under a name. */
async function record(name: string, command: string, status = 0): Promise<void> {
  const ended = await project.run(command, "--json", "--parallel", "1");
  expect([name, ended.status]).toEqual([name, status]);
  recordings.set(name, recorded(ended.output));
}

const printed: string[] = [];
/** Keeps what commands print that have no screen of their own, without what differs from machine to machine. */
async function print(...commands: string[]): Promise<void> {
  for (const command of commands) {
    const { output, status } = await project.run(command);
    const steady = output
      .replaceAll(emulator.url, "https://platform.example.com")
      .replaceAll(/(plan sha256:)\S+|(as user )\w+|\b[0-9a-f]{12}\b|\d+\.\d+\.\d+/g, "$1$2<…>");
    printed.push(`$ microapps ${command}\n${steady}[ends with ${String(status)}]\n`);
  }
}

beforeAll(async () => {
  emulator = await createEmulator({ seed: { tables } });
  const account = { email: "admin@example.com", password: "admin" };
  project = await Project.declaring({}, { outputs: { teams: "${environment.teams}", seeds: "${environment.seeds}" } });
  Object.assign(project.environment, {
    MICROAPPS_ENDPOINT: emulator.url,
    MICROAPPS_EMAIL: account.email,
    MICROAPPS_PASSWORD: account.password,
  });
  const client = createClient({ endpoint: emulator.url, ...account });
  try {
    await project.write("dev.yaml", dev);
    await project.write("countries.csv", countries);
    await project.succeed("stack init dev");
    await record("create", "up --yes");

    const roster = "{ ada@example.com: admin, kay@example.com: admin, katherine@example.com: member }";
    await project.edit("dev.yaml", "name: Crew", "name: Core");
    await project.edit("dev.yaml", 'Desks: "8"', 'Desks: "9"');
    await record("preview", "preview");
    await record("update", "up --yes");
    await project.write(".gitignore", ".pulumi*\nnode_modules\npackage.json\n");
    await project.write("environments.yaml", "dev: { file: dev.yaml }\n");
    for (const words of ["init -q", "add -A", "-c user.name=Ada -c user.email=a@example.com commit -qm all"])
      execFileSync("git", words.split(" "), { cwd: project.folder });
    await project.edit("dev.yaml", /members: (\{ ada@.*? \}) \}/.exec(dev)?.[1] ?? "", roster);
    await record("roster", "up --yes");
    await project.write("countries.csv", countries.replace("Austira", "Austria").replace("KE,Kenya", "BR,Brazil"));
    await record("fileSeed", "up --yes");
    await project.edit("dev.yaml", "table: offices", "table: branches");
    await record("replace", "up --yes");

    const teamID = (await project.state()).get("environment/acme/crew")?.id ?? "";
    await client.updateteam({ teamID, teamInfo: { name: "By hand" } });
    for await (const rows of pages(client, { microAppID: "countries" })) {
      const of = (code: string): string => String(rows.find(({ Code }) => Code === code)?._id);
      await client.updatemicroapprow({ rowID: of("AT"), rowData: { Name: "By hand" } });
      await client.removemicroapprow({ rowID: of("BR") });
    }
    await print("doctor", "drift dev", "pull dev --dirty", "report --base HEAD");
    await print("-C fresh init --yes --environments dev,lab,live", "-C other init --yes");
    await record("drift", "refresh --yes");
    await record("repair", "up --yes");

    await project.write("countries.csv", countries.replaceAll("Name", "Nam").replace("KE,Kenya", "BR,Brazil"));
    await record("failure", "up --yes", 1);
    await record("destroy", "destroy --yes");
  } finally {
    await client.close();
  }
});
afterAll(async () => {
  await endedCleanly(project, emulator);
});

const names = ["create", "preview", "update", "roster", "fileSeed", "replace", "drift", "repair", "failure", "destroy"];
test.each(names)("%s", async (name) => {
  const recording = recordings.get(name) ?? [];
  const screens = [...places, ...(withDiff.includes(name) ? [diffs] : [])].map(([place, form]) => {
    const { text, overflowing } = screen(recording, form);
    const isPlain = stripVTControlCharacters(screen(recording, { ...form, color: true }).text) === text;
    expect([place, isPlain, text.length > 0, "interactive" in form ? [] : overflowing]).toEqual([
      place,
      true,
      true,
      [],
    ]);
    return `${"=".repeat(form.width)} ${place}\n${text}`;
  });
  await expectRecorded(name, screens.join("\n"));
});

test("commands", () => expectRecorded("commands", printed.join("\n")));

async function expectRecorded(name: string, all: string): Promise<void> {
  if (process.env["UPDATE_SCREENS"]) await writeFile(text(name), all);
  expect(all).toBe(await readFile(text(name), "utf8"));
}

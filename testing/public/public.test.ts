import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { rm } from "node:fs/promises";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { configOf, Project } from "../harness/project.ts";

// Kinds of data and of trouble that people reported of tools like this one in public, with data of our own: ten rows each.

const columns = Array.from({ length: 55 }, (_, at) => `Column${String(at)}`);
const scripts = ["Österreich", "Ελλάδα", "Україна", "مصر", "日本", "ประเทศไทย"];
const administrator = { email: "admin@example.com", password: "correct-horse" };
const people = Array.from({ length: 300 }, (_, at) => `person${String(at)}@example.com`);

let emulator: Emulator;
let client: Client;
let project: Project;
beforeAll(async () => {
  emulator = await createEmulator({
    seed: {
      administrator,
      users: [
        { id: "ada", email: "ada@example.com" },
        { id: "eve", email: "eve@example.com" },
        ...people.map((email) => ({ email })),
      ],
      tables: {
        countries: { fields: Object.fromEntries(["Code", ...columns].map((name) => [name, "text"])) },
        posts: { fields: { ID: "text", Text: "text", Likes: "number" } },
        rooms: { fields: { House: "text", Number: "text", Seats: "number" } },
        staff: { fields: { Name: "text", Boss: { type: "linked", table: "staff", field: "Name" } } },
      },
    },
  });
  client = createClient({ endpoint: emulator.url, ...administrator });
  project = await Project.declaring(configOf(emulator, administrator));
  await project.succeed("stack init dev");
});
afterAll(async () => {
  await client.close();
  await emulator.close();
  await endedCleanly(project);
});

const write = (declared: object): Promise<void> => project.write("dev.yaml", JSON.stringify(declared));
const live = async (microAppID: string) =>
  (await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 1000 }] })).microAppRows;
/** What a run sends that changes something. */
async function sent(command = "up --yes --skip-preview"): Promise<string[]> {
  const since = emulator.calls().at(-1)?.sequence ?? 0;
  await project.succeed(command);
  return emulator.calls({ since, mutating: true }).flatMap(({ endpoint }) => (endpoint === "login" ? [] : endpoint));
}
const crew = (members: object, more: object = {}): object => ({
  organizations: { acme: { name: "Acme", teams: { crew: { name: "Crew", members } } }, ...more },
});

test("a file of 56 columns and six scripts arrives as it is, and a second run sends nothing", async () => {
  const row = (name: string, at: number): string =>
    [`C${String(at)}`, ...columns.map((_, column) => (column % 9 === 8 ? "" : `"${name}, ${String(column)}"`))].join(
      ",",
    );
  await project.write("countries.csv", `﻿Code,${columns.join(",")}\r\n${scripts.map(row).join("\r\n")}\r\n`);
  await write({ seeds: { countries: { table: "countries", key: "Code", source: "countries.csv" } } });
  expect(await sent()).toHaveLength(2); // the first row, then the others
  expect((await live("countries")).map((one) => one["Column7"])).toEqual(scripts.map((name) => `${name}, 7`));
  expect(await sent()).toEqual([]);
});

test("IDs of 18 digits and emoji stay what they are; as a number such an ID is refused by its line", async () => {
  const ids = Array.from({ length: 10 }, (_, at) => `8924206435553361${String(at)}9`);
  await project.write("posts.csv", `ID,Text,Likes\n${ids.map((id) => `${id},"👩🏽‍🚀 is up 🇵🇹",7`).join("\n")}\n`);
  const posts = { table: "posts", key: "ID", source: "posts.csv", types: { Likes: "number" } };
  await write({ seeds: { posts } });
  await project.succeed("up --yes --skip-preview");
  expect((await live("posts")).map(({ ID, Text, Likes }) => [ID, Text, Likes])).toEqual(
    ids.map((id) => [id, "👩🏽‍🚀 is up 🇵🇹", 7]),
  );
  await write({ seeds: { posts: { ...posts, types: { Likes: "number", ID: "number" } } } });
  const { status, output } = await project.run("up --yes --skip-preview");
  expect([status, output]).toEqual([expect.any(Number), expect.stringContaining("posts.csv:2")]);
  expect(status).not.toBe(0);
});

test("of a key of two columns either part tells rows apart, and a changed part is another row", async () => {
  const rooms = (last: number) =>
    ["A", "B"].flatMap((House) => [1, 2, last].map((n) => ({ House, Number: String(n), Seats: n })));
  const seed = { table: "rooms", key: ["House", "Number"], types: { Seats: "number" }, maxRemovals: 1 };
  await write({ seeds: { rooms: { ...seed, rows: rooms(3) } } });
  await project.succeed("up --yes --skip-preview");
  await write({ seeds: { rooms: { ...seed, rows: rooms(4) } } });
  await project.succeed("up --yes --skip-preview");
  const names = (await live("rooms")).map(({ House, Number }) => `${String(House)}${String(Number)}`);
  expect(names.toSorted().join()).toBe("A1,A2,A4,B1,B2,B4");
  await write({ seeds: { rooms: { ...seed, rows: rooms(4).toReversed() } } });
  await project.succeed("preview --expect-no-changes"); // of rows in another order
});

test("rows that link to each other in a circle are added first and linked then, and go together", async () => {
  const names = ["Ada", "Bo", "Cy"];
  const links = names.map((Name, at) => ({ Name, Boss: names[(at + 1) % names.length] }));
  await write({
    seeds: {
      staff: { table: "staff", key: "Name", rows: names.map((Name) => ({ Name })), ignoreLabels: ["Boss"] },
      bosses: { table: "staff", key: "Name", mode: "updateOnly", references: { Boss: { seed: "staff" } }, rows: links },
    },
  });
  await project.succeed("up --yes --skip-preview");
  const linked = (await live("staff")).map(({ Name, Boss }) => ({
    Name,
    Boss: (Boss as { value: { value: string } }).value.value,
  }));
  expect(linked).toEqual(links);
  expect(await sent()).toEqual([]);
  await write({ organizations: {} });
  await project.succeed("up --yes --skip-preview");
  expect(await live("staff")).toEqual([]);
});

test("300 people join in a few calls, also when the platform says 429 in the middle", async () => {
  emulator.setFaults({ faults: [{ kind: "status", status: 429, after: 6, count: 3 }] });
  await write(crew({ "ada@example.com": "admin", ...Object.fromEntries(people.map((email) => [email, "member"])) }));
  expect((await sent()).length).toBeLessThan(40);
  emulator.setFaults();
  const teamID = (await project.state()).get("environment/acme/crew")?.id ?? "";
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  expect(teamMembers.length).toBeGreaterThanOrEqual(301);
  expect(await sent()).toEqual([]);
});

test("after the state was lost adopt takes everything over, and nothing is made twice", async () => {
  const declared = {
    organizations: {
      acme: {
        name: "Acme",
        adopt: true,
        teams: { crew: { name: "Crew", adopt: true, members: { "ada@example.com": "admin" } } },
      },
    },
    seeds: { posts: { table: "posts", key: "ID", rows: [{ ID: "lost", Text: "x" }], onDestroy: "delete" } },
  };
  await write(declared);
  await project.succeed("up --yes --skip-preview");
  const rows = await live("posts");
  await rm(project.stateFile);
  await project.succeed("stack init dev");
  await project.succeed("up --yes --skip-preview");
  expect(await live("posts")).toEqual(rows);
  expect(
    emulator
      .calls({ mutating: true })
      .filter(({ endpoint, failure }) => endpoint === "insertorganization" && failure === null),
  ).toHaveLength(1);
  expect(await sent()).toEqual([]);
});

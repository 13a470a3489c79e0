import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../emulator/index.ts";
import { createClient } from "../provider/client/index.ts";
import { leftRunning } from "./processes.ts";
import { Project } from "./project.ts";

// Each with characters that URLs, JSON and base64 spell otherwise.
const password = 'pass "word"/für+ada?&';
const apiKey = 'key \\of/the+operator"%';
const motto = 'motto "of the"/crew+ü?';
const pin = 'pin \\"4711"/+ä?&';
const prompt = 'An app about "project/ÿ+Q?"';

const program = `
import { secret } from "@pulumi/pulumi";
import { GeneratedApp, Organization, SeedRows, Team } from "pulumi-microapps";

const acme = new Organization("acme", { name: "Acme" });
new Team("crew", { organizationID: acme.id, name: "Crew", description: secret(${JSON.stringify(motto)}) });
new SeedRows("safes", { table: "safes", key: "Pin", rows: secret([{ Pin: ${JSON.stringify(pin)}, Doors: 2 }]) });
new SeedRows("doors", { table: "doors", key: "Name", rows: [{ Name: "front" }] });
new GeneratedApp("portal", { userEmail: "admin@example.com", appPrompt: secret(${JSON.stringify(prompt)}) });
`;

let project: Project;
let emulator: Emulator;
beforeEach(async () => {
  emulator = await createEmulator({
    seed: {
      administrator: { email: "admin@example.com", password, apiKey },
      tables: { safes: { fields: { Pin: "text", Doors: "number" } }, doors: { fields: { Name: "text" } } },
      settings: { generationSeconds: 0 },
    },
  });
  project = await Project.running(program, {
    "microapps:endpoint": emulator.url,
    "microapps:email": "admin@example.com",
  });
  await project.succeed("stack init dev");
});
afterEach(async () => {
  const left = await leftRunning(project.folder);
  await project.remove();
  await emulator.close();
  expect(left).toEqual([]);
});

/** The text of every file under a folder, by path. */
async function texts(folder: string): Promise<[string, string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (file): Promise<[string, string]> => [file, await readFile(file, "latin1").then(fromLatin)]),
  );
}

const fromLatin = (text: string): string => Buffer.from(text, "latin1").toString("utf8");

/** How a text may be spelled where it should not be. */
function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  // Inside of other text base64 begins at any of three places.
  const shifted = [0, 1, 2].map((shift) => bytes.subarray(shift, bytes.length - ((bytes.length - shift) % 3)));
  return [
    ...[secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret), encodeURI(secret)],
    ...[new URLSearchParams({ "": secret }).toString().slice(1), bytes.toString("hex")],
    ...shifted.flatMap((part) => [part.toString("base64"), part.toString("base64url")]),
  ];
}

/** Where secrets can be read: place and secret. */
const found = (places: readonly (readonly [string, string])[], secrets: readonly string[]): string[] =>
  places.flatMap(([place, text]) =>
    secrets
      .filter((secret) => spellings(secret).some((spelling) => text.includes(spelling)))
      .map((secret) => `${place}: ${secret}`),
  );

test("secrets are in no file and in no output, whatever is run and whatever goes wrong", async () => {
  const seen: [string, string][] = [];
  const run = async (status: number, command: string, ...flags: string[]): Promise<string> => {
    const ended = await project.run(command, ...flags);
    const files = (await texts(project.folder)).filter(([file]) => !file.endsWith("index.ts"));
    seen.push([`${command} ${flags.join(" ")}`, ended.output], ...files);
    expect(`${command} ${ended.status}: ${ended.output}`).toContain(`${command} ${status}`);
    return ended.output;
  };
  await project.succeed("config set microapps:password --secret", password);
  await project.succeed("config set microapps:apiKey --secret", apiKey);

  // The answer of the generation is lost, then the platform refuses a row.
  emulator.setFaults({ faults: [{ kind: "reset", commit: true, endpoint: "createappwithprompt" }] });
  expect(await run(1, "up --yes --skip-preview --diff")).toContain("did not arrive");
  const intents = join(project.folder, ".microapps/intents");
  expect(await readdir(intents)).toHaveLength(1);
  await rm(intents, { recursive: true });
  emulator.setFaults();
  await project.edit("index.ts", "Doors: 2", 'Doors: "two"');
  expect(await run(1, "up --yes --skip-preview --diff")).toContain("Doors must be a number");
  await project.edit("index.ts", '"two"', "2");
  await run(0, "up --yes --json");
  await project.edit("index.ts", 'name: "Crew"', 'name: "The crew"');
  await project.edit("index.ts", "motto ", "the motto ");
  await project.edit("index.ts", "Doors: 2", "Doors: 3");
  await run(0, "preview --diff");
  await run(0, "preview --json");
  await run(0, "refresh --yes --diff");
  await run(0, "up --yes --diff");
  await run(0, "stack export");
  await run(0, "stack output --json");
  await run(0, "config");

  const client = createClient({ endpoint: emulator.url, email: "admin@example.com", password, apiKey });
  const { authToken, userId } = await client.login({ email: "admin@example.com", password });
  await client.close();
  // Where credentials of the environment may go.
  project.environment["MICROAPPS_ALLOWED_ENDPOINTS"] = emulator.url;
  Object.assign(project.environment, { MICROAPPS_TOKEN: authToken, MICROAPPS_USER_ID: userId });
  await run(0, "refresh --yes");

  // A token and a password with which the platform knows nobody.
  const token = 'token/"of ada"+?&==';
  Object.assign(project.environment, { MICROAPPS_TOKEN: token });
  await run(1, "refresh --yes --json");
  Object.assign(project.environment, { MICROAPPS_TOKEN: undefined, MICROAPPS_USER_ID: undefined });
  project.environment["MICROAPPS_PASSWORD"] = `${password}!`;
  await run(1, "refresh --yes");
  project.environment["MICROAPPS_PASSWORD"] = undefined;
  const secrets = [password, apiKey, authToken, token, motto, pin, prompt];
  await run(0, "destroy --yes --diff");
  expect(new Set(found(seen, secrets))).toEqual(new Set());
  // Nor is what digests of rows are keyed with, which each seed has, also when its rows are no secret.
  expect(seen.filter(([, text]) => /"2:[\w-]{22}"/.test(text)).map(([place]) => place)).toEqual([]);
  // The search finds what is there.
  expect(found([["", await project.read("index.ts")]], secrets)).toHaveLength(3);
});

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sampleOf } from "../../../testing/harness/drawn.ts";
import { Front, type Answering } from "../doctor/testing/front.ts";
import { account, Stand } from "./testing/stand.ts";

// A platform that repeats whatever it is sent, and names people: nothing of it may stand where somebody reads it.

let stand: Stand;
let front: Front;
beforeAll(async () => {
  stand = await Stand.open();
  front = await Front.start(stand.emulator.url);
});
afterAll(async () => {
  await front.close();
  await stand.close();
});

const someone = "eve.adams@corp.test";

/** Repeats requests to all endpoints but those without which there is no run. */
const echo =
  (heard: Set<string>): Answering =>
  (request, response) => {
    const { "x-auth-token": token, "x-api-key": key } = request.headers;
    for (const each of [token, key]) if (typeof each === "string") heard.add(each);
    if (needed.some((name) => (request.url ?? "").split("?")[0]?.endsWith(`/${name}`))) return false;
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      const repeated = `${JSON.stringify(request.headers)} ${body} ${someone}\u001b[31m\n::error::x`;
      const answers = [
        { status: "failure", message: repeated },
        {
          status: "success",
          rowID: repeated,
          body: { currentRow: { _id: someone, Code: repeated, [someone]: token ?? null } },
        },
      ];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answers[body.length % 2]));
    });
    return true;
  };
const needed = [
  "login",
  "microappdata",
  "insertmicroapprow",
  "insertmicroapprows",
  "removemicroapprow",
  "insertorganization",
  "readorganization",
  "deleteorganization",
];

test("no token, key, password or address of a person stands in any text or journal, over all differences", async () => {
  const heard = new Set<string>();
  front.answer = echo(heard);
  const environment = { MICROAPPS_ENDPOINT: front.url, GITHUB_ACTIONS: "true" };
  let journals = "";
  const show = (): void => {
    const folder = join(stand.folder, "cache/pulumi-microapps/verify");
    journals =
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), "utf8"))
        .join("\n") || journals;
  };
  const runs = [
    await stand.verify({ writeProfile: "seen.yaml" }, { show }, environment),
    await stand.verify({ json: false }, { show }, environment),
  ];
  expect(runs[0]?.outcome?.differences.length).toBeGreaterThan(50);
  expect(journals).toContain('"made"');
  const tokens = [...heard].filter((each) => each.length > 12);
  expect(tokens.length).toBeGreaterThan(4);
  const written = [...runs.flatMap(({ output, errors }) => [output, errors]), journals, await stand.read("seen.yaml")];
  for (const secret of [
    ...tokens,
    account.password,
    account.apiKey,
    "member-password",
    someone,
    account.email,
    "member@example.com",
  ]) {
    for (const each of written) expect(each).not.toContain(secret);
  }
  for (const each of written) expect(each).not.toMatch(/\u001b|^::error/m);
});

test("the password of a helper stays hidden when the platform repeats it in an encoding", async () => {
  const encoded = Buffer.from("member-password").toString("base64");
  front.answer = (request, response) => {
    if (!request.url?.endsWith("/login")) return false;
    void text(request).then(async (body) => {
      response.setHeader("content-type", "application/json");
      if (body.includes("member-password")) {
        response.end(JSON.stringify({ status: "failure", message: `who is ${encoded}?` }));
        return;
      }
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${stand.emulator.url}${request.url ?? ""}`, { method: "POST", headers, body });
      response.end(await answer.text());
    });
    return true;
  };
  const run = stand.verify({}, {}, { MICROAPPS_ENDPOINT: front.url });
  await expect(run).rejects.toThrow("who is [secret]");
});

const refusals: [string, string, string][] = [
  ["a table", "/insertmicroapprow", ""],
  ["a second login", "/login", "member-password"],
];
test.each(sampleOf(refusals, 1))("a refusal of %s that ends the run hides what it repeats", async (_, path, person) => {
  const heard = new Set<string>();
  let logins = 0;
  front.answer = (request, response) => {
    const { "x-auth-token": token } = request.headers;
    if (typeof token === "string") heard.add(token);
    const isLogin = path === "/login";
    if (!request.url?.endsWith(path) || (isLogin && ++logins < 4)) return false;
    void text(request).then((body) => {
      const message = `${JSON.stringify(request.headers)} ${body} ${someone}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: "failure", message }));
    });
    return true;
  };
  const run = stand.verify({}, {}, { MICROAPPS_ENDPOINT: front.url });
  const failure = await run.then(
    () => "it did not end",
    (error: unknown) => String(error),
  );
  expect(failure).toContain("[secret]");
  expect(failure).toContain("[address]");
  for (const secret of [...heard, account.password, account.apiKey, person, someone]) {
    if (secret !== "") expect(failure).not.toContain(secret);
  }
});

import { describe, expect, test as everyTime } from "@jest/globals";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { administrate, post, signIn } from "../../../emulator/testing/platform.ts";
import { run } from "../../../emulator/testing/processes.ts";
import { sampleStories } from "../../../testing/harness/drawn.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";

const test = sampleStories();

const node = (...parameters: string[]) => promisify(execFile)(process.execPath, ["--no-warnings", ...parameters]);
const executable = fileURLToPath(new URL("../../../emulator/testing/serve.js", import.meta.url));

test("the command serves a seed, read-only or loose, until it is interrupted", async () => {
  const seed = join(temporaryFolder(), "platform.yaml");
  writeFileSync(seed, "tables: {items: {fields: {Count: number}}}\nsettings: {strict: false}\n");
  const command = await run("--seed", seed);
  const admin = await signIn(command.url);
  const { href, hash } = new URL(command.console);
  const token = hash.replace("#token=", "");
  expect(href).toBe(`${command.url}/#token=${token}`);
  expect((await administrate({ url: command.url, token }, "tables")).status).toBe(200);
  const item = { microAppID: "items", rowData: { Count: "many" } };
  expect((await admin.call("insertmicroapprow", item)).status).toBe(200);
  expect(await command.end("SIGINT")).toEqual([0, null]);
  const guarded = await run("--seed", seed, "--read-only");
  expect((await (await signIn(guarded.url)).call("insertmicroapprow", item)).status).toBe(403);
  expect(await guarded.end("SIGTERM")).toEqual([0, null]);
});

everyTime("a token that the environment chose is not printed, and opens the console all the same", async () => {
  const token = "chosen-by-who-runs-it";
  const child = spawn(process.execPath, ["--no-warnings", executable, "emulator"], {
    env: { ...process.env, MICROAPPS_EMULATOR_TOKEN: token },
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => printed.push(part.toString()));
  await once(child.stdout, "data");
  const [url = "", console] = printed.join("").split("\n"); // both lines are written at once
  expect(console).toBe(`console: ${url}/#token=$MICROAPPS_EMULATOR_TOKEN`);
  expect((await administrate({ url, token }, "tables")).status).toBe(200);
  const refused = await administrate({ url, token: "$MICROAPPS_EMULATOR_TOKEN" }, "tables");
  expect(await refused.text()).toContain("or is what MICROAPPS_EMULATOR_TOKEN was then");
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(printed.join("")).not.toContain(token);
});

test("names that clients spell differently come from a profile", async () => {
  const profile = join(temporaryFolder(), "platform-profile.yaml");
  writeFileSync(profile, "version: 1\nwireNames: {platformFormat: rawFormat, storecopy: duplicate}\n");
  const command = await run("--profile", profile);
  const admin = await signIn(command.url);
  const { url } = command;
  const headers = { "x-auth-token": admin.token, "x-user-id": admin.userID };
  const send = (path: string, body: object) => post(`${url}/api/${path}`, JSON.stringify(body), headers);
  expect((await send("microappchild/duplicate", {})).at("message")).toBe("sourceResourceID is required");
  const read = await send("microappdata", { microAppID: "none", rawFormat: "yes" });
  expect(read.at("message")).toBe("platformFormat: must be true or false, not text");
  expect(await command.end("SIGTERM")).toEqual([0, null]);
});

test("the command refuses what makes no sense", async () => {
  for (const [parameters, message] of [
    [["--port", "99999"], /It must be 0 to 65535/],
    [["--public-url", "here"], /^error: the public address must be an http\(s\) address/],
    [["--seed", "/nowhere.yaml"], /^error: the seed \/nowhere.yaml can't be read: .*\n$/],
  ] as const) {
    await expect(node(executable, "emulator", ...parameters)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message),
    });
  }
});

test("the command says whether an emulator is ready, and with which seed", async () => {
  const seed = join(temporaryFolder(), "platform.yaml");
  writeFileSync(seed, "users: [{email: ada@example.com, password: secret}]\n");
  const asked = async (url: string) =>
    JSON.parse((await node(executable, "emulator", "health", url)).stdout) as { seed: string };
  const seen: string[] = [];
  for (const parameters of [["--seed", seed], ["--seed", seed], []]) {
    const { url, end } = await run(...parameters);
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
    const version = expect.stringMatching(/^\d/) as unknown;
    const answer = await asked(url);
    expect(answer).toEqual({ status: "success", version, seed: digest, habits: {} });
    seen.push(answer.seed);
    await end("SIGTERM");
    await expect(asked(url)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no emulator is ready at"),
    });
  }
  expect([seen[1] === seen[0], seen[2] === seen[0]]).toEqual([true, false]);
});

describe("a command beside an emulator of its own", () => {
  const exec = (...parameters: string[]) => node(executable, "emulator", "exec", ...parameters);
  const program = (text: string) => ["--", process.execPath, "--eval", text];
  const closed = (url: string) => expect(fetch(url)).rejects.toThrow("fetch failed");

  test("has its address, and its own parameters", async () => {
    const { stdout } = await exec(
      "--read-only",
      ...program(`
      fetch(process.env.MICROAPPS_ENDPOINT + "/_emulator/tables", {
        headers: { authorization: "Bearer " + process.env.MICROAPPS_EMULATOR_TOKEN },
      }).then((answer) => console.log(JSON.stringify([process.env.MICROAPPS_ENDPOINT, answer.status, process.argv.at(-1)])))`),
      "--",
      "--seed",
    );
    const [url, status, parameter] = JSON.parse(stdout) as [string, number, string];
    expect([status, parameter]).toEqual([200, "--seed"]);
    await closed(url);
  });

  test("that fails is followed by what the emulator remarked on its calls, each once", async () => {
    const login = JSON.stringify({ email: "admin@example.com", password: "admin", emial: "x" });
    const ending = (status: number) =>
      program(`const login = () => fetch(process.env.MICROAPPS_ENDPOINT + "/api/login", {
        method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(login)} });
      login().then(login).then(() => process.exit(${status}))`);
    await expect(exec(...ending(3))).rejects.toMatchObject({
      code: 3,
      stderr: "emulator: remark: login: login ignores emial (email?)\n",
    });
    expect((await exec(...ending(0))).stderr).toBe("");
  });

  test("has the seed that it is to have", async () => {
    await expect(exec("--seed", "/nowhere.yaml", ...program(""))).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("error: the seed /nowhere.yaml can't be read"),
    });
  });

  test("has the administrator that its environment names", async () => {
    const login = `fetch(process.env.MICROAPPS_ENDPOINT + "/api/login", { method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "root@example.com", password: "own" }) }).then(({ status }) => console.log(status))`;
    const given = { MICROAPPS_EMULATOR_EMAIL: "root@example.com", MICROAPPS_EMULATOR_API_KEY: "key" };
    const by = (environment: Record<string, string>) =>
      promisify(execFile)(process.execPath, [executable, "emulator", "exec", "--host", "0.0.0.0", ...program(login)], {
        env: { ...process.env, ...environment },
      });
    expect((await by({ ...given, MICROAPPS_EMULATOR_PASSWORD: "own" })).stdout).toBe("200\n");
    await expect(by(given)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("MICROAPPS_EMULATOR_PASSWORD is missing beside MICROAPPS_EMULATOR_EMAIL"),
    });
  });

  test("does not get the account of another platform, which its environment names", async () => {
    const shown = "const { MICROAPPS_ENDPOINT: at, ...all } = process.env; console.log(JSON.stringify([at, all]))";
    const by = async (environment: Record<string, string>) => {
      const env = { ...process.env, ...account, ...environment };
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [executable, "emulator", "exec", ...program(shown)],
        { env },
      );
      return JSON.parse(stdout) as [string, Record<string, string>];
    };
    const account = {
      MICROAPPS_EMAIL: "ada@example.com",
      MICROAPPS_PASSWORD: "of-ada",
      MICROAPPS_API_KEY: "key-of-ada",
    };
    const platform = "https://platform.example";
    const [url, seen] = await by({ MICROAPPS_ENDPOINT: platform, MICROAPPS_ALLOWED_ENDPOINTS: platform });
    expect(Object.values(seen)).not.toEqual(expect.arrayContaining([expect.stringMatching(/of-ada|ada@example/)]));
    expect(seen).toMatchObject({ MICROAPPS_ALLOWED_ENDPOINTS: `${platform},${url}` });
    // Credentials set without another platform's address are for this one.
    expect((await by({ MICROAPPS_ENDPOINT: "" }))[1]).toMatchObject(account);
  });

  test("ends it as it ends itself", async () => {
    await expect(exec(...program("process.exit(3)"))).rejects.toMatchObject({ code: 3 });
    await expect(exec(...program('process.kill(process.pid, "SIGKILL")'))).rejects.toMatchObject({ code: 137 });
    await expect(exec("--", "/nowhere/command")).rejects.toMatchObject({
      code: 127,
      stderr: expect.stringMatching(/^error: \/nowhere\/command can't be run: .*ENOENT/),
    });
  });

  test("gets the signals that it gets", async () => {
    const text = `process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log(process.env.MICROAPPS_ENDPOINT)`;
    const child = spawn(process.execPath, ["--no-warnings", executable, "emulator", "exec", ...program(text)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([7, null]);
    await closed(url);
  });
});

test("the state of a running emulator is saved to a file and loaded from it, all of it or nothing", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "state.db");
  const seed = join(folder, "platform.yaml");
  writeFileSync(seed, "tables: {items: {fields: {Count: number}}}\n");
  const first = await run("--seed", seed);
  const item = { microAppID: "items", rowData: { Count: 1 } };
  await (await signIn(first.url)).get("rowID", "insertmicroapprow", item);
  const snapshot = (...parameters: string[]) => node(executable, "emulator", "snapshot", ...parameters);
  await snapshot("save", file, first.console);
  const second = await run("--snapshot", file);
  const admin = await signIn(second.url);
  const count = async () =>
    ((await admin.get("body.microAppRows", "microappdata", { microAppID: "items" })) as []).length;
  expect(await count()).toBe(1);
  await admin.get("rowID", "insertmicroapprow", item);
  await snapshot("load", file, second.console);
  expect(await count()).toBe(1);
  const cut = join(folder, "cut.db");
  writeFileSync(cut, readFileSync(file).subarray(0, -5000));
  for (const [parameters, message] of [
    [["load", cut, second.console], `error: ${cut} can't be loaded: it is broken, cut off`],
    [["load", "/nowhere.db", second.console], "error: ENOENT"],
    [["load", file, second.url], "error: The emulator is administrated with its token"],
    [["load", file, "http://127.0.0.1:9"], "error: no emulator answers at http://127.0.0.1:9"],
    [["save", join(folder, "state.json.zst"), second.console], "a snapshot of the emulator is an SQLite file now"],
    [["save", file], "error: give the console's address"],
  ] as const) {
    await expect(snapshot(...parameters)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  }
  expect(await count()).toBe(1);
  expect(readdirSync(folder).sort()).toEqual(["cut.db", "platform.yaml", "state.db"]);
  // Beside a command, environment variables give the emulator's address.
  const { stdout } = await node(
    executable,
    ...["emulator", "exec", "--snapshot", file, "--", process.execPath, executable, "emulator", "snapshot", "save"],
    join(folder, "again.db"),
  );
  expect(stdout).toBe("");
  await snapshot("load", join(folder, "again.db"), second.console);
  expect(await count()).toBe(1);
  await Promise.all([first.end("SIGTERM"), second.end("SIGTERM")]);
});

test("a process that forgets to close an emulator ends all the same, when it is told so", async () => {
  const index = new URL("../../../emulator/index.js", import.meta.url).href;
  const program = `
    import { createEmulator } from ${JSON.stringify(index)};
    const { url } = await createEmulator({ unref: true });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ email: "admin@example.com", password: "admin" });
    console.log((await fetch(url + "/api/login", { method: "POST", headers, body })).status);`;
  expect((await node("--input-type=module", "--eval", program)).stdout).toBe("200\n");
});

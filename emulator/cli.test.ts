import { expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { administrate, directory, post, signIn } from "./testing/platform.ts";
import { run } from "./testing/processes.ts";

const node = (...parameters: string[]) => promisify(execFile)(process.execPath, ["--no-warnings", ...parameters]);
const executable = fileURLToPath(new URL("./testing/serve.js", import.meta.url));

test("the command serves a seed, read-only or with tenants, until it is interrupted", async () => {
  const seed = join(directory(), "platform.yaml");
  writeFileSync(seed, "tables: {items: {fields: {Count: number}}}\n");
  const command = await run("--seed", seed, "--loose", "--tenant", "acme");
  const admin = await signIn(`${command.url}/tenants/acme`);
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

test("names that clients spell differently are options", async () => {
  const command = await run("--wire-name", "platformFormat=rawFormat", "--wire-name", "storecopy=duplicate");
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
    [["--wire-name", "microAppID=table"], /It must be platformFormat=<name>, or storecopy=<name>, or/],
    [["--public-url", "here"], /^error: the public address must be an http\(s\) address/],
    [["--strict", "--loose"], /cannot be used with option/],
    [["--seed", "/nowhere.yaml"], /^error: the seed \/nowhere.yaml can't be read: .*\n$/],
  ] as const) {
    await expect(node(executable, "emulator", ...parameters)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message),
    });
  }
});

test("a process that forgets to close an emulator ends all the same, when it is told so", async () => {
  const index = new URL("./index.js", import.meta.url).href;
  const program = `
    import { createEmulator } from ${JSON.stringify(index)};
    const { url } = await createEmulator({ unref: true });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ email: "admin@example.com", password: "admin" });
    console.log((await fetch(url + "/api/login", { method: "POST", headers, body })).status);`;
  expect((await node("--input-type=module", "--eval", program)).stdout).toBe("200\n");
});

import { expect, test } from "@jest/globals";
import { request } from "node:http";
import { join } from "node:path";
import { temporaryFolder } from "../testing/harness/folders.ts";
import { createEmulator } from "./emulator.ts";

const login = JSON.stringify({ email: "admin@example.com", password: "admin" });

/** Logs in under a name of the caller's choice, as a page does whose name was made to lead here. */
const loginAs = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { port, hostname } = new URL(url);
    const headers = { host, "content-type": "application/json" };
    const call = request({ hostname, port, path: "/api/login", method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on("error", reject).end(login);
  });

test("a page whose name leads to this machine is nobody's client", async () => {
  const emulator = await createEmulator();
  try {
    const { host } = new URL(emulator.url);
    for (const own of [host, "localhost", "localhost:1", "[::1]:80"])
      expect(await loginAs(emulator.url, own)).toBe(200);
    for (const other of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "evil.example:80"]) {
      expect(await loginAs(emulator.url, other)).toBe(403);
    }
  } finally {
    await emulator.close();
  }
});

test("another name may be allowed, and the public address is", async () => {
  const options = { allowHosts: ["platform.test", "proxy.test:8443"], publicUrl: "https://platform.example.com/" };
  const emulator = await createEmulator(options);
  try {
    expect(emulator.url).toBe("https://platform.example.com");
    const { origin } = new URL(emulator.console); // where this machine finds it
    for (const name of ["platform.test", "PLATFORM.test:80", "proxy.test:8443", "platform.example.com", "localhost"])
      expect([name, await loginAs(origin, name)]).toEqual([name, 200]);
    for (const name of ["proxy.test", "evil.example", "a.platform.test", "192.168.0.1"])
      expect([name, await loginAs(origin, name)]).toEqual([name, 403]);
  } finally {
    await emulator.close();
  }
  await expect(createEmulator({ publicUrl: "platform.example.com" })).rejects.toThrow("must be an http(s) address");
});

test("addresses are those by which a client came", async () => {
  const administrator = { email: "root@example.com", password: "correct-horse-battery" };
  for (const [options, ours] of [
    [{}, undefined],
    [{ host: "0.0.0.0", seed: { administrator } }, undefined],
    [{ publicUrl: "https://platform.example.com" }, "https://platform.example.com"],
  ] as const) {
    const emulator = await createEmulator(options);
    try {
      const { name: instance } = await emulator.instance();
      const { origin, hostname, port } = new URL(emulator.console);
      expect(hostname).toBe("127.0.0.1"); // 0.0.0.0 leads nowhere
      for (const name of ["localhost", "127.0.0.1"]) {
        for (const path of ["", `/instances/${instance}`]) {
          const document = await (await fetch(`http://${name}:${port}${path}/openapi.json`)).json();
          expect(document).toMatchObject({ servers: [{ url: `${ours ?? `http://${name}:${port}`}${path}` }] });
        }
      }
      expect(emulator.url).toBe(ours ?? origin);
    } finally {
      await emulator.close();
    }
  }
});

/** Status of a request to a path beside the interface, under a name or address of elsewhere. */
const statusFrom = (url: string, path: string, headers: Record<string, string>, method = "POST") =>
  new Promise<number | undefined>((resolve, reject) => {
    const { port, hostname } = new URL(url);
    const call = request({ hostname, port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on("error", reject).end();
  });

test("what is beside the interface is reached from elsewhere where that is allowed, with the token", async () => {
  const administrator = { email: "root@example.com", password: "correct-horse-battery" };
  const token = "known-to-the-whole-job";
  const open = { host: "0.0.0.0", seed: { administrator }, token };
  for (const allowAdmin of [false, true]) {
    const emulator = await createEmulator({ ...open, allowAdmin });
    try {
      expect(emulator.token).toBe(token);
      const { url } = emulator;
      const host = `emulator:${new URL(url).port}`;
      const authorization = `Bearer ${token}`;
      for (const [path, method, status] of [
        ["/_emulator/reset", "POST", 200],
        ["/_emulator/instances", "POST", 200],
        ["/_emulator/console/index.html", "GET", 200],
        ["/_emulator/nothing", "GET", 404],
      ] as const) {
        const expected = allowAdmin ? status : 403;
        expect([path, await statusFrom(url, path, { host, authorization }, method)]).toEqual([path, expected]);
        expect([path, await statusFrom(url, path, { host: new URL(url).host, authorization }, method)]).toEqual([
          path,
          status,
        ]);
      }
      expect(await statusFrom(url, "/_emulator/reset", { host, authorization: "Bearer guessed" })).toBe(403);
      const foreign = { host, authorization, origin: "http://evil.example" };
      expect(await statusFrom(url, "/_emulator/reset", foreign)).toBe(403);
    } finally {
      await emulator.close();
    }
  }
  await expect(createEmulator({ token: "short" })).rejects.toThrow("token must have 16 letters");
});

test("pages of a named origin may call the interface, and nothing beside it", async () => {
  const app = "http://localhost:5173";
  const emulator = await createEmulator({ allowOrigins: [app] });
  try {
    const login = `${emulator.url}/api/login`;
    const ask = (url: string, origin: string, method = "POST", headers = {}) =>
      fetch(url, { method, headers: { origin, ...headers }, ...(method === "POST" ? { body: "{}" } : {}) });
    const asking = { "access-control-request-method": "POST", "access-control-request-headers": "x-auth-token" };
    const shown = async (answered: Promise<Response>) => {
      const { status, headers } = await answered;
      return [status, headers.get("access-control-allow-origin"), headers.get("vary")];
    };
    const allowed = await ask(login, app, "OPTIONS", asking);
    expect(allowed.headers.get("access-control-allow-headers")).toContain("x-auth-token");
    expect(await shown(Promise.resolve(allowed))).toEqual([204, app, "origin"]);
    // A failure is to be read as well.
    expect(await shown(ask(login, app, "POST", { "content-type": "application/json" }))).toEqual([400, app, "origin"]);
    expect(await shown(ask(`${emulator.url}/api/none`, app))).toEqual([404, app, "origin"]);
    for (const other of ["http://localhost:5174", "https://localhost:5173", "http://evil.example", "null"]) {
      expect([other, await shown(ask(login, other, "OPTIONS", asking))]).toEqual([other, [403, null, null]]);
      const json = { "content-type": "application/json" };
      expect([other, await shown(ask(login, other, "POST", json))]).toEqual([other, [400, null, "origin"]]);
    }
    const headers = { authorization: `Bearer ${emulator.token}` };
    expect(await shown(ask(`${emulator.url}/_emulator/users`, app, "GET", headers))).toEqual([403, null, "origin"]);
  } finally {
    await emulator.close();
  }
  await expect(createEmulator({ allowOrigins: ["*"] })).rejects.toThrow("with * any page");
  await expect(createEmulator({ allowOrigins: ["http://localhost:5173/app"] })).rejects.toThrow("must be one of pages");
});

test("where other machines reach it, a password or key that everybody knows is refused", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "platform.db");
  const everybody = { host: "0.0.0.0" };
  await expect(createEmulator(everybody)).rejects.toThrow(
    "the password of the administrator is the one that everybody knows",
  );
  // Also when the file was made at home.
  await (await createEmulator({ data })).close();
  await expect(createEmulator({ ...everybody, data })).rejects.toThrow("everybody knows");
  const own = { email: "root@example.com", password: "correct-horse-battery" };
  // A first start that is refused leaves nothing to refuse the next one for.
  const first = join(folder, "first.db");
  await expect(createEmulator({ ...everybody, data: first })).rejects.toThrow("everybody knows");
  await (await createEmulator({ ...everybody, data: first, seed: { administrator: own } })).close();
  const keyed = { seed: { administrator: { ...own, apiKey: "dev-key" } } };
  await expect(createEmulator({ ...everybody, ...keyed })).rejects.toThrow("the key of the administrator");
  const emulator = await createEmulator({ ...everybody, seed: { administrator: own } });
  try {
    // There any name may lead to it.
    const { port } = new URL(emulator.url);
    expect(await loginAs(`http://127.0.0.1:${port}`, "platform.example")).toBe(401);
  } finally {
    await emulator.close();
  }
  const listed = await createEmulator({ ...everybody, seed: { administrator: own }, allowHosts: ["platform.test"] });
  try {
    for (const [name, status] of [
      ["platform.test", 401],
      ["10.1.2.3:80", 401],
      ["evil.example", 403],
    ] as const) {
      expect([name, await loginAs(listed.url, name)]).toEqual([name, status]);
    }
  } finally {
    await listed.close();
  }
});

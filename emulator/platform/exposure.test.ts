import { expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator } from "../emulator.ts";

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
    const emulator = await createEmulator({ ...options, tenants: { acme: { seed: { administrator } } } });
    try {
      const { origin, hostname, port } = new URL(emulator.console);
      expect(hostname).toBe("127.0.0.1"); // 0.0.0.0 leads nowhere
      for (const name of ["localhost", "127.0.0.1"]) {
        for (const path of ["", "/tenants/acme"]) {
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

test("where other machines reach it, a password or key that everybody knows is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "microapps-exposed-"));
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
    rmSync(folder, { recursive: true });
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

import { afterEach, describe, expect, test } from "@jest/globals";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { seed, signIn, start, type Caller } from "../testing/platform.ts";

const servers = new Set<Server>();

afterEach(() => {
  for (const server of servers) server.close();
  servers.clear();
});

/** A host with files; gives its name with the port. */
async function host(bytes: Buffer): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "/flag.png" }).end();
    else response.writeHead(200, { "content-type": "image/png" }).end(bytes);
  });
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function platform(settings = {}) {
  const emulator = await start({ seed: { ...seed, settings } });
  const admin = await signIn(emulator.url);
  const rowID = await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
  return { emulator, admin, rowID: rowID as string };
}

const create = (caller: Caller, appID: string, content: object) =>
  caller.get("body.childID", "microappchildCreate", {
    microAppResourceID: "countries",
    appID,
    fieldID: "flag",
    content,
  }) as Promise<string>;

describe("child records", () => {
  test("are for those who see the row", async () => {
    const { emulator, admin, rowID } = await platform();
    const childID = await create(admin, rowID, {});
    const ada = await signIn(emulator.url, "ada@example.com", "ada");
    expect((await ada.call("microappchildRead", { childID })).status).toBe(200);
    await admin.call("updatemicroapprow", { rowID, rowData: { Readers: [admin.userID] } });
    expect((await ada.call("microappchildRead", { childID })).status).toBe(403);
    expect((await ada.call("microappchildList", { appID: rowID, fieldID: "flag" })).status).toBe(403);
  });
});

describe("stored files", () => {
  test("are downloaded from allowed hosts only, up to a size, without following redirections", async () => {
    const name = await host(Buffer.alloc(2000));
    const { admin, rowID } = await platform({ allowedHosts: [name], maximumFileBytes: 1000 });
    const upload = (url: string) =>
      admin.call("microappchildUploadFileToStore", { resourceID: rowID, fieldID: "flag", url });
    for (const [url, message] of [
      [`http://${name}/flag.png`, "more than 1000 bytes"],
      [`http://${name}/moved`, "answered 302"],
      ["http://127.0.0.1:1/", "not downloaded from 127.0.0.1:1"],
      ["http://169.254.169.254/", "not downloaded from 169.254.169.254"],
      ["file:///etc/passwd", "must be an http(s) address"],
      ["nowhere", "must be an http(s) address"],
    ] as const) {
      const reply = await upload(url);
      expect([reply.status, reply.at("message")]).toEqual([400, expect.stringContaining(message)]);
    }
    for (const resourceID of [rowID, "countries"]) {
      for (const [fieldID, status, message] of [
        ["none", 404, "Field not found: none"],
        ["code", 400, "fieldID: Code is not a file field"],
        ["Flag", 400, "fieldID: Flag is a label; the ID of this field is flag"],
      ] as const) {
        const stray = { resourceID, fieldID, url: `http://${name}/flag.png` };
        const reply = await admin.call("microappchildUploadFileToStore", stray);
        expect([reply.status, reply.at("message")]).toEqual([status, message]);
      }
    }
    const lost = { resourceID: "none", fieldID: "flag", url: `http://${name}/` };
    expect((await admin.call("microappchildUploadFileToStore", lost)).status).toBe(404);
  });
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { post, seed, signIn, start, type Caller } from "../testing/platform.ts";

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
  test("belong to a row and a file field of its table, and go with the row", async () => {
    const { admin, rowID } = await platform();
    const request = { microAppResourceID: "countries", appID: rowID, fieldID: "flag", content: {} };
    for (const [change, status] of [
      [{ appID: "none" }, 404],
      [{ fieldID: "none" }, 404],
      [{ fieldID: "code" }, 400],
      [{ fieldID: "Flag" }, 400],
      [{ microAppResourceID: "none" }, 404],
      [{ microAppResourceID: "cities" }, 400],
    ] as const) {
      expect((await admin.call("microappchildCreate", { ...request, ...change })).status).toBe(status);
    }
    const childID = await create(admin, rowID, {});
    await admin.call("removemicroapprow", { rowID });
    expect((await admin.call("microappchildRead", { childID })).status).toBe(404);
  });

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
  test("are downloaded, copied and served to whoever has the signed address", async () => {
    const bytes = Buffer.from([0, 1, 2, 255]);
    const name = await host(bytes);
    const { emulator, admin, rowID } = await platform({ allowedHosts: [name] });
    const upload = { resourceID: rowID, fieldID: "flag", url: `http://${name}/flag.png`, filename: "cz.png" };
    const stored = await admin.call("microappchildUploadFileToStore", upload);
    expect(stored.body).toMatchObject({ status: "success", body: { fileKey: stored.at("fileKey") } });
    const served = await fetch(String(stored.at("url")));
    expect(Buffer.from(await served.arrayBuffer())).toEqual(bytes);
    expect([served.headers.get("content-type"), served.headers.get("x-content-type-options")]).toEqual([
      "image/png",
      "nosniff",
    ]);
    const copy = {
      sourceResourceID: rowID,
      destinationResourceID: "countries",
      fileKey: stored.at("fileKey"),
      newFileKey: "copies/a b.png",
    };
    const copied = String(await admin.get("signedUrl", "microappchildStorecopy", copy));
    expect(Buffer.from(await (await fetch(copied)).arrayBuffer())).toEqual(bytes);
    for (const forged of [copied.replace(/.$/, "_"), copied.replace("copies", "copy"), copied.split("?")[0] ?? ""]) {
      expect((await fetch(forged)).status).toBe(404);
    }
    expect((await admin.call("microappchildStorecopy", { ...copy, fileKey: "none" })).status).toBe(404);
    // A path with such parts is resolved by whoever follows it.
    for (const newFileKey of ["..", "a/../b.png", "./", "a//b", "%2e%2e/%", "?#&=+ ☃"]) {
      const odd = String(await admin.get("signedUrl", "microappchildStorecopy", { ...copy, newFileKey }));
      expect([newFileKey, (await fetch(odd)).status]).toEqual([newFileKey, 200]);
      expect((await fetch(odd.replace(/.$/, "_"))).status).toBe(404);
    }
    const body = JSON.stringify(upload);
    const headers = { "x-auth-token": admin.token, "x-user-id": admin.userID };
    for (const spelling of ["uploadFileToStore", "uploadFileToS3"]) {
      expect((await post(`${emulator.url}/api/microappchild/${spelling}`, body, headers)).status).toBe(200);
    }
    expect((await post(`${emulator.url}/api/microappchild/s3copy`, JSON.stringify(copy), headers)).status).toBe(200);
  });

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

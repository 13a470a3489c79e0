import { afterAll, beforeAll, expect } from "@jest/globals";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { newRow, prove, type TestPlatform } from "../testing/proofs.ts";

const microAppResourceID = "countries";
const fieldID = "flag";
const refused = { code: "invalidRequest" };
const missing = { code: "notFound" };

let server: Server;
let host: string;

beforeAll(async () => {
  server = createServer((_request, response) => response.end("a flag"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function child(stage: TestPlatform, content: Record<string, unknown> = { filename: "cz.png", size: 6 }) {
  const appID = await newRow(stage, { Code: "CZ" });
  const { childID } = await stage.admin.call("microappchildCreate", { microAppResourceID, appID, fieldID, content });
  return { appID, childID };
}
const read = async ({ admin }: TestPlatform, childID: string) =>
  (await admin.call("microappchildRead", { childID })).childItem;
const list = async ({ admin }: TestPlatform, appID: string) =>
  (await admin.call("microappchildList", { appID, fieldID })).childItems;

async function stored(stage: TestPlatform, rest: object = {}) {
  stage.settings.allowedHosts = [host];
  const resourceID = await newRow(stage, {});
  const upload = { resourceID, fieldID, url: `http://${host}/cz.png`, ...rest };
  const { url, fileKey = "" } = await stage.admin.call("microappchildUploadFileToStore", upload);
  return { url, fileKey, resourceID };
}
async function copied(stage: TestPlatform, rest: object = {}) {
  const { fileKey, resourceID: sourceResourceID } = await stored(stage);
  const request = { sourceResourceID, destinationResourceID: "countries", fileKey, ...rest };
  return { request, ...(await stage.admin.call("microappchildStorecopy", request)) };
}
const served = async (url: string) => (await fetch(url)).text();

prove("children", {
  microappchildList: async (stage) => {
    const { appID, childID } = await child(stage);
    expect(await list(stage, appID)).toMatchObject([{ _id: childID, fieldID }]);
    expect(await list(stage, await newRow(stage, {}))).toEqual([]);
  },
  "microappchildList appID": async (stage) => {
    await list(stage, (await child(stage)).appID);
    expect(await stage.admin.refused("microappchildList", { fieldID })).toMatchObject(refused);
    expect(await stage.admin.refused("microappchildList", { fieldID, appID: "none" })).toMatchObject(missing);
  },
  "microappchildList fieldID": async (stage) => {
    const { appID } = await child(stage);
    await list(stage, appID);
    expect(await stage.admin.refused("microappchildList", { appID })).toMatchObject(refused);
    expect(await stage.admin.refused("microappchildList", { appID, fieldID: "none" })).toMatchObject(missing);
  },
  microappchildCreate: async (stage) => {
    const { appID, childID } = await child(stage);
    expect((await list(stage, appID)).map(({ _id }) => _id)).toEqual([childID]);
  },
  "microappchildCreate microAppResourceID": async (stage) => {
    const { appID } = await child(stage);
    const request = { appID, fieldID, content: {} };
    expect(await stage.admin.refused("microappchildCreate", request)).toMatchObject(refused);
    const elsewhere = { ...request, microAppResourceID: "cities" };
    expect(await stage.admin.refused("microappchildCreate", elsewhere)).toMatchObject(refused);
  },
  "microappchildCreate appID": async (stage) => {
    const { childID, appID } = await child(stage);
    expect(await read(stage, childID)).toMatchObject({ appID });
    const nowhere = { microAppResourceID, fieldID, content: {}, appID: "none" };
    expect(await stage.admin.refused("microappchildCreate", nowhere)).toMatchObject(missing);
  },
  "microappchildCreate fieldID": async (stage) => {
    const { childID, appID } = await child(stage);
    expect(await read(stage, childID)).toMatchObject({ fieldID });
    const nowhere = { microAppResourceID, appID, content: {}, fieldID: "none" };
    expect(await stage.admin.refused("microappchildCreate", nowhere)).toMatchObject(missing);
  },
  "microappchildCreate content": async (stage) => {
    const content = { url: "https://files.test/1", filename: "1", size: 5, type: "image/png", expiredAt: null };
    const { childID, appID } = await child(stage, content);
    expect(await read(stage, childID)).toMatchObject({ content });
    const without = { microAppResourceID, appID, fieldID };
    expect(await stage.admin.refused("microappchildCreate", without)).toMatchObject(refused);
  },
  microappchildRead: async (stage) => {
    const { childID } = await child(stage);
    expect(await read(stage, childID)).toMatchObject({ _id: childID, content: { filename: "cz.png", size: 6 } });
  },
  "microappchildRead childID": async (stage) => {
    await read(stage, (await child(stage)).childID);
    expect(await stage.admin.refused("microappchildRead", {})).toMatchObject(refused);
    expect(await stage.admin.refused("microappchildRead", { childID: "none" })).toMatchObject(missing);
  },
  microappchildUpdate: async (stage) => {
    const { childID } = await child(stage);
    await stage.admin.call("microappchildUpdate", { childID, content: { size: 7 } });
    expect(await read(stage, childID)).toMatchObject({ content: { filename: "cz.png", size: 7 } });
  },
  "microappchildUpdate childID": async (stage) => {
    const { childID } = await child(stage);
    await stage.admin.call("microappchildUpdate", { childID, content: {} });
    expect(await stage.admin.refused("microappchildUpdate", { childID: "none", content: {} })).toMatchObject(missing);
  },
  "microappchildUpdate content": async (stage) => {
    const { childID } = await child(stage);
    await stage.admin.call("microappchildUpdate", { childID, content: { type: "image/png" } });
    expect(await stage.admin.refused("microappchildUpdate", { childID })).toMatchObject(refused);
    expect(await stage.admin.refused("microappchildUpdate", { childID, content: [] })).toMatchObject(refused);
  },
  microappchildDelete: async (stage) => {
    const { childID, appID } = await child(stage);
    await stage.admin.call("microappchildDelete", { childID });
    expect(await list(stage, appID)).toEqual([]);
  },
  "microappchildDelete childID": async (stage) => {
    await stage.admin.call("microappchildDelete", { childID: (await child(stage)).childID });
    expect(await stage.admin.refused("microappchildDelete", {})).toMatchObject(refused);
    expect(await stage.admin.refused("microappchildDelete", { childID: "none" })).toMatchObject(missing);
  },
  microappchildStorecopy: async (stage) => {
    expect(await served((await copied(stage)).signedUrl)).toBe("a flag");
  },
  "microappchildStorecopy sourceResourceID": async (stage) => {
    const { request } = await copied(stage);
    const nowhere = { ...request, sourceResourceID: "none" };
    expect(await stage.admin.refused("microappchildStorecopy", nowhere)).toMatchObject(missing);
  },
  "microappchildStorecopy destinationResourceID": async (stage) => {
    const { request, signedUrl } = await copied(stage);
    expect(signedUrl).toContain("/countries/");
    const nowhere = { ...request, destinationResourceID: "none" };
    expect(await stage.admin.refused("microappchildStorecopy", nowhere)).toMatchObject(missing);
  },
  "microappchildStorecopy fileKey": async (stage) => {
    const { request } = await copied(stage);
    const nothing = { ...request, fileKey: "none" };
    expect(await stage.admin.refused("microappchildStorecopy", nothing)).toMatchObject(missing);
  },
  "microappchildStorecopy newFileKey": async (stage) => {
    const { signedUrl } = await copied(stage, { newFileKey: "copies/flag.png" });
    expect(signedUrl).toContain("/countries/copies/flag.png?");
    expect(await served(signedUrl)).toBe("a flag");
  },
  microappchildUploadFileToStore: async (stage) => {
    const { url, fileKey } = await stored(stage);
    expect(await served(url)).toBe("a flag");
    expect(fileKey).not.toBe("");
  },
  "microappchildUploadFileToStore resourceID": async (stage) => {
    await stored(stage);
    const nowhere = { resourceID: "none", fieldID, url: `http://${host}/cz.png` };
    expect(await stage.admin.refused("microappchildUploadFileToStore", nowhere)).toMatchObject(missing);
  },
  "microappchildUploadFileToStore fieldID": async (stage) => {
    const { resourceID } = await stored(stage);
    const without = { resourceID, url: `http://${host}/cz.png` };
    expect(await stage.admin.refused("microappchildUploadFileToStore", without)).toMatchObject(refused);
  },
  "microappchildUploadFileToStore url": async (stage) => {
    const { resourceID } = await stored(stage);
    for (const url of ["file:///etc/passwd", "http://127.0.0.1:1/", "nowhere"]) {
      const wrong = { resourceID, fieldID, url };
      expect(await stage.admin.refused("microappchildUploadFileToStore", wrong)).toMatchObject(refused);
    }
  },
  "microappchildUploadFileToStore filename": async (stage) => {
    const { url } = await stored(stage, { filename: "czech.png" });
    expect((await fetch(url)).headers.get("content-disposition")).toContain("czech.png");
  },
});

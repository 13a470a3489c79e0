import { afterAll, beforeAll, test } from "@jest/globals";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { partOf } from "../harness/drawn.ts";
import { dynamic, plugin } from "../harness/kinds.ts";
import { live } from "./life.ts";
import { lives, tables } from "./lives.ts";

let files: Server;
let base = "";
beforeAll(async () => {
  files = createServer((_request, response) => response.writeHead(200, { "content-type": "image/png" }).end("bytes"));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(files.address() as AddressInfo).port}`; // a TCP server's address
});
afterAll(() => void files.close());

const title = "%s is created, left alone, changed, replaced, seen to drift, repaired, imported and deleted";
const seed = (memberForm: string) => () => ({
  tables,
  users: ["ada", "grace", "alan"].map((name) => ({ email: `${name}@example.com` })),
  settings: { memberForm, generationSeconds: 0, allowedHosts: [new URL(base).host] },
});

throughBothKinds(
  seed("objects"),
  (scene) => {
    test.each(partOf(Object.entries(lives), 0))(title, async (type, life) =>
      live(scene, type, await life(scene, "objects", base)),
    );
  },
  [dynamic, plugin],
);

// Where the platform lists the members of a team by ID alone.
const ofPeople = Object.entries(lives).filter(([type]) => ["TeamMember", "TeamRoster"].includes(type));
throughBothKinds(
  seed("userIDs"),
  (scene) => {
    test.each(partOf(ofPeople, 0))(`by ID: ${title}`, async (type, life) =>
      live(scene, type, await life(scene, "userIDs", base)),
    );
  },
  [plugin],
);

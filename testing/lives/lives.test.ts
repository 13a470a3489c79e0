import { afterAll, beforeAll, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { partOf } from "../harness/drawn.ts";
import { fileServer } from "../harness/fileServer.ts";
import { dynamic, plugin } from "../harness/kinds.ts";
import { live } from "./life.ts";
import { lives, tables } from "./lives.ts";

let files: Awaited<ReturnType<typeof fileServer>>;
beforeAll(async () => void (files = await fileServer()));
afterAll(() => files.close());

const title = "%s is created, left alone, changed, replaced, seen to drift, repaired, imported and deleted";
const seed = (memberForm: string) => () => ({
  tables,
  users: ["ada", "grace", "alan"].map((name) => ({ email: `${name}@example.com` })),
  settings: { memberForm, generationSeconds: 0, allowedHosts: [files.host] },
});

throughBothKinds(
  seed("objects"),
  (scene) => {
    test.each(partOf(Object.entries(lives), 0))(title, async (type, life) =>
      live(scene, type, await life(scene, "objects", files.url)),
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
      live(scene, type, await life(scene, "userIDs", files.url)),
    );
  },
  [plugin],
);

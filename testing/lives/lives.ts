import { expect } from "@jest/globals";
import { unknown } from "../harness/bothKinds.ts";
import type { Life, Stage } from "./life.ts";

const [caller, ada, grace, alan] = ["admin@example.com", "ada@example.com", "grace@example.com", "alan@example.com"];

/** Content of the platform that the lives below need. */
export const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  countries: {
    name: "Countries",
    fields: { Code: { type: "text", sort: 1 }, Flag: { type: "file", id: "flag" }, Map: { type: "file", id: "map" } },
  },
};

const foreseen = expect.stringMatching(/1 to add if they do not exist yet .*1 to change .*1 to remove /) as never;
const idOf = async ({ client }: Stage, email: string): Promise<string> => (await client.userid({ email })).userID;

/** Roles of the people of a team. */
async function roles(scene: Stage, teamID: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const email of [caller, ada, grace, alan]) {
    const userID = await idOf(scene, email);
    const member = await scene.client.readteammember({ teamID, userID }).catch(() => undefined);
    if (member) found[email] = member.teamMember?.role ?? "";
  }
  return found;
}

type MemberForm = "objects" | "userIDs";

/** Lives by resource: each makes what it needs, under names of its own. */
export const lives: Record<string, (scene: Stage, memberForm: MemberForm, files: string) => Promise<Life>> = {
  Organization: ({ client }) => {
    const read = async (organizationID: string) => {
      const { organization } = await client.readorganization({ organizationID }).catch(() => ({ organization: null }));
      return organization && [organization.name, organization.description ?? ""];
    };
    return Promise.resolve({
      live: read,
      create: {
        news: { name: "Acme", description: "Makes everything." },
        calls: ["insertorganization"],
        live: ["Acme", "Makes everything."],
        outputs: { name: "Acme", description: "Makes everything." },
      },
      changes: [
        {
          news: { name: "Acme & Co", description: null },
          calls: ["updateorganization"],
          live: ["Acme & Co", ""],
          outputs: { name: "Acme & Co", description: null },
        },
      ],
      later: [{ name: unknown }],
      replaces: [],
      drift: {
        edit: (organizationID) => client.updateorganization({ organizationID, organizationInfo: { name: "By hand" } }),
        found: { name: "By hand", description: null },
        calls: ["updateorganization"],
      },
      imported: { inputs: { name: "Acme & Co" } },
      deleted: { calls: ["deleteorganization"], live: null },
    });
  },

  Team: async (scene) => {
    const { client } = scene;
    const organizationID = await scene.organization("Of a team");
    return {
      live: async (teamID) => {
        const { team } = await client.readteam({ teamID }).catch(() => ({ team: null }));
        return team && [team.name, team.description ?? ""];
      },
      create: {
        news: { organizationID, name: "Crew", description: "Runs the place." },
        calls: ["insertteam"],
        live: ["Crew", "Runs the place."],
      },
      changes: [
        { news: { name: "The Crew" }, calls: ["updateteam"], live: ["The Crew", "Runs the place."] },
        { news: { description: null }, calls: ["updateteam"], live: ["The Crew", ""] },
      ],
      later: [{ name: unknown }],
      replaces: [[{ organizationID: unknown }, "organizationID"]],
      drift: {
        edit: (teamID) => client.updateteam({ teamID, teamInfo: { name: "By hand", description: "y" } }),
        found: { name: "By hand", description: "y" },
        calls: ["updateteam"],
      },
      imported: { inputs: { organizationID, name: "The Crew" } },
      deleted: { calls: ["deleteteam"], live: null },
    };
  },

  TeamMember: async (scene, memberForm) => {
    const { client } = scene;
    const teamID = await scene.team(await scene.organization("Of a member"));
    const userID = await idOf(scene, ada);
    return {
      live: () => roles(scene, teamID),
      create: {
        news: { teamID, email: "Ada@example.com", role: "admin", targetRoute: "go" },
        calls: ["insertteammembers", "updateteammember"],
        live: { [caller]: "admin", [ada]: "admin" },
        outputs: { role: "admin" },
      },
      changes: [
        { news: { role: "member" }, calls: ["updateteammember"], live: { [caller]: "admin", [ada]: "member" } },
      ],
      same: [{ email: ada }, { targetRoute: undefined, targetInitialApp: "app1", targetInitialScreen: "screen1" }],
      later: [{ role: unknown }],
      replaces: [
        [{ email: grace }, "email"],
        [{ teamID: unknown }, "teamID"],
      ],
      drift: {
        edit: async () => {
          await client.updateteammember({ teamID, userID, role: "admin" });
          await scene.host.restart(); // a run reads a list once
        },
        found: { role: "admin" },
        calls: ["updateteammember"],
      },
      imported: {
        id: `${teamID}/${userID}`,
        inputs: { teamID, role: "member", ...(memberForm === "objects" ? { email: ada } : { userID }) },
      },
      deleted: { calls: ["deleteteammember"], live: { [caller]: "admin" } },
    };
  },

  TeamRoster: async (scene, memberForm) => {
    const { client } = scene;
    const teamID = await scene.team(await scene.organization("Of a roster"));
    const members = { [ada]: "admin", [grace]: "member" };
    const named = async (email: string): Promise<string> => (memberForm === "objects" ? email : idOf(scene, email));
    return {
      live: () => roles(scene, teamID),
      create: {
        news: { teamID, members },
        calls: ["insertteammembers", "updateteammember"],
        live: { [caller]: "admin", ...members },
        outputs: { members, userIDs: [await idOf(scene, ada), await idOf(scene, grace)] },
        message: "info: members: 2 added, 1 kept by ignore or keepSelf",
      },
      changes: [
        {
          // The caller, who became an administrator of the team by making it, is not declared and stays.
          news: { members: { [grace]: "admin", [alan]: "member" } },
          preview: `info: members: 1 to add (${alan}), 1 to give another role (${grace}), 1 to remove (${ada}), 0 unchanged`,
          calls: ["insertteammembers", "updateteammember", "deleteteammember"],
          live: { [caller]: "admin", [grace]: "admin", [alan]: "member" },
          outputs: { members: { [grace]: "admin", [alan]: "member" } },
          message: "info: members: 1 added, 1 given another role, 1 removed, 1 kept by ignore or keepSelf",
        },
      ],
      same: [{ members: { "Grace@Example.com": "admin", [alan]: "member" } }, { targetRoute: "go" }],
      later: [{ members: { [grace]: unknown, [alan]: "member" } }],
      replaces: [[{ teamID: unknown }, "teamID"]],
      drift: {
        edit: async () => {
          await client.insertteammembers({ teamIDs: [teamID], emails: [ada] });
          await client.updateteammember({ teamID, userID: await idOf(scene, grace), role: "member" });
          await client.deleteteammember({ teamID, userID: await idOf(scene, alan) });
          await scene.host.restart();
        },
        found: { members: { [await named(ada)]: "member", [grace]: "member" } },
        calls: ["insertteammembers", "updateteammember", "deleteteammember"],
      },
      imported: {
        inputs: {
          teamID,
          members: {
            [await named(caller)]: "admin",
            [await named(grace)]: "admin",
            [await named(alan)]: "member",
          },
          mode: "authoritative",
        },
      },
      deleted: {
        calls: ["deleteteammember", "deleteteammember"],
        live: { [caller]: "admin" },
        message: "info: removes 2 people",
      },
      remove: () => client.deleteteam({ teamID }),
    };
  },

  SeedRows: async ({ client }) => {
    const theirs = { Code: "XX", Name: "Theirs" };
    await client.insertmicroapprow({ microAppID: "continents", rowData: theirs });
    const row = (Code: string, Name: string) => ({ Code, Name });
    const [europe, africa] = [row("EU", "Europe"), row("AF", "Africa")];
    const wanted = [row("AS", "Asia"), row("EU", "Europa")];
    const all = async () =>
      (await client.microappdata({ microAppID: "continents", optViewSort: { sortVal: 1 } })).microAppRows;
    return {
      live: async () => (await all()).map(({ Code, Name }) => ({ Code, Name })),
      create: {
        news: { table: "continents", key: "Code", rows: [europe, africa] },
        calls: ["insertmicroapprow", "insertmicroapprows"],
        live: [africa, europe, theirs],
        outputs: { rowCount: 2, keys: ["EU", "AF"] },
      },
      changes: [
        {
          news: { rows: wanted },
          preview: foreseen,
          calls: expect.arrayContaining(["insertmicroapprows", "removemicroapprow", "updatemicroapprow"]),
          live: [...wanted, theirs],
          outputs: { rowCount: 2, keys: ["AS", "EU"] },
        },
      ],
      later: [{ rows: [{ Code: unknown }] }, { table: unknown }, { key: "Name" }],
      replaces: [[{ table: "countries" }, "table"]],
      drift: {
        edit: async () => {
          const [asia, europa] = await all();
          await client.updatemicroapprow({ rowID: asia?._id ?? "", rowData: { Name: "By hand" } });
          await client.removemicroapprow({ rowID: europa?._id ?? "" });
        },
        found: { drift: { changed: 1, missing: 1, changedKeys: ["AS"], missingKeys: ["EU"] } },
        calls: expect.arrayContaining(["insertmicroapprows", "updatemicroapprow"]),
      },
      imported: "Declare the SeedRows: rows that are there exactly as declared are found at the next up",
      deleted: { calls: ["removemicroapprow", "removemicroapprow"], live: [theirs] },
      remove: null,
    };
  },

  RowFile: async ({ client }, _memberForm, files) => {
    const { rowID } = await client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "CZ" } });
    const children = async () => (await client.microappchildList({ appID: rowID, fieldID: "flag" })).childItems;
    const stored = ["microappchildUploadFileToStore", "microappchildUpdate"];
    const content = { filename: "cz.png", size: 5, type: "image/png" };
    const other = { filename: "flag.png", size: 6, type: "image/x-png" };
    const elsewhere = "https://files.example/cz.txt";
    const place = { table: "countries", row: { Code: "CZ" }, fieldID: "flag" };
    return {
      live: async () =>
        Promise.all(
          (await children()).map(async ({ content: { url = "", ...rest } = {} }) => ({
            ...rest,
            ...(url === elsewhere ? { url } : { bytes: await (await fetch(url)).text() }),
          })),
        ),
      create: {
        news: { ...place, url: `${files}/cz.png`, size: 5, type: "image/png" },
        calls: ["microappchildUploadFileToStore", "microappchildCreate"],
        live: [{ ...content, bytes: "bytes" }],
        outputs: { ...place, url: `${files}/cz.png`, parentRowID: rowID },
      },
      changes: [
        { news: other, calls: ["microappchildUpdate"], live: [{ ...other, bytes: "bytes" }] },
        { news: { url: `${files}/other.png` }, calls: stored, live: [{ ...other, bytes: "bytes" }] },
        { news: { digest: "2" }, calls: stored, live: [{ ...other, bytes: "bytes" }] },
        {
          // Unset inputs are left alone, and are no drift.
          news: { filename: undefined, size: undefined, type: undefined },
          calls: ["microappchildUpdate"],
          live: [{ ...other, filename: "other.png", bytes: "bytes" }],
        },
        {
          news: { url: elsewhere, store: false },
          calls: ["microappchildUpdate"],
          live: [{ ...other, filename: "cz.txt", url: elsewhere }],
        },
      ],
      later: [{ url: unknown }],
      replaces: [
        [{ row: { Code: "SK" } }, "row"],
        [{ fieldID: "map" }, "fieldID"],
        [{ table: unknown }, "table"],
      ],
      drift: {
        edit: async (id) => {
          const content = { url: "https://elsewhere.example/x.png" };
          await client.microappchildUpdate({ childID: id.split("/").at(-1) ?? "", content });
        },
        found: { url: "https://elsewhere.example/x.png" },
        calls: ["microappchildUpdate"],
      },
      imported: {
        inputs: { table: "countries", rowID, fieldID: "flag", url: elsewhere, store: false, filename: "cz.txt" },
      },
      deleted: { calls: ["microappchildDelete"], live: [] },
    };
  },

  GeneratedApp: async ({ client }) => {
    const news = { userEmail: caller, appPrompt: "An atlas." };
    return Promise.resolve({
      live: (appID) =>
        client.createappwithpromptStatus({ appID }).then(
          ({ status }) => status,
          () => undefined,
        ),
      create: { news, calls: ["createappwithprompt"], live: "completed", outputs: news },
      changes: [],
      same: [{ appPrompt: " An\n atlas. " }, { appPrompt: "Another.", onPromptChange: "ignore" }],
      later: [{ appPrompt: unknown }],
      replaces: [[{ appPrompt: "Another.", onPromptChange: "replace" }, "appPrompt"]],
      imported: "can't be imported by its ID alone",
      deleted: { calls: [], live: "completed", message: "/workspace/apps/" },
      remove: null,
    });
  },

  Notification: async ({ client, emulator }) => {
    const { link } = await client.createappwithprompt({ userEmail: caller, appPrompt: "A mailer." });
    const appID = link.split("/").at(-1) ?? "";
    const welcome = { appID, email: ada, message: "Welcome", badgeCount: 3 };
    const numbers = { appID, email: ada, message: null, badgeCount: 0 };
    return {
      live: () => Promise.resolve(emulator.notifications(ada).pushes.map(({ ...sent }) => sent)),
      create: {
        news: { ...welcome, channel: "default", triggers: { version: 1 } },
        calls: ["sendnotification"],
        live: [expect.objectContaining(welcome)],
        outputs: { ...welcome, notificationCount: 1, pushCount: 1, sentAt: expect.stringMatching(/^\d{4}-.*Z$/) },
      },
      changes: [
        {
          news: { message: undefined, badgeCount: 0, channel: "push", triggers: { version: 2 } },
          calls: ["sendnotification"],
          live: [expect.objectContaining(welcome), expect.objectContaining(numbers)],
          outputs: { badgeCount: 0, notificationCount: 0, pushCount: 1 },
        },
      ],
      same: [{ message: "Hello", badgeCount: 4 }, { email: "Ada@example.com" }],
      later: [{ triggers: unknown }],
      replaces: [
        [{ email: grace }, "email"],
        [{ appID: unknown }, "appID"],
      ],
      imported: { id: `${appID}/${ada}`, inputs: { appID, email: ada }, additions: { message: "Welcome" } },
      remove: null,
      deleted: { calls: [], live: [expect.objectContaining(welcome), expect.objectContaining(numbers)] },
    };
  },
};

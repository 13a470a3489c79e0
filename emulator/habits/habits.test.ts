import { afterAll, describe, expect, test } from "@jest/globals";
import { at } from "../../platform/contract/wire.ts";
import type { SeedInput } from "../../platform/seed/schema.ts";
import { switches, usualSwitches, type SwitchName, type Switches } from "../data/deviations.ts";
import { createEmulator } from "../emulator.ts";

/** Sends raw requests to an emulator. */
interface Wire {
  /** Posts to `/api/<path>`, with a token and a key; answers the status and the body. */
  post: (path: string, body?: object, headers?: Record<string, string>) => Promise<{ status: number; body: unknown }>;
  get: (path: string, headers?: Record<string, string>) => Promise<{ status: number; body: unknown }>;
  session: Record<string, string>;
}

const seed: SeedInput = {
  users: [{ email: "ada@example.com", password: "ada", id: "ada" }],
  tables: {
    a: { fields: { Key: { type: "text", sort: 1, id: "key" }, Count: "number", Day: "date", File: "file" } },
    b: { parent: "a", fields: { Name: "text" } },
    c: { fields: { To: { type: "linked", table: "a", field: "Key" } } },
  },
  settings: { generationSeconds: 0 },
};

const json = { "content-type": "application/json" };

const emulator = await createEmulator({ seed, wireNames: { platformFormat: "rawFormat" }, unref: true });
afterAll(() => emulator.close());

async function seen(otherwise: Partial<Switches>, look: (wire: Wire) => Promise<unknown>): Promise<string> {
  await emulator.reset();
  emulator.behave(otherwise);
  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(`${emulator.url}/api/${path}`, init);
    return { status: response.status, body: await response.json() };
  };
  const wire: Wire = {
    post: (path, body = {}, headers = wire.session) =>
      send(path, { method: "POST", body: JSON.stringify(body), headers: { ...headers, ...json } }),
    get: (path, headers = wire.session) => send(path, { headers }),
    session: {},
  };
  wire.session = { ...(await session(wire, "admin@example.com", "admin")), "x-api-key": "dev-key" };
  return JSON.stringify(await look(wire));
}

async function session({ post }: Wire, email: string, password: string): Promise<Record<string, string>> {
  const { body } = await post("login", { email, password }, {});
  const token = (name: string) => String(at(body, name) ?? at(body, `data.${name}`));
  return { "x-auth-token": token("authToken"), "x-user-id": token("userId") };
}

/** Keys at every level, with the values of words and of what is not an object. */
const shape = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]))
    : typeof value === "string" && /^\w{20}$/.test(value)
      ? "ID"
      : value;

const insert = async ({ post }: Wire, Key: unknown, more: object = {}, microAppID = "a"): Promise<string> => {
  const { body } = await post("insertmicroapprow", { microAppID, rowData: { Key, ...more } });
  return String(at(body, "rowID") ?? at(body, "body.rowID"));
};
const read = async ({ post }: Wire, more: object = {}, microAppID = "a"): Promise<unknown> => {
  const { body, status } = await post("microappdata", { microAppID, ...more });
  const rows: unknown = at(body, "body.microAppRows");
  return Array.isArray(rows)
    ? (rows as unknown[]).map((row) => at(row, "Key") ?? at(row, "fields") ?? row)
    : [status, body];
};
const three = async (wire: Wire): Promise<void> => {
  for (const [index, key] of ["x", "z", "y"].entries()) await insert(wire, key, { Count: index });
};
const organization = async ({ post }: Wire, info: object = {}) =>
  post("insertorganization", { organizationInfo: { name: "Org", ...info } });
const team = async (wire: Wire, info: object = {}): Promise<{ organizationID: string; teamID: string }> => {
  const { body } = await organization(wire);
  const organizationID = String(at(body, "organizationID"));
  const made = await wire.post("insertteam", { teamInfo: { organizationID, name: "Team", ...info } });
  return { organizationID, teamID: String(at(made.body, "teamID")) };
};
const members = async ({ post }: Wire, teamID: string): Promise<unknown> => {
  const { body } = await post("teammembers", { teamID, teamIDs: [teamID] });
  return body;
};
const child = async (wire: Wire) => {
  const appID = await insert(wire, "x");
  const fieldID = at(await wire.get("userid?email=ada@example.com"), "nothing") ?? (await fileField(wire, appID));
  return { microAppResourceID: "a", appID, fieldID };
};
/** The ID of the field File, which its own label is refused with. */
const fileField = async ({ post }: Wire, appID: string): Promise<unknown> => {
  const { body } = await post("microappchild/create", { microAppResourceID: "a", appID, fieldID: "File", content: {} });
  return /is (\w+)$/.exec(String(at(body, "message")))?.[1];
};
const app = async ({ post }: Wire): Promise<string> => {
  const { body } = await post("createappwithprompt", {
    userEmail: "ada@example.com",
    appPrompt: "x",
    attachments: [],
  });
  const link = at(body, "link") ?? at(body, "url") ?? at(body, "body") ?? body;
  return String(link).split("/").at(-1) ?? "";
};

/** Requests that reveal each habit. */
const looks: { [Name in SwitchName]: (wire: Wire) => Promise<unknown> } = {
  writeEnvelope: async ({ post }) => shape(await post("insertmicroapprow", { microAppID: "a", rowData: {} })),
  creationResult: async (wire) => shape(await organization(wire)),
  failureForm: ({ post }) => post("readorganization", { organizationID: "none" }),
  failureStatus: ({ post }) => post("readorganization", { organizationID: "none" }),
  loginEnvelope: async ({ post }) => {
    const { body } = await post("login", { email: "admin@example.com", password: "admin" }, {});
    return Object.keys(body as object);
  },
  logoutBy: async ({ post, session }) => {
    const { "x-auth-token": authToken, "x-user-id": userId, ...key } = session;
    const byBody = await post("logout", { authToken, userId }, key);
    return [byBody, await post("logout", {}, session)];
  },
  userLookupBy: async ({ post, get }) => [
    await get("userid?email=ada@example.com"),
    await post("userid", { email: "ada@example.com" }),
  ],
  unknownTable: ({ post }) => post("microappdata", { microAppID: "none" }),
  unknownRow: ({ post }) => post("microappdata/row", { rowID: "none" }),
  skip: async (wire) => (await three(wire), read(wire, { searchFilter: [{ skip: 2, limit: 2 }] })),
  skipForm: async (wire) => {
    await three(wire);
    const asked = [
      { skip: "2", limit: "2" },
      { skip: 2, limit: 2 },
    ];
    return Promise.all(asked.map((filter) => read(wire, { searchFilter: [filter] })));
  },
  optLimit: async (wire) => (await three(wire), read(wire, { optLimit: 1 })),
  rowOrder: async (wire) => {
    const codes = Array.from({ length: 30 }, (_, index) => ({ Key: String(index) }));
    await wire.post("insertmicroapprows", { microAppID: "a", rows: codes });
    return JSON.stringify(await read(wire)) === JSON.stringify(await read(wire));
  },
  viewSort: async (wire) => (await three(wire), read(wire, { optViewSort: { sortVal: -1 } })),
  searchFilters: async (wire) => (
    await three(wire),
    read(wire, { optSearchFilters: [{ fieldID: "key", value: "x" }] })
  ),
  viewFilters: async (wire) => (await three(wire), read(wire, { optViewFilters: [{ Key: "x" }] })),
  rangeFilters: async (wire) => (await three(wire), read(wire, { optViewFilters: [{ Count: { $gt: 1 } }] })),
  parentShown: async (wire) => {
    const embeddingRowID = await insert(wire, "x");
    await wire.post("insertmicroapprow", { microAppID: "b", embeddingRowID, rowData: { Name: "one" } });
    const [row] = (await read(wire, {}, "b")) as [unknown];
    return at(row, "embeddingRowID") === undefined;
  },
  subRows: async (wire) => {
    const embeddingRowID = await insert(wire, "x");
    await wire.post("insertmicroapprow", { microAppID: "b", embeddingRowID, rowData: { Name: "one" } });
    const filters = [{}, { optViewFilters: [{ Name: "one" }] }, { optViewFilters: [{ embeddingRowID }] }];
    return Promise.all(filters.map(async (one) => ((await read(wire, one, "b")) as unknown[]).length));
  },
  linkForm: async (wire) => {
    const crossAppRowID = await insert(wire, "x");
    const { body } = await wire.post("insertmicroapprow", { microAppID: "c", rowData: { To: { crossAppRowID } } });
    const row = await wire.post("microappdata/row", { rowID: at(body, "rowID") });
    return shape(at(row.body, "body.currentRow.To"));
  },
  unknownLabels: (wire) => cell(wire, "Nothing", 1),
  labelCase: (wire) => cell(wire, "Count", 1, "count"),
  wrongValues: (wire) => cell(wire, "Count", "many"),
  linkNull: async (wire) => {
    const crossAppRowID = await insert(wire, "x");
    const rowID = await insert(wire, "y", { To: { crossAppRowID } }, "c");
    await wire.post("updatemicroapprow", { rowID, rowData: { To: null } });
    return typeof at((await wire.post("microappdata/row", { rowID })).body, "body.currentRow.To.crossAppRowID");
  },
  emptyText: (wire) => cell(wire, "Key", ""),
  batchInserts: ({ post }) => post("insertmicroapprows", { microAppID: "a", rows: [{}] }),
  insertedCount: ({ post }) => post("insertmicroapprows", { microAppID: "a", rows: [{}] }),
  partialBatches: async (wire) => {
    await wire.post("insertmicroapprows", { microAppID: "a", rows: [{ Key: "x" }, { Key: 1 }, { Key: "z" }] });
    return read(wire);
  },
  ownParents: async (wire) => {
    const embeddingRowID = await insert(wire, "x");
    return wire.post("insertmicroapprows", { microAppID: "b", rows: [{ Name: "x", embeddingRowID }] });
  },
  updateUnknownRow: ({ post }) => post("updatemicroapprow", { rowID: "none", rowData: {} }),
  removeUnknownRow: ({ post }) => post("removemicroapprow", { rowID: "none" }),
  childRead: ({ post }) => post("microappchild/read", { childID: "none" }),
  childListBy: async (wire) => {
    const { appID, fieldID } = await child(wire);
    const byQuery = await wire.get(`microappchild/list?appID=${appID}&fieldID=${String(fieldID)}`);
    return [byQuery, await wire.post("microappchild/list", { appID, fieldID })].map(({ status }) => status);
  },
  chosenIDs: async (wire) => shape(await organization(wire, { _id: "mine" })),
  organizationNames: async (wire) => (await organization(wire), shape(await organization(wire))),
  teamNames: async (wire) => {
    const { organizationID } = await team(wire);
    return (await wire.post("insertteam", { teamInfo: { organizationID, name: "Team" } })).status;
  },
  nullDescription: async (wire) => {
    const { teamID } = await team(wire, { description: "Runs" });
    await wire.post("updateteam", { teamID, teamInfo: { description: null } });
    return at((await wire.post("readteam", { teamID })).body, "body.description");
  },
  unknownDelete: async ({ post }) => [
    await post("deleteorganization", { organizationID: "none" }),
    await post("deleteteam", { teamID: "none" }),
    await post("deleteteammember", { teamID: "none", userID: "none" }),
  ],
  unknownThing: ({ post }) => post("readteam", { teamID: "none" }),
  createdAt: async (wire) => {
    const { teamID } = await team(wire);
    return typeof at((await wire.post("readteam", { teamID })).body, "body.createdAt");
  },
  cascade: async (wire) => {
    const { organizationID } = await team(wire);
    return (await wire.post("deleteorganization", { organizationID })).status;
  },
  allMembers: async (wire) => {
    const { organizationID, teamID } = await team(wire);
    await wire.post("insertteammembers", { teamIDs: [teamID], emails: ["ada@example.com"] });
    await wire.post("enforceteammembership", { teamIDs: [], email: "ada@example.com" });
    // A user who has left every other team is still in "All Members".
    const ada = await session(wire, "ada@example.com", "ada");
    return (await wire.post("readorganization", { organizationID }, ada)).status;
  },
  memberForm: async (wire) => shape(await members(wire, (await team(wire)).teamID)),
  memberPlace: async (wire) => shape(await members(wire, (await team(wire)).teamID)),
  memberAddress: async (wire) => shape(await members(wire, (await team(wire)).teamID)),
  memberAgain: async (wire) => {
    const { teamID } = await team(wire);
    await wire.post("insertteammembers", { teamIDs: [teamID], userIDs: ["ada"] });
    return (await wire.post("insertteammembers", { teamIDs: [teamID], userIDs: ["ada"] })).status;
  },
  creatorJoins: async (wire) => shape(await members(wire, (await team(wire)).teamID)),
  memberID: async (wire) => {
    const { teamID } = await team(wire);
    const [{ teamMemberID, userID }] = at(await members(wire, teamID), "body.teamMembers") as [Record<string, string>];
    const found = [
      await wire.post("readteammember", { teamMemberID }),
      await wire.post("readteammember", { teamID, userID }),
    ];
    return found.map(({ status }) => status);
  },
  teamParameter: async (wire) => {
    const { teamID } = await team(wire);
    const lists = [await wire.post("teammembers", { teamID }), await wire.post("teammembers", { teamIDs: [teamID] })];
    return lists.map(({ status }) => status);
  },
  invitations: async (wire) => {
    const { teamID } = await team(wire);
    const { status } = await wire.post("insertteammembers", { teamIDs: [teamID], emails: ["new@example.com"] });
    return [status, (at(await members(wire, teamID), "body.teamMembers") as unknown[]).length];
  },
  enforceBy: async ({ post }) => [
    await post("enforceteammembership", { teamIDs: [], email: "ada@example.com" }),
    await post("enforceteammembership", { teamIDs: [], userID: "ada" }),
  ],
  roleChange: async (wire) => {
    const { teamID } = await team(wire);
    const emails = ["ada@example.com", "bob@example.com"];
    await wire.post("insertteammembers", { teamIDs: [teamID], emails });
    const { status } = await wire.post("updateteammember", { teamID, userID: "ada", role: "admin" });
    const roles = async () => {
      const { body } = await wire.post("teammembers", { teamIDs: [teamID] });
      return (at(body, "body.teamMembers") as { role?: string }[]).map(({ role }) => role);
    };
    const before = await roles();
    const userID = at((await wire.get("userid?email=bob@example.com")).body, "body.userID");
    await wire.post("updateteammember", { teamID, userID, role: "admin" });
    return [status, before, await roles()];
  },
  defaultChannel: async (wire) => {
    const appID = await app(wire);
    const { body } = await wire.post("sendnotification", { appID, email: "ada@example.com", message: "x" });
    return at(body, "pushCount");
  },
  appLink: async ({ post }) => {
    const { body } = await post("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "x" });
    return typeof body === "string" ? "text" : Object.keys(body as object);
  },
  notificationValues: async (wire) => {
    const appID = await app(wire);
    const { body } = await wire.post("sendnotification", { appID, email: "ada@example.com", message: "x" });
    return at(body, "hasMessage");
  },
};

/** Writes a row with a value and returns the status and the value that is read back. */
async function cell(wire: Wire, label: string, value: unknown, written = label): Promise<[number, unknown]> {
  const { status, body } = await wire.post("insertmicroapprow", { microAppID: "a", rowData: { [written]: value } });
  const row = await wire.post("microappdata/row", { rowID: at(body, "rowID") ?? "none" });
  const found = at(row.body, `body.currentRow.${label}`);
  return [status, found === undefined ? "nothing" : found];
}

describe("each value of a habit is another behaviour", () => {
  const names = Object.keys(switches) as SwitchName[];
  test.each(names)("%s", async (name) => {
    const shown: string[] = [];
    for (const value of switches[name].values) shown.push(await seen({ [name]: value }, looks[name]));
    expect(new Set(shown).size).toBe(shown.length);
    expect(await seen({}, looks[name])).toBe(shown[0]);
  });
});

test("the first value of each habit is what the emulator does without a profile", () => {
  for (const [name, { values }] of Object.entries(switches)) expect(usualSwitches[name as SwitchName]).toBe(values[0]);
});

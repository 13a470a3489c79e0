import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../emulator.ts";
import { signIn, type Caller } from "../testing/platform.ts";

// Many rows are without a sort value or have equal ones.

interface Item {
  Code: string;
  Group: string | null;
  Amount: number | null;
  Free: string;
}

const items = Array.from({ length: 2222 }, (_, n): Item => {
  const mixed = (n * 7919) % 2222;
  return {
    Code: `C${mixed}`,
    Group: n % 3 === 0 ? null : `g${mixed % 2}`,
    Amount: n % 5 === 0 ? null : mixed % 50,
    Free: `f${mixed % 7}`,
  };
});

let emulator: Emulator;
let admin: Caller;

beforeAll(async () => {
  const fields = {
    Code: { type: "text", sort: 1 },
    Group: { type: "text", sort: 2 },
    Amount: { type: "number", sort: 3 },
    Free: "text",
  } as const;
  emulator = await createEmulator({ seed: { tables: { items: { fields } } } });
  admin = await signIn(emulator.url);
  await admin.get("inserted", "insertmicroapprows", { microAppID: "items", rows: items });
});
afterAll(() => emulator.close());

const read = async (query: object) => {
  const rows = await admin.get("body.microAppRows", "microappdata", { microAppID: "items", ...query });
  return (rows as Item[]).map(({ Code }) => Code);
};

type Order = [keyof Item, 1 | -1][];

/** Codes in the order of the platform: nothing before something, equal ones as they were inserted. */
function sorted(some: readonly Item[], order: Order): string[] {
  const places = new Map(items.map((item, place) => [item, place]));
  const last = order.at(-1)?.[1] ?? 1;
  const compare = (one: unknown, other: unknown) =>
    one === other ? 0 : one === null || (other !== null && (one as string) < (other as string)) ? -1 : 1;
  return [...some]
    .sort((one, other) => {
      for (const [key, way] of order) {
        const found = compare(one[key], other[key]) * way;
        if (found !== 0) return found;
      }
      return ((places.get(one) ?? 0) - (places.get(other) ?? 0)) * last;
    })
    .map(({ Code }) => Code);
}

const orders: Order[] = [
  [],
  [["Code", 1]],
  [["Group", 1]],
  [["Group", -1]],
  [["Amount", -1]],
  [["Free", -1]],
  [
    ["Group", -1],
    ["Amount", 1],
  ],
  [
    ["Free", 1],
    ["Code", -1],
  ],
];

const filters: [object, (item: Item) => boolean][] = [
  [{}, () => true],
  [{ Group: "g1" }, ({ Group }) => Group === "g1"],
  [{ Group: { $in: ["g0", "g1"] } }, ({ Group }) => Group !== null],
  [{ Amount: { $gte: 10, $lt: 40 } }, ({ Amount }) => Amount !== null && Amount >= 10 && Amount < 40],
  [{ Free: "f3" }, ({ Free }) => Free === "f3"],
  [{ Free: { $ne: "f3" }, Group: { $gt: "g0" } }, ({ Free, Group }) => Free !== "f3" && Group === "g1"],
  [
    { Free: { $regex: "[456]$" }, Amount: { $lt: 45 } },
    ({ Free, Amount }) => Free > "f3" && Amount !== null && Amount < 45,
  ],
  [
    { $or: [{ Code: { $regex: "^C1" } }, { Group: null }] },
    ({ Code, Group }) => Code.startsWith("C1") || Group === null,
  ],
];

test.each(orders)("rows in the order %j %j are the same on every page", async (...optViewSort) => {
  for (const [filter, matches] of filters) {
    const expected = sorted(items.filter(matches), optViewSort);
    const query = { optViewFilters: [filter], optViewSort };
    for (const [skip, limit] of [
      [0, 7],
      [900, 1001],
      [Math.max(0, expected.length - 3), 100],
    ] as const) {
      const page = await read({ ...query, searchFilter: [{ skip, limit }] });
      expect([filter, skip, page]).toEqual([filter, skip, expected.slice(skip, skip + limit)]);
    }
  }
});

test("a search for words looks at all rows", async () => {
  const found = await read({ optIsVectorSearch: true, optVectorSearchString: "C2000", optLimit: 30 });
  expect(found).toContain("C2000"); // others share some of its parts
});

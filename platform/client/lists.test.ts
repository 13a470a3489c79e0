import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { setImmediate as pause } from "node:timers/promises";
import type { AnswerOf, RequestOf } from "../contract/endpoints.ts";
import type { Row } from "../contract/values.ts";
import type { CallOptions } from "./http/call.ts";
import { pages, type PagesOptions, inParallel } from "./lists.ts";
import type { Client } from "./options.ts";
import { say, serve, type Server } from "./testing/server.ts";

type Query = RequestOf<"microappdata">;

/** Ways in which a table deviates; an empty value is a table without deviations. */
interface Habits {
  /** Most rows of a page, whatever was asked for. */
  cap?: number;
  /** Keeps the rows in the order in which they are. */
  ignoresSort?: boolean;
  ignoresFilter?: boolean;
  /** Finds nothing by a filter on `_id`. */
  failsFilter?: boolean;
  ignoresSkip?: boolean;
  /** Rows hold IDs of other things. */
  nests?: boolean;
  /** Called before each page is answered. */
  before?: (rows: string[], page: number) => void;
}

/** A client of one table; only the endpoint that reads rows is there. */
function tableOf(ids: readonly string[], habits: Habits = {}): { client: Client; queries: Query[] } {
  const rows = [...ids];
  const queries: Query[] = [];
  const microappdata = async (query: Query, { glance }: CallOptions): Promise<AnswerOf<"microappdata">> => {
    await Promise.resolve(); // nothing is answered at once
    queries.push(query);
    habits.before?.(rows, queries.length);
    const after = (query.optViewFilters?.[0]?.["_id"] as { $gt?: string } | undefined)?.$gt;
    let found = habits.ignoresSort ? [...rows] : [...rows].sort();
    if (after !== undefined && habits.failsFilter) found = [];
    if (after !== undefined && !habits.ignoresFilter) found = found.filter((id) => id > after);
    const { skip = 0, limit = 0 } = query.searchFilter?.[0] ?? {};
    const from = habits.ignoresSkip ? 0 : Number(skip);
    const page = found.slice(from, from + Math.min(Number(limit), habits.cap ?? Infinity));
    const answer = { microAppRows: page.map((_id) => (habits.nests ? { _id, Linked: { _id: "0" } } : { _id })) };
    await glance?.(JSON.stringify(answer));
    return answer;
  };
  return { client: { microappdata } as unknown as Client, queries }; // pages() uses nothing else
}

async function readAll(client: Client, options: Partial<PagesOptions> = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of pages(client, { microAppID: "m", ...options })) {
    expect(page.length).toBeGreaterThan(0);
    ids.push(...page.map(({ _id }: Row) => _id));
  }
  return ids;
}

const letters = ["h", "g", "f", "e", "d", "c", "b", "a"];

describe("all rows of a table", () => {
  test.each<[string, Habits]>([
    ["does as it is asked", {}],
    ["has a limit of its own", { cap: 2 }],
    ["ignores the order", { ignoresSort: true }],
    ["ignores the filter", { ignoresFilter: true }],
    ["finds nothing by the filter", { failsFilter: true }],
    ["finds nothing by the filter and has a limit of its own", { failsFilter: true, cap: 2 }],
    ["answers one row at a time", { cap: 1 }],
    ["answers one row at a time and ignores the filter", { ignoresFilter: true, cap: 1 }],
    ["ignores the position", { ignoresSkip: true }],
    ["ignores the position and has a limit of its own", { ignoresSkip: true, cap: 2 }],
    ["tells IDs of other things as well", { nests: true }],
    ["tells IDs of other things as well and has a limit of its own", { nests: true, cap: 2 }],
    ["ignores order and filter", { ignoresSort: true, ignoresFilter: true }],
    ["ignores order and filter and has a limit of its own", { ignoresSort: true, ignoresFilter: true, cap: 3 }],
  ])("come once from a server that %s", async (_, habits) => {
    for (const pageSize of [2, 3, 4, 5, 8, 10_000]) {
      for (let count = 0; count <= letters.length; count++) {
        const ids = letters.slice(0, count);
        const { client } = tableOf(ids, habits);
        expect((await readAll(client, { pageSize })).sort()).toEqual([...ids].sort());
      }
    }
  });

  test("are refused from a server that pages in no way", async () => {
    const { client } = tableOf(letters, { ignoresFilter: true, ignoresSkip: true, cap: 3 });
    await expect(readAll(client)).rejects.toMatchObject({ code: "badAnswer", endpoint: "microappdata" });
  });

  test("cost one call more than there are pages", async () => {
    const { client, queries } = tableOf(letters);
    await readAll(client, { pageSize: 3 });
    expect(queries).toHaveLength(4); // 3, 3, 2 and the empty one
    expect(queries[1]).toEqual({
      microAppID: "m",
      searchFilter: [{ resourceID: "m", skip: 0, limit: 3 }],
      optLimit: 3,
      optViewSort: { _id: 1 },
      optViewFilters: [{ _id: { $gt: "c" } }],
    });
    const empty = tableOf([]);
    await readAll(empty.client);
    expect(empty.queries).toHaveLength(1);
  });

  test("are asked for no more than a page ahead", async () => {
    const ids = Array.from({ length: 200 }, (_, index) => String(index).padStart(3, "0"));
    const { client, queries } = tableOf(ids);
    let read = 0;
    for await (const page of pages(client, { microAppID: "m", pageSize: 30 })) {
      expect(page.length).toBeLessThanOrEqual(30);
      await pause();
      expect(queries.length).toBeLessThanOrEqual(++read + 1);
    }
    expect(queries).toHaveLength(8); // 6 full ones, one of 20, and what comes after it, by a filter that is known to work
  });

  test("that are there all the time come once while others come and go", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.tuple(fc.boolean(), fc.nat(99))),
        fc.constantFrom<Habits>({}, { ignoresFilter: true }, { failsFilter: true }, { cap: 3 }, { cap: 20 }),
        async (changes, habits) => {
          const steady = Array.from({ length: 20 }, (_, index) => `s${String(index * 5).padStart(2, "0")}`);
          const { client } = tableOf(steady, {
            ...habits,
            before: (rows, page) => {
              const { value } = changes.next() as { value: [boolean, number] }; // an endless stream
              if (page > 6) return; // then it is quiet
              const id = `s${String(value[1]).padStart(2, "0")}`;
              if (steady.includes(id)) return;
              if (rows.includes(id)) rows.splice(rows.indexOf(id), 1);
              else if (value[0]) rows.push(id);
            },
          });
          const read = await readAll(client, { pageSize: habits.cap === 20 ? 10_000 : 4 });
          expect(new Set(read).size).toBe(read.length);
          for (const id of steady) expect(read).toContain(id);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("come when one before them leaves behind a page that a server's limit made short", async () => {
    const { client } = tableOf(letters, { cap: 7, before: (rows, page) => rows.splice(page === 2 ? -1 : rows.length) });
    expect(await readAll(client)).toEqual([...letters].reverse());
  });

  test("can be asked for by filters of one's own", async () => {
    const { client, queries } = tableOf(["a", "b"]);
    await readAll(client, { optViewFilters: [{ embeddingRowID: "p" }], pageSize: 1 }).catch(() => undefined);
    expect(queries[0]?.optViewFilters).toEqual([{ embeddingRowID: "p" }]);
    expect(queries[1]?.optViewFilters).toEqual([{ embeddingRowID: "p" }, { _id: { $gt: "a" } }]);
  });
});

describe("over HTTP", () => {
  let server: Server;
  afterEach(() => server.close());
  test("rows come with all that they hold", async () => {
    const row = { _id: "a", Name: "x", viewers: [], submitted: 1 };
    server = await serve((seen, _, count) =>
      seen.endpoint === "microappdata" ? { body: { microAppRows: count === 1 ? [row] : [] } } : undefined,
    );
    const found: Row[] = [];
    for await (const page of pages(server.client(), { microAppID: "m" })) found.push(...page);
    expect(found).toEqual([row]);
  });

  test.each<[string, (limit: unknown) => boolean, unknown[]]>([
    ["large pages", (limit) => Number(limit) > 500, [10_000, 1_000, 500, 500]],
    ["numbers", (limit) => typeof limit !== "string", [10_000, 1_000, 500, 100, "1000", "1000"]],
  ])("a server that refuses %s is asked for others, which are kept", async (_, refuses, limits) => {
    const asked: unknown[] = [];
    server = await serve((seen, response) => {
      if (seen.endpoint !== "microappdata") return undefined;
      const [{ limit } = { limit: undefined }] = (seen.body as { searchFilter: { limit: unknown }[] }).searchFilter;
      asked.push(limit);
      if (refuses(limit)) say(response, 400, { error: "limit is wrong" });
      return { body: { microAppRows: [] } };
    });
    const client = server.client();
    for (let again = 0; again < 2; again++) expect(await readAll(client)).toEqual([]);
    expect(asked).toEqual(limits);
  });
});

describe("work in parallel", () => {
  test("ends with the first failure, after what is under way, and takes nothing more", async () => {
    const ended: number[] = [];
    const taken: number[] = [];
    const work = inParallel([1, 2, 3, 4, 5, 6], 2, async (item) => {
      taken.push(item);
      await new Promise((resolve) => setImmediate(resolve));
      if (item === 1) throw new Error("first");
      if (item === 2) await new Promise((resolve) => setImmediate(resolve));
      ended.push(item);
    });
    await expect(work).rejects.toThrow("first");
    expect(taken).toEqual([1, 2]);
    expect(ended).toEqual([2]);
  });
});

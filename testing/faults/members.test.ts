import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import type { Fault } from "../../emulator/platform/faults.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { type Joined, MemberLists } from "../../provider/people/members.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };
const people = Array.from({ length: 20 }, (_, index) => `p${index}`);
const users = people.map((id) => ({ id, email: `${id}@example.com` }));

type Ends = PromiseSettledResult<Joined>[];

describe.each(["objects", "userIDs"] as const)("40 additions under way, with lists of %s:", (memberForm) => {
  let emulator: Emulator;
  let client: Client;
  let teams: string[];
  const clients: Client[] = [];

  /** Another process, as another run or another window has one. */
  function started(signal?: AbortSignal): MemberLists {
    const client = createClient({
      endpoint: emulator.url,
      ...administrator,
      timeouts: { headers: 300, gracePeriod: 500 },
      wait: () => Promise.resolve(),
    });
    clients.push(client);
    return new MemberLists(client, signal ? { signal } : {});
  }

  beforeAll(async () => {
    emulator = await createEmulator({ seed: { administrator, users, settings: { memberForm } } });
    client = createClient({ endpoint: emulator.url, ...administrator });
    clients.push(client);
  });
  afterAll(async () => {
    for (const one of clients) await one.close();
    await emulator.close();
  });
  beforeEach(async () => {
    emulator.setFaults();
    const name = expect.getState().currentTestName ?? "";
    const { organizationID } = await client.insertorganization({ organizationInfo: { name } });
    teams = [];
    for (const name of ["A", "B"]) {
      teams.push((await client.insertteam({ teamInfo: { organizationID, name } })).teamID);
    }
  });

  const emailOf = (name: string): string => `${name}@example.com`;
  const add = (lists: MemberLists, names: readonly string[] = people): Promise<Ends> =>
    Promise.allSettled(teams.flatMap((teamID) => names.map((name) => lists.add(teamID, { email: emailOf(name) }))));
  const told = (ends: Ends): string[] =>
    ends.map((end) => (end.status === "fulfilled" ? end.value.member.userID : String(end.reason)));
  const everybody = (): string[] => teams.flatMap(() => people);
  const sent = (since: number): string[] =>
    emulator.calls({ since, mutating: true }).flatMap(({ endpoint }) => (endpoint === "login" ? [] : endpoint));

  async function live(): Promise<(string | undefined)[]> {
    const self = await client.callerID();
    const lists = teams.map((teamID) => client.teammembers({ teamIDs: [teamID] }));
    const members = (await Promise.all(lists)).flatMap(({ teamMembers }) => teamMembers.map(({ userID }) => userID));
    return members.filter((userID) => userID !== self);
  }

  /** Everybody is in every team once, and the next run has nothing to do. */
  async function settled(): Promise<void> {
    expect((await live()).toSorted()).toEqual(everybody().toSorted());
    const since = emulator.lastCall();
    const ends = await add(started());
    expect(told(ends)).toEqual(everybody());
    expect(ends).toEqual(
      ends.map(() => expect.objectContaining({ value: expect.objectContaining({ existed: true }) })),
    );
    expect(sent(since)).toEqual([]);
  }

  const cases: [string, Omit<Fault, "endpoint">, calls: number][] = [
    ["reset before", { kind: "reset" }, 2],
    ["reset after commit", { kind: "reset", commit: true }, 2],
    ["no answer", { kind: "timeout" }, 2],
    ["no answer after commit", { kind: "timeout", commit: true }, 2],
    ["500 after commit", { kind: "status", status: 500, commit: true }, 2],
    ["429 with Retry-After", { kind: "status", status: 429, retryAfter: 30 }, 2],
    ["expired token", { kind: "expiredToken" }, 2],
    ["200 with an error in it", { kind: "errorInside" }, 3], // its halves are tried
    ["broken JSON", { kind: "brokenJSON" }, 1], // the list proves that they were added
  ];
  test.each(cases)("%s: everybody is told of their own membership", async (_name, fault, calls) => {
    emulator.setFaults({ faults: [{ ...fault, endpoint: "insertteammembers", count: 1 }] });
    const since = emulator.lastCall();
    expect(told(await add(started()))).toEqual(everybody());
    expect(sent(since)).toEqual(Array(calls).fill("insertteammembers"));
    await settled();
  });

  test("a refusal that lasts is everybody's, and the next run adds them", async () => {
    emulator.setFaults({ faults: [{ kind: "errorInside", endpoint: "insertteammembers" }] });
    for (const one of told(await add(started()))) expect(one).toContain("This failure was asked for");
    expect(await live()).toEqual([]);
    emulator.setFaults();
    expect(told(await add(started()))).toEqual(everybody());
    await settled();
  });

  test("where a list can't be read afterwards nobody is known to be there, and the next run finds them", async () => {
    const before = memberForm === "userIDs" ? 1 + teams.length : 1; // bare IDs are asked for team by team
    emulator.setFaults({ faults: [{ kind: "errorInside", endpoint: "teammembers", after: before }] });
    for (const end of await add(started())) {
      const reason = expect.objectContaining({ message: expect.stringContaining("teammembers") }) as unknown;
      expect(end).toMatchObject({ value: { isUnseen: true, reason } });
    }
    emulator.setFaults();
    await settled();
  });

  test("a cancel while they wait sends nothing, and after one while they are sent everybody is told all the same", async () => {
    const waiting = new AbortController();
    const since = emulator.lastCall();
    const adding = add(started(waiting.signal));
    waiting.abort();
    for (const one of told(await adding)) expect(one).toContain("Nothing was sent");
    expect(sent(since)).toEqual([]);

    const underway = new AbortController();
    emulator.setFaults({ faults: [{ kind: "slow", milliseconds: 50, endpoint: "insertteammembers" }] });
    const lists = started(underway.signal);
    const late = add(lists);
    while (emulator.faults()[0]?.hit !== 1) await new Promise(setImmediate);
    underway.abort();
    expect(told(await late)).toEqual(everybody());
    emulator.setFaults();
    expect(told(await add(started()))).toEqual(everybody());
    await settled();
  });

  test("those who are led elsewhere are another call, whose failure is theirs alone", async () => {
    const [teamID = ""] = teams;
    emulator.setFaults({
      faults: [{ kind: "status", status: 403, endpoint: "insertteammembers", after: 1, count: 1 }],
    });
    const lists = started();
    const led = ["app", "go"] as const;
    const ends = await Promise.allSettled(
      led.map((targetRoute, index) => lists.add(teamID, { email: emailOf(`p${index}`), targets: { targetRoute } })),
    );
    // Either of the two calls may come first.
    expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await live()).toEqual(ends[0]?.status === "fulfilled" ? ["p0"] : ["p1"]);
  });

  test("two windows at the same time double nobody", async () => {
    const ends = await Promise.all([add(started()), add(started())]);
    expect(ends.map(told)).toEqual([everybody(), everybody()]);
    await settled();
  });

  test("one person in two spellings is one member, and who is refused hinders nobody", async () => {
    const lists = started();
    const [first = ""] = teams;
    const stranger = lists.add(first, { userID: "nobody" });
    const again = lists.add(first, { email: "P0@Example.com" });
    const ends = await add(lists);
    await expect(stranger).rejects.toThrow("nobody");
    await expect(again).resolves.toMatchObject({ member: { userID: "p0" } });
    expect(told(ends)).toEqual(everybody());
    await settled();
  });
});

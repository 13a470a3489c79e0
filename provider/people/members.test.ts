import { afterEach, describe, expect, test } from "@jest/globals";
import { say, serve, type Server } from "../../platform/client/testing/server.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { following, MemberLists, peopleIn } from "./members.ts";

let server: Server;
afterEach(() => server.close());

const atOnce = 0;

interface Person {
  userID: string;
  email: string;
  role: string;
}

const person = (userID: string, role = "member"): Person => ({ userID, email: `${userID}@crew.example`, role });
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

interface Habits {
  /** Refuses this address. */
  refuses?: string;
  /** Forbids additions and names the person. */
  forbids?: boolean;
  /** Runs in another window after each of our additions. */
  meanwhile?: () => void;
}

/** A platform with these teams. */
async function platform(
  teams: Record<string, Person[]>,
  { refuses, forbids, meanwhile }: Habits = {},
): Promise<MemberLists> {
  server = await serve(({ endpoint, body, path }, response) => {
    if (endpoint === "userid") {
      const email = new URL(path, "http://platform.example").searchParams.get("email") ?? "";
      return { body: { userID: email.split("@")[0] } };
    }
    if (!isObject(body)) return undefined;
    const teamIDs = textsOf(body["teamIDs"]);
    if (teamIDs.some((teamID) => !teams[teamID])) {
      say(response, 404, { status: "failure", message: "Team not found" });
      return undefined;
    }
    if (endpoint === "teammembers") {
      const teamMembers = teamIDs.flatMap((teamID) => (teams[teamID] ?? []).map((one) => ({ ...one, teamID })));
      return { body: { teamMembers } };
    }
    if (endpoint === "insertteammembers") {
      const emails = textsOf(body["emails"]);
      if (refuses !== undefined && emails.includes(refuses)) {
        say(response, 400, { status: "failure", message: `${refuses} is invalid` });
        return undefined;
      }
      if (forbids) {
        say(response, 403, { status: "failure", message: `${emails.join(" and ")} may not join` });
        return undefined;
      }
      for (const teamID of teamIDs) teams[teamID]?.push(...emails.map((email) => person(email.split("@")[0] ?? "")));
      meanwhile?.();
      return { status: "success" };
    }
    if (endpoint === "updateteammember") return { status: "success" };
    return undefined;
  });
  return new MemberLists(server.client(), { reads: atOnce, additions: atOnce, now: () => 0 });
}

const sent = (): unknown[] =>
  server.seen.filter(({ endpoint }) => endpoint === "insertteammembers").map(({ body }) => body);

const addTo = (lists: MemberLists, additions: readonly string[]) =>
  Promise.allSettled(
    additions.map((addition) => {
      const [teamID = "", name = ""] = addition.split(" ");
      return lists.add(teamID, { email: `${name}@crew.example` });
    }),
  );

describe("additions", () => {
  test("beside another window, which takes one out and makes one an administrator: the others are told", async () => {
    const teams = { a: [person("ann")] };
    const meanwhile = (): void => {
      teams.a = [...teams.a.filter(({ userID }) => userID !== "bob"), person("dan")].map((one) =>
        one.userID === "cat" ? { ...one, role: "admin" } : one,
      );
    };
    const lists = await platform(teams, { meanwhile });
    const [ann, bob, cat, eva] = await addTo(lists, ["a ann", "a bob", "a cat", "a eva"]);
    expect(ann).toMatchObject({ value: { existed: true } });
    // The answer was success: whoever is not in the list may still come into it.
    expect(bob).toMatchObject({ value: { existed: false, isUnlisted: true, member: { email: "bob@crew.example" } } });
    expect(cat).toMatchObject({ value: { existed: true, member: { role: "admin" } } });
    expect(eva).toMatchObject({ value: { existed: false, member: { role: "member" } } });
    // The window's own are in the list that is known now, and those who left it are added again.
    const [dan, again] = await addTo(lists, ["a dan", "a bob"]);
    expect(dan).toMatchObject({ value: { existed: true } });
    expect(again).toMatchObject({ value: { isUnlisted: true } });
    expect(sent()).toHaveLength(2);
  });

  test("of a hundred, of whom one is refused, take in the others", async () => {
    const teams = { a: [], b: [] };
    const lists = await platform(teams, { refuses: "p42@crew.example" });
    const people = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const ends = await addTo(lists, [...people.map((name) => `a ${name}`), ...people.map((name) => `b ${name}`)]);
    const refused = ends.flatMap(({ status }, index) => (status === "rejected" ? index : []));
    expect(refused).toEqual([42, 142]);
    expect(ends[42]).toMatchObject({ reason: { platformMessage: "p42@crew.example is invalid" } });
    expect([teams.a.length, teams.b.length]).toEqual([99, 99]);
    expect(sent().length).toBeLessThan(40);
  });

  test("that are forbidden together name nobody to the others, whose address may be a secret", async () => {
    const lists = await platform({ a: [] }, { forbids: true });
    for (const end of await addTo(lists, ["a ann", "a bob"])) {
      expect(end).toMatchObject({
        reason: { code: "forbidden", platformMessage: "[secret] and [secret] may not join" },
      });
    }
    const [alone] = await addTo(lists, ["a cat"]);
    expect(alone).toMatchObject({ reason: { platformMessage: "cat@crew.example may not join" } });
  });
});

const found = (list: Parameters<typeof peopleIn>[0], ...names: string[]) =>
  names.map((name) => peopleIn(list).find({ userID: name })?.userID ?? peopleIn(list).find({ email: name })?.userID);

test("an address that comes a second time is of nobody, also in a list that grew", () => {
  const before = [{ userID: "one", email: "ann@crew.example" }];
  peopleIn(before);
  const after = following(before, [...before, { userID: "other", email: "Ann@crew.example" }]);
  expect(found(after, "ANN@crew.example", "ann@crew.example", "Ann@crew.example")).toEqual([undefined, "one", "other"]);
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { serve, type Server } from "../testing/server.ts";

let server: Server;
const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((each) => each.close())));

describe("forms of lists that platforms answer", () => {
  const answering = async (answer: (count: number) => unknown): Promise<void> => {
    server = await serve(({ endpoint }, _, count) => (endpoint === "login" ? undefined : answer(count)));
    servers.push(server); // a test may have several
  };
  const ada = { userID: "u1", email: "ada@example.com" };
  const people: [string, unknown, object[]][] = [
    ["IDs", { body: ["u1"] }, [{ userID: "u1" }]],
    ["IDs by name", { status: "success", userIDs: ["u1", 2] }, [{ userID: "u1" }, { userID: "2" }]],
    ["IDs by name in a body", { body: { userIDs: ["u1"] } }, [{ userID: "u1" }]],
    ["users", { body: [{ _id: "u1", emails: [{ address: "ada@example.com" }] }] }, [ada]],
    ["memberships", { body: [{ _id: "m1", ...ada }] }, [{ teamMemberID: "m1", ...ada }]],
  ];
  test.each(people)("people as %s", async (_, answer, expected) => {
    await answering(() => answer);
    expect((await server.client().teammembers({ teamIDs: ["t"] })).teamMembers).toMatchObject(expected);
  });

  test.each(["data", "rows", "microAppRows"])("rows under %s", async (name) => {
    for (const answer of [{ [name]: [{ _id: "r1" }] }, { status: "success", body: { [name]: [{ _id: "r1" }] } }]) {
      await answering(() => answer);
      expect((await server.client().microappdata({ microAppID: "m" })).microAppRows).toEqual([{ _id: "r1" }]);
    }
  });

  test("a form that is not known is refused with the answer's keys, and without its values", async () => {
    await answering(() => ({ status: "success", body: { people: ["secret"] }, next: null }));
    const ending = server.client().teammembers({ teamIDs: ["t"] });
    await expect(ending).rejects.toMatchObject({
      code: "badAnswer",
      platformMessage: "The answer is not as documented: teamMembers; it has status, next, body.people",
    });
  });

  test("a rate limit with status 200 is waited for", async () => {
    await answering((count) =>
      count === 1
        ? { status: "failure", message: "Slow down [too-many-requests]" }
        : { body: { _id: "t1", name: "Crew" } },
    );
    expect((await server.client().readteam({ teamID: "t1" })).team).toMatchObject({ _id: "t1" });
    expect(server.count("readteam")).toBe(2);
  });
});

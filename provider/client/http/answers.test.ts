import { afterEach, describe, expect, test } from "@jest/globals";
import { serve, type Server } from "../testing/server.ts";
import { parseReply } from "./answers.ts";

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
    [
      "other spellings",
      { body: [{ id: "m1", userId: "u1", emailAddress: ada.email }] },
      [{ teamMemberID: "m1", ...ada }],
    ],
    [
      "a user in each",
      { body: [{ _id: "m1", user: { _id: "u1", email: ada.email } }] },
      [{ teamMemberID: "m1", ...ada }],
    ],
    ["roles in capitals", { body: [{ ...ada, role: "Admin" }] }, [{ ...ada, role: "admin" }]],
    ["lists of one role", { body: [{ ...ada, roles: ["admin"] }] }, [{ ...ada, role: "admin" }]],
    ["administrators or not", { body: [{ ...ada, isAdmin: false }] }, [{ ...ada, role: "member" }]],
    ["a group for each team", { body: [{ teamID: "t", members: [ada] }] }, [{ teamID: "t", ...ada }]],
    ["groups by team", { body: { t: [{ teamID: "t", ...ada }] } }, [{ teamID: "t", ...ada }]],
  ];
  test.each(people)("people as %s", async (_, answer, expected) => {
    await answering(() => answer);
    expect((await server.client().teammembers({ teamIDs: ["t"] })).teamMembers).toMatchObject(expected);
  });

  test.each([
    { status: "success", team: { _id: "t1", name: "Crew" } },
    { body: { team: { _id: "t1", name: "Crew" } } },
  ])("a record under its own name", async (answer) => {
    await answering(() => answer);
    expect((await server.client().readteam({ teamID: "t1" })).team).toMatchObject({ _id: "t1" });
  });

  test("a record under an unknown name is not taken for none", async () => {
    await answering(() => ({ status: "success", group: { _id: "t1", name: "Crew" } }));
    await expect(server.client().readteam({ teamID: "t1" })).rejects.toMatchObject({ code: "badAnswer" });
  });

  test.each([
    { body: { childItems: [{ childID: "c1", url: "u", filename: "f" }] } },
    { children: [{ id: "c1", content: { url: "u", filename: "f" } }] },
  ])("child records by other names", async (answer) => {
    await answering(() => answer);
    const { childItems } = await server.client().microappchildList({ appID: "r", fieldID: "f" });
    expect(childItems).toMatchObject([{ _id: "c1", content: { url: "u", filename: "f" } }]);
  });

  test.each([400, 403])("a session that ended with status %s is renewed", async (status) => {
    const refusal = JSON.stringify({ status: "failure", message: "You must be logged in" });
    server = await serve(({ endpoint }, response, count) => {
      if (endpoint !== "readteam") return undefined;
      if (count === 1) return void response.writeHead(status).end(refusal);
      return { body: { _id: "t1", name: "Crew" } };
    });
    servers.push(server);
    expect((await server.client().readteam({ teamID: "t1" })).team).toMatchObject({ _id: "t1" });
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

describe("an answer of another server is named by what a person sees of it:", () => {
  const page = (title: string): string => `<!DOCTYPE html><html><head><title>${title}</title></head></html>`;
  const sso = "https://sso.example.com/login";
  const replies: [string, status: number, text: string, location: string | undefined, message: string][] = [
    [
      "a redirect, without its query",
      302,
      "",
      `${sso}?token=hidden#hidden`,
      `The address redirects to ${sso} (HTTP 302)`,
    ],
    ["a redirect to a path", 301, "", "/v2/api?x=hidden", "The address redirects to /v2/api (HTTP 301)"],
    ["a redirect to nowhere", 302, "", undefined, "The address redirects to another place (HTTP 302)"],
    ["a page", 200, page("Sign in"), undefined, 'The answer is a page of HTML, "Sign in"'],
    ["a page without a title", 200, "<html><body>…", undefined, "The answer is a page of HTML"],
    ["a page of an error", 404, page(" Not found "), undefined, 'HTTP 404 with a page of HTML, "Not found"'],
    ["no page", 404, "nothing", undefined, "HTTP 404 without an answer of the platform's"],
    ["no JSON", 200, "nothing", undefined, "The answer is not JSON"],
  ];
  test.each(replies)("%s", (_, status, text, location, message) => {
    const reply = { status, text, location, retryAfter: undefined, date: undefined };
    expect(parseReply("readteam", reply)).toMatchObject({ failed: { code: "badAnswer", message } });
  });

  test("its title is shortened, and shows no escapes", () => {
    const reply = { status: 200, text: page(`\u001b[31m${"x".repeat(200)}`), location: undefined };
    const { failed } = parseReply("readteam", { ...reply, retryAfter: undefined, date: undefined }) as {
      failed: { message: string };
    };
    expect(failed.message).toMatch(/^The answer is a page of HTML, "[^\u001b]{20,130}"$/);
  });
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { serve, type Server } from "../testing/server.ts";
import { parseReply } from "./messages.ts";
import { outcomeOf, type Failed } from "./retries.ts";

let server: Server;
const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((each) => each.close())));

describe("refusals that are no end", () => {
  const answering = async (answer: (count: number) => unknown): Promise<void> => {
    server = await serve(({ endpoint }, _, count) => (endpoint === "login" ? undefined : answer(count)));
    servers.push(server); // a test may have several
  };
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
    ["a page of a proxy", 403, page("Sign in"), undefined, 'HTTP 403 with a page of HTML, "Sign in"'],
    ["no page", 404, "nothing", undefined, "HTTP 404 without an answer of the platform's"],
    ["no JSON", 200, "nothing", undefined, "The answer is not JSON"],
  ];
  test.each(replies)("%s", (_, status, text, location, message) => {
    const reply = { status, text, location, retryAfter: undefined, date: undefined };
    const { failed } = parseReply("createappwithprompt", reply) as { failed: Failed };
    expect(failed).toMatchObject({ code: "badAnswer", message });
    // A page, and what is no success, means that nothing was passed on.
    expect(outcomeOf("create", failed)).toBe(message === "The answer is not JSON" ? "unknown" : "none");
  });

  test("its title is shortened, and shows no escapes", () => {
    const reply = { status: 200, text: page(`\u001b[31m${"x".repeat(200)}`), location: undefined };
    const { failed } = parseReply("readteam", { ...reply, retryAfter: undefined, date: undefined }) as {
      failed: Failed;
    };
    expect(failed.message).toMatch(/^The answer is a page of HTML, "[^\u001b]{20,130}"$/);
  });
});

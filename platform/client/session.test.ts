import { afterEach, describe, expect, test } from "@jest/globals";
import { say, serve, session, silence, type Answers, type Server } from "./testing/server.ts";

let server: Server;
afterEach(() => server.close());

const team = { body: { _id: "t1", name: "Crew" } };
const read = { teamID: "t1" };

const ok: Answers = ({ endpoint }) => (endpoint === "readteam" ? team : undefined);

/** A platform that takes the latest token alone. */
function expiring(): { answers: Answers; expire: () => void } {
  let valid = 0;
  let issued = 0;
  return {
    expire: () => {
      valid++;
    },
    answers: ({ endpoint, headers }, response) => {
      if (endpoint === "login") {
        issued = valid;
        return { ...session, authToken: `token-${issued}` };
      }
      if (headers["x-auth-token"] === `token-${valid}`) return endpoint === "readteam" ? team : { status: "success" };
      say(response, 401, { status: "error", message: "You must be logged in" });
      return undefined;
    },
  };
}

describe("a session", () => {
  test("begins with the first call, once for all callers", async () => {
    server = await serve(ok);
    const client = server.client();
    expect(server.seen).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => client.readteam(read)));
    expect(server.count("login")).toBe(1);
    expect(server.count("readteam")).toBe(20);
    expect(server.seen.at(-1)?.headers).toMatchObject({
      "x-auth-token": session.authToken,
      "x-user-id": session.userId,
      "content-type": "application/json",
    });
  });

  test("that expired is renewed once for all callers, and every call is repeated", async () => {
    const platform = expiring();
    server = await serve(platform.answers);
    const client = server.client();
    await client.readteam(read);
    platform.expire();
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.readteam(read)));
    expect(answers).toHaveLength(20);
    expect(server.count("login")).toBe(2);
    platform.expire();
    await client.insertteam({ teamInfo: { organizationID: "o1", name: "Crew" } }).catch(() => undefined);
    expect(server.count("insertteam")).toBe(2);
    expect(server.count("login")).toBe(3);
  });

  test("that is refused again right after it was renewed ends the call", async () => {
    server = await serve(({ endpoint }, response) => {
      if (endpoint === "readteam") say(response, 401, { status: "error", message: "You must be logged in" });
    });
    const ending = server.client().readteam(read);
    await expect(ending).rejects.toMatchObject({ code: "unauthorized", status: 401 });
    await expect(ending).rejects.toThrow(
      "readteam: You must be logged in. The login itself went well: the platform ended the session right after it.",
    );
    expect(server.count("login")).toBe(2);
    expect(server.count("readteam")).toBe(2);
  });

  test("is ended by close, which tells the platform in header and body", async () => {
    server = await serve(ok);
    const client = server.client();
    await client.readteam(read);
    await client.close();
    await client.close();
    expect(server.count("logout")).toBe(1);
    expect(server.seen.at(-1)).toMatchObject({ body: session, headers: { "x-auth-token": session.authToken } });
    await expect(client.readteam(read)).rejects.toMatchObject({ code: "cancelled" });
  });

  test("is closed even when the platform does not answer the logout", async () => {
    server = await serve((seen, response) => {
      if (seen.endpoint === "logout") return silence;
      return ok(seen, response, 1);
    });
    const client = server.client({ timeouts: { logout: 20 } });
    await client.readteam(read);
    await client.close();
    expect(server.count("logout")).toBe(1);
  });

  test("that never began is not ended", async () => {
    server = await serve(ok);
    await server.client().close();
    expect(server.seen).toEqual([]);
  });

  test("a caller who leaves does not end the login of the others", async () => {
    let answerLogin = (): void => undefined;
    const asked = Promise.withResolvers<undefined>();
    server = await serve((seen, response) => {
      if (seen.endpoint !== "login") return ok(seen, response, 1);
      answerLogin = () => say(response, 200, session);
      asked.resolve(undefined);
      return silence;
    });
    const client = server.client();
    const leaving = new AbortController();
    const left = client.readteam(read, { signal: leaving.signal });
    const staying = client.readteam(read);
    await asked.promise;
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: "cancelled", endpoint: "readteam" });
    answerLogin();
    await expect(staying).resolves.toEqual({ team: { _id: "t1", name: "Crew" } });
  });
});

describe("credentials", () => {
  test("a token that was given is used as it is and never ended", async () => {
    server = await serve(ok);
    const client = server.client({ token: "given-token", userId: "u9", email: undefined, password: undefined });
    await client.readteam(read);
    await client.close();
    expect(server.seen.map(({ endpoint }) => endpoint)).toEqual(["readteam"]);
    expect(server.seen[0]?.headers).toMatchObject({ "x-auth-token": "given-token", "x-user-id": "u9" });
  });

  test("a token that was given and is refused says what to do", async () => {
    server = await serve((_, response) => say(response, 401, { status: "error", message: "Token expired" }));
    const client = server.client({ token: "given-token", userId: "u9" });
    await expect(client.readteam(read)).rejects.toThrow(
      "readteam: Token expired. The token that was given is refused: obtain a new one, or set email and password.",
    );
    expect(server.seen).toHaveLength(1);
  });

  test("a wrong password is tried once", async () => {
    server = await serve((_, response) => say(response, 401, { status: "error", message: "Unauthorized" }));
    const client = server.client();
    await expect(client.readteam(read)).rejects.toMatchObject({ code: "unauthorized", endpoint: "login" });
    await expect(client.readteam(read)).rejects.toMatchObject({ code: "unauthorized", endpoint: "login" });
    expect(server.count("login")).toBe(1);
  });

  test("a login that failed otherwise is tried again by the next call", async () => {
    server = await serve((seen, response, count) => {
      if (seen.endpoint === "login" && count === 1) say(response, 400, { status: "error", message: "Not today" });
      else return ok(seen, response, count);
      return undefined;
    });
    const client = server.client();
    await expect(client.readteam(read)).rejects.toMatchObject({ code: "invalidRequest" });
    await expect(client.readteam(read)).resolves.toBeDefined();
  });

  test.each([
    [{ email: undefined }, "email and password, or token and userId, are not set"],
    [{ password: undefined }, "email and password, or token and userId, are not set"],
    [{ token: "given-token", email: undefined }, "userId is not set"],
  ])("that are missing are named before anything is sent: %p", async (options, message) => {
    server = await serve(ok);
    await expect(server.client(options).readteam(read)).rejects.toThrow(message);
    expect(server.seen).toEqual([]);
  });

  test("the API key goes beside the token, to the endpoints that take it", async () => {
    server = await serve(({ endpoint }) =>
      endpoint === "createappwithprompt"
        ? "https://apps.example/workspace/apps/a1"
        : endpoint === "readteam"
          ? team
          : undefined,
    );
    const client = server.client({ apiKey: "key-of-the-operator" });
    await client.createappwithprompt({ userEmail: "ann@crew.example", appPrompt: "A list" });
    expect(server.seen.at(-1)?.headers).toMatchObject({
      "x-api-key": "key-of-the-operator",
      "x-auth-token": session.authToken,
    });
    await client.readteam(read);
    expect(server.seen.at(-1)?.headers).not.toHaveProperty("x-api-key");
  });

  test("a missing API key is named before anything is sent", async () => {
    server = await serve(ok);
    const call = server.client().createappwithprompt({ userEmail: "ann@crew.example", appPrompt: "A list" });
    await expect(call).rejects.toThrow("createappwithprompt: Nothing was sent: apiKey is not set.");
    expect(server.seen).toEqual([]);
  });
});

import { afterEach, expect, test } from "@jest/globals";
import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { textOf, type Passed } from "../../recording/exchange.ts";
import { localhost } from "../doctor/testing/certificates.ts";
import { startProxy, type RecordingProxy } from "./proxy.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Stage {
  proxy: RecordingProxy;
  platform: http.Server;
  passed: Passed[];
  failures: Error[];
  /** Connections to the platform so far. */
  sockets: Socket[];
}

async function stage(answer: RequestListener, path = ""): Promise<Stage> {
  const platform = http.createServer(answer);
  const sockets: Socket[] = [];
  platform.on("connection", (socket) => sockets.push(socket));
  platform.listen(0, "127.0.0.1");
  await once(platform, "listening");
  closing.push(() => {
    platform.closeAllConnections();
    platform.close();
  });
  const { port } = platform.address() as AddressInfo;
  const [passed, failures]: [Passed[], Error[]] = [[], []];
  const proxy = await startProxy({
    to: new URL(`http://localhost:${port}${path}`),
    port: 0,
    passed: (one) => passed.push(one),
    failed: (error) => failures.push(error),
  });
  closing.push(proxy.close);
  return { proxy, platform, passed, failures, sockets };
}

/** Sends a request unchanged. */
async function ask(url: string, options: http.RequestOptions = {}, body?: Buffer | string): Promise<IncomingMessage> {
  const sent = http.request(url, options);
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

test("methods, paths, headers, statuses and bodies go through as they are, both ways", async () => {
  const seen: { method?: string; url?: string; raw: string[]; body: string }[] = [];
  const { proxy, passed } = await stage((message, response) => {
    void text(message).then((body) => {
      const { method = "", url = "", rawHeaders: raw } = message;
      seen.push({ method, url, raw, body });
      response.writeHead(418, "Short and stout", ["X-Mixed-Case", "1", "Set-Cookie", "a=1", "Set-Cookie", "b=2"]);
      response.end(method === "HEAD" ? undefined : `${method} done`);
    });
  }, "/base");
  expect(proxy.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/base$/);
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND"]) {
    const body = method === "HEAD" ? "" : `{"${method}": "ü"}`;
    const headers = { "X-Own-Case": "yes", "X-Forwarded-For": "10.0.0.1", "content-length": Buffer.byteLength(body) };
    const answer = await ask(`${proxy.url}/api/a%20b?x=%2F&x=2`, { method, headers }, body);
    expect([answer.statusCode, answer.statusMessage]).toEqual([418, "Short and stout"]);
    expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(answer.rawHeaders).toContain("X-Mixed-Case");
    expect(await text(answer)).toBe(method === "HEAD" ? "" : `${method} done`);
    const got = seen.at(-1);
    expect([got?.method, got?.url, got?.body]).toEqual([method, "/base/api/a%20b?x=%2F&x=2", body]);
    expect(got?.raw).toEqual(expect.arrayContaining(["X-Own-Case", "yes", "X-Forwarded-For", "10.0.0.1"]));
    expect(got?.raw.join(" ")).toMatch(/host localhost:\d+/i);
    expect(got?.raw.join(" ")).not.toMatch(/X-Forwarded-Host|Via/i);
  }
  expect(passed.map(({ method }) => method)).toHaveLength(8);
});

test("compressed and large bodies are passed on byte for byte, and copied within a bound", async () => {
  const zipped = gzipSync(JSON.stringify({ status: "success" }));
  const large = Buffer.alloc(20 * 2 ** 20, "0123456789");
  const { proxy, passed } = await stage((message, response) => {
    const parts: Buffer[] = [];
    message.on("data", (part: Buffer) => parts.push(part));
    message.on("end", () => {
      const isLarge = message.url === "/large";
      response.writeHead(200, isLarge ? {} : { "content-encoding": "gzip" });
      response.end(isLarge ? Buffer.concat(parts) : zipped);
    });
  });
  const small = await ask(`${proxy.url}/small`, { method: "POST" }, "{}");
  const parts: Buffer[] = [];
  for await (const part of small) parts.push(part as Buffer);
  expect(Buffer.concat(parts).equals(zipped)).toBe(true);
  const back = await fetch(`${proxy.url}/large`, { method: "POST", body: large });
  expect(Buffer.from(await back.arrayBuffer()).equals(large)).toBe(true);
  expect(passed.map(({ body, answer }) => [body?.length, answer?.length])).toEqual([
    [2, zipped.length],
    [undefined, undefined],
  ]);
  expect(textOf(passed[0]?.answer ?? Buffer.alloc(0), "gzip")).toBe('{"status":"success"}');
});

test("an answer arrives while it is made, and a caller who hangs up is gone for the platform, too", async () => {
  let response: ServerResponse | undefined;
  const { proxy, passed } = await stage((_message, made) => {
    response = made;
    made.write("first ");
  });
  const sent = http.request(`${proxy.url}/stream`);
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const [first] = (await once(answer, "data")) as [Buffer];
  expect(first.toString()).toBe("first ");
  const gone = once(response ?? sent, "close");
  answer.on("error", () => undefined);
  sent.destroy();
  await gone;
  expect(passed).toEqual([]);
});

test("a connection that the platform cuts is cut for the caller", async () => {
  const { proxy, failures, passed } = await stage((message, response) => {
    if (message.url === "/before") message.socket.destroy();
    else {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => message.socket.destroy());
    }
  });
  await expect(fetch(`${proxy.url}/before`)).rejects.toThrow();
  await expect(fetch(`${proxy.url}/middle`).then((answer) => answer.text())).rejects.toThrow();
  expect(failures.length).toBeGreaterThan(0);
  expect(passed).toEqual([]);
});

test("a caller's connection is one to the platform, and ends with it", async () => {
  const { proxy, sockets } = await stage((message, response) => {
    message.resume();
    response.end("done");
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  closing.push(() => agent.destroy());
  let own: Socket | undefined;
  for (let call = 0; call < 3; call++) {
    const answer = await ask(`${proxy.url}/again`, { agent });
    own = answer.socket;
    await text(answer);
  }
  expect(sockets).toHaveLength(1);
  const ended = once(own ?? agent, "close");
  sockets[0]?.destroy();
  await ended;
  expect(await text(await ask(`${proxy.url}/again`, { agent }))).toBe("done");
});

test("redirections on the platform lead through the recording, all others where they lead", async () => {
  const places = ["/here", "https://elsewhere.example.com/x"];
  const { proxy, platform } = await stage((message, response) => {
    message.resume();
    response.writeHead(307, {
      location: message.url === "/own" ? `http://${message.headers.host ?? ""}/x` : places.shift(),
    });
    response.end(message.headers.origin);
  });
  const location = async (path: string, headers = {}) =>
    (await ask(`${proxy.url}${path}`, { headers })).headers.location;
  expect(await location("/own")).toBe(`${proxy.url}/x`);
  expect([await location("/a"), await location("/b")]).toEqual(["/here", "https://elsewhere.example.com/x"]);
  const { port } = platform.address() as AddressInfo;
  expect(await text(await ask(`${proxy.url}/own`, { headers: { origin: proxy.url } }))).toBe(
    `http://localhost:${port}`,
  );
});

test("only this machine's own names and pages are passed on", async () => {
  const { proxy, passed } = await stage((message, response) => {
    message.resume();
    response.end("done");
  });
  for (const headers of [
    { host: "platform.attacker.example" },
    { origin: "https://attacker.example" },
    { origin: "null" },
  ]) {
    const answer = await ask(`${proxy.url}/api/login`, { method: "POST", headers });
    expect(answer.statusCode).toBe(403);
    answer.resume();
  }
  const { port } = new URL(proxy.url);
  const absolute = await ask(proxy.url, { path: "http://elsewhere.example.com/" });
  absolute.resume();
  expect([absolute.statusCode, passed]).toEqual([403, []]);
  expect((await fetch(`http://localhost:${port}/`)).status).toBe(200);
});

test("a platform whose certificate nobody vouches for is not spoken to", async () => {
  const asked: string[] = [];
  const platform = https.createServer(localhost, (message) => asked.push(message.url ?? ""));
  platform.listen(0, "127.0.0.1");
  await once(platform, "listening");
  closing.push(() => void platform.close());
  const failures: string[] = [];
  const { port } = platform.address() as AddressInfo;
  const proxy = await startProxy({
    to: new URL(`https://localhost:${port}`),
    port: 0,
    passed: () => undefined,
    failed: (error) => failures.push((error as NodeJS.ErrnoException).code ?? ""),
  });
  closing.push(proxy.close);
  await expect(fetch(`${proxy.url}/api/login`, { method: "POST", body: "{}" })).rejects.toThrow();
  expect([asked, failures]).toEqual([[], ["DEPTH_ZERO_SELF_SIGNED_CERT"]]);
});

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Server } from "node:net";
import { promisify } from "node:util";
import { elsewhere } from "../testing/certificates.ts";
import { proxyFor } from "./proxies.ts";
import type { TransportError } from "./sender.ts";
import { Transport } from "./transport.ts";

const secret = "s3cret:of the/proxy";
const servers: Server[] = [];
/** Requests that the proxy received: targets with the account. */
const asked: [target: string | undefined, account: string | undefined][] = [];
let proxyUrl: URL;
let refusal: number | undefined;

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // it listens on TCP
}

beforeAll(async () => {
  const answer: http.RequestListener = ({ url }, response) => void response.end(`answer to ${url ?? ""}`);
  const ports = {
    80: await listening(http.createServer(answer)),
    443: await listening(https.createServer(elsewhere, answer)),
  };
  const proxy = http.createServer().on("connect", ({ url = "", headers }, caller: net.Socket) => {
    asked.push([url, headers["proxy-authorization"]]);
    if (refusal !== undefined) return void caller.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const socket = net.connect(url.endsWith(":443") ? ports[443] : ports[80], "127.0.0.1");
    caller.write("HTTP/1.1 200 Yes\r\n\r\n");
    socket.on("error", () => caller.destroy()).pipe(caller);
    caller.on("error", () => socket.destroy()).pipe(socket);
  });
  proxyUrl = new URL(`http://me:${encodeURIComponent(secret)}@127.0.0.1:${await listening(proxy)}`);
});
afterAll(() => servers.forEach((server) => server.close()));

const variables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"];
const before = { ...process.env };
beforeEach(() => {
  for (const name of variables) process.env[name] = "";
  refusal = undefined;
  asked.length = 0;
});
afterEach(() => {
  process.env = { ...before };
});

async function send(endpoint: string): Promise<string> {
  const timeouts = { connect: 5000, headers: 5000, body: 5000 };
  const transport = new Transport(endpoint, { timeouts, connections: 1, readOnly: false });
  try {
    const request = { endpoint: "readteam", method: "POST", path: "/x", headers: {}, body: "{}" } as const;
    return (await transport.send(request, AbortSignal.timeout(10_000))).text;
  } finally {
    await transport.close();
  }
}

test.each<[address: string, environment: Record<string, string>, proxy: string | undefined]>([
  ["https://p.example.com", {}, undefined],
  ["https://p.example.com", { HTTPS_PROXY: "" }, undefined],
  ["https://p.example.com", { HTTPS_PROXY: "http://one:3128" }, "http://one:3128"],
  ["https://p.example.com", { HTTPS_PROXY: "http://one:3128", https_proxy: "http://two:3128" }, "http://two:3128"],
  ["https://p.example.com", { HTTP_PROXY: "http://one:3128" }, undefined],
  ["http://p.example.com", { HTTP_PROXY: "one:3128" }, "http://one:3128"],
  ["https://p.example.com", { HTTPS_PROXY: "https://one", NO_PROXY: "other.com, xample.com" }, "https://one"],
  ["https://p.example.com", { HTTPS_PROXY: "https://one", NO_PROXY: "p.example.com:8443" }, "https://one"],
  ["https://[2001:db8::1]", { HTTPS_PROXY: "https://one", NO_PROXY: "2001:db8::1" }, undefined],
  ["https://[2001:db8::a:1]", { HTTPS_PROXY: "https://one", NO_PROXY: "2001:db8::a:1" }, undefined],
  ["https://[2001:db8::1]:444", { HTTPS_PROXY: "https://one", NO_PROXY: "[2001:db8::1]:444" }, undefined],
  ["http://127.0.0.1:8080", { HTTP_PROXY: "http://one" }, undefined],
  ["http://localhost:8080", { HTTP_PROXY: "http://one" }, undefined],
  ["http://[::1]:8080", { HTTP_PROXY: "http://one" }, undefined],
])("%s with %j goes through %s", (address, environment, proxy) => {
  expect(proxyFor(new URL(address), environment)?.url.origin).toBe(proxy);
});

test.each(["*", "p.example.com", "example.com", ".example.com", "*.example.com", "a b,P.Example.com:443"])(
  "NO_PROXY=%s names p.example.com",
  (list) => {
    const environment = { HTTPS_PROXY: "https://one", NO_PROXY: list };
    expect(proxyFor(new URL("https://p.example.com"), environment)).toBeUndefined();
  },
);

test("what is no proxy is refused without its password", () => {
  const wrong = (): unknown => proxyFor(new URL("https://p.example.com"), { HTTPS_PROXY: `socks5://me:${secret}@one` });
  expect(wrong).toThrow(/^HTTPS_PROXY must name a proxy by an address with http:\/\/ or https:\/\/$/);
});

test.each(["12#34", "12?34", "12/34"])("a password that ends the address (%s) is no port that is named", (password) => {
  const wrong = (): unknown =>
    proxyFor(new URL("https://p.example.com"), { HTTPS_PROXY: `http://me:${password}@one:3128` });
  expect(wrong).toThrow(/^HTTPS_PROXY has a character in its password that ends an address: write %23 for #, /);
});

test("requests go through the proxy of the environment, with its account", async () => {
  process.env["HTTP_PROXY"] = proxyUrl.href;
  expect(await send("http://p.example.com")).toBe("answer to /x");
  expect(asked).toEqual([["p.example.com:80", `Basic ${Buffer.from(`me:${secret}`).toString("base64")}`]]);
});

test("behind the proxy the certificate is the platform's own, and is checked", async () => {
  process.env["HTTPS_PROXY"] = proxyUrl.href;
  const failure = await send("https://elsewhere.example.com").catch((error: unknown) => error as TransportError);
  expect(failure).toMatchObject({ code: "unreachable", lasting: true });
  expect(String(failure)).toContain("(DEPTH_ZERO_SELF_SIGNED_CERT)");
  expect(asked.map(([target]) => target)).toEqual(["elsewhere.example.com:443"]);
});

test.each<[number | undefined, boolean, string]>([
  [407, true, "wants a user and a password, or other ones (HTTP 407)"],
  [403, true, "does not connect to p.example.com:80 (HTTP 403)"],
  [503, false, "does not connect to p.example.com:80 (HTTP 503)"],
  [undefined, false, "can't be reached, or does not answer (ECONNREFUSED)"],
])("a proxy that fails (%s) has sent nothing, and is named without its account", async (status, lasting, what) => {
  refusal = status;
  const url = new URL(proxyUrl);
  if (status === undefined) url.port = "9";
  process.env["HTTP_PROXY"] = url.href;
  const failure = await send("http://p.example.com").catch((error: unknown) => error as TransportError);
  expect(failure).toMatchObject({ code: "unreachable", lasting });
  expect(String(failure)).toContain(`The proxy ${url.origin} (HTTP_PROXY) ${what}`);
  expect(String(failure)).not.toMatch(/me:|s3cret/);
});

test("a client loads nothing of Node's own fetch, which takes longer than all of the rest", async () => {
  const program = `const { createClient } = await import(process.argv[1]);
    createClient({ endpoint: "https://p.example.com", email: "a@example.com", password: "password" });
    console.log(process.moduleLoadList.filter((name) => name.includes("undici")).join());`;
  const client = new URL("../index.js", import.meta.url).href;
  const node = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program, client]);
  expect((await node).stdout.trim()).toBe("");
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../testing/harness/processes.ts";
import { onEngineEnd } from "./lifetime.ts";

let server: Http2Server;
let sockets: Socket[];
beforeEach(async () => {
  sockets = [];
  server = createServer();
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => end());

function end(): void {
  server.close();
  for (const socket of sockets) socket.destroy();
}
// A server at a port has an address of this form.
const address = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
const watched = (at: string): Promise<string> => new Promise((resolve) => onEngineEnd(at, () => resolve("gone")));
const within = (milliseconds: number): Promise<string> => sleep(milliseconds, "there");
const connected = (times: number) => eventually("a connection", () => sockets.length >= times);

test("an engine that ends is gone at once", async () => {
  const gone = watched(address());
  await connected(1);
  await expect(Promise.race([gone, within(500)])).resolves.toBe("there");
  end();
  await expect(Promise.race([gone, within(1_500)])).resolves.toBe("gone");
});

test("one that drops the connection, as it may drop an idle one, is still there", async () => {
  const gone = watched(address());
  for (let times = 1; times <= 2; times++) {
    await connected(times);
    sockets.at(-1)?.destroy();
  }
  await connected(3);
  await expect(Promise.race([gone, within(500)])).resolves.toBe("there");
});

test("one that has ended before the provider looked is gone, and an address that is none says nothing", async () => {
  const before = address();
  end();
  await expect(Promise.race([watched(before), within(1_500)])).resolves.toBe("gone");
  await expect(Promise.race([watched("no address"), within(500)])).resolves.toBe("there");
});

test("the watch keeps no process alive", async () => {
  const lifetime = new URL("./lifetime.js", import.meta.url).href;
  const code = `import { endWithEngine } from ${JSON.stringify(lifetime)};
    endWithEngine(process.argv[1], () => undefined);
    await new Promise((done) => setTimeout(done, 300));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code, address()], { stdio: "inherit" });
  await connected(1);
  expect(await once(child, "exit")).toEqual([0, null]);
});

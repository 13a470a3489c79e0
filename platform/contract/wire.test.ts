import { afterEach, expect, test } from "@jest/globals";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { serve, silence, type Server } from "../client/testing/server.ts";
import { textOf } from "./wire.ts";

let server: Server;
afterEach(() => server.close());

/** Sends without an end, and counts what the other side took. */
function endless(response: ServerResponse, sent: { megabytes: number }): typeof silence {
  const megabyte = Buffer.alloc(2 ** 20, " ");
  response.writeHead(200, { "content-type": "application/json" });
  const more = (): void => {
    if (response.destroyed) return;
    sent.megabytes++;
    response.write(megabyte, () => setImmediate(more));
  };
  more();
  return silence;
}

test("an answer without an end is left after its bound, and not asked for again", async () => {
  const sent = { megabytes: 0 };
  server = await serve((seen, response) => (seen.endpoint === "login" ? undefined : endless(response, sent)));
  const client = server.client();
  const updating = client.updateteam({ teamID: "crew", teamInfo: { name: "Crew" } });
  await expect(updating).rejects.toMatchObject({
    code: "badAnswer",
    platformMessage: expect.stringMatching(/more than 1 MB$/) as unknown,
  });
  await expect(client.insertteam({ teamInfo: { organizationID: "acme", name: "Crew" } })).rejects.toMatchObject({
    code: "badAnswer",
    outcome: "unknown",
  });
  // Buffers of the sockets come on top.
  expect(sent.megabytes).toBeLessThan(40);
  expect([server.count("updateteam"), server.count("insertteam")]).toEqual([1, 1]);
});

test("a character that two parts share is whole", async () => {
  server = await serve(() => undefined);
  const bytes = Buffer.from('{"name":"Zoë 😀"}');
  const parts = Array.from(bytes, (byte) => Uint8Array.of(byte));
  expect(await textOf(Readable.from(parts), 1)).toBe(bytes.toString());
});

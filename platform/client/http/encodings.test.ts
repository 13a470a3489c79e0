import { afterEach, expect, test } from "@jest/globals";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { serve, type Answers, type Server } from "../testing/server.ts";

let server: Server | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const rows = Array.from({ length: 500 }, (_, index) => ({ _id: `r${index}`, Code: `C${index}` }));
const body = JSON.stringify({ body: { microAppRows: rows } });

/** Answers reads with these bytes in an encoding. */
const inEncoding =
  (encoding: string, bytes: Buffer): Answers =>
  ({ endpoint }, response) => {
    if (endpoint === "microappdata") response.writeHead(200, { "content-encoding": encoding }).end(bytes);
  };

const read = async (answers: Answers): Promise<unknown> => {
  server = await serve(answers);
  const { microAppRows } = await server.client().microappdata({ microAppID: "t" });
  return microAppRows.length;
};

test.each([
  ["gzip", gzipSync(body)],
  ["br", brotliCompressSync(body)],
  ["identity", Buffer.from(body)],
])("an answer in %s is read, and compression was asked for", async (encoding, bytes) => {
  expect(await read(inEncoding(encoding, bytes))).toBe(500);
  expect(server?.seen.at(-1)?.headers["accept-encoding"]).toBe("gzip, br");
});

test.each([
  ["gzip", gzipSync(body).subarray(0, 200), /can't be decompressed/],
  ["gzip", Buffer.from(body), /can't be decompressed/],
  ["br", Buffer.from(body), /can't be decompressed/],
  ["zstd", Buffer.from(body), /in an encoding that was not asked for/],
])("an answer in %s that can't be read is no answer of the platform's (%#)", async (encoding, bytes, message) => {
  await expect(read(inEncoding(encoding, bytes))).rejects.toMatchObject({
    code: "badAnswer",
    platformMessage: expect.stringMatching(message),
  });
});

test("a small answer that becomes a large one is refused, and its connection is given up", async () => {
  const bomb = gzipSync(Buffer.alloc(3 * 2 ** 20));
  server = await serve(({ endpoint }, response) => {
    if (endpoint === "updateteam") response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  const change = server.client().updateteam({ teamID: "t", teamInfo: { name: "Crew" } });
  await expect(change).rejects.toMatchObject({
    code: "badAnswer",
    platformMessage: expect.stringMatching(/more than 1 MB/),
  });
});

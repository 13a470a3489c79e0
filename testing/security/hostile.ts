import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that is no platform of ours: it takes whatever it is sent, and writes all of it down. */
export interface Hostile {
  url: string;
  /** Each request as it came, with its headers and body. */
  log: string[];
  /** Answers instead of a plain success. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  close: () => Promise<void>;
}

/** Starts one that welcomes everybody. */
export async function hostile(): Promise<Hostile> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", rawHeaders } = request;
      made.log.push([`${method} ${url}`, ...rawHeaders, Buffer.concat(parts).toString()].join("\n"));
      if (made.answer) {
        made.answer(request, response);
        return;
      }
      const welcome = { status: "success", authToken: "token-of-theirs", userId: "user-of-theirs", body: {} };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(welcome));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const made: Hostile = {
    url: `http://127.0.0.1:${port}`,
    log: [],
    answer: undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return made;
}

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of files: whatever is asked for is a small picture. */
export async function fileServer(): Promise<{ url: string; host: string; close: () => void }> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "image/png" }).end("bytes"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://${host}`, host, close };
}

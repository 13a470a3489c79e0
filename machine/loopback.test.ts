import { afterEach, expect, test } from "@jest/globals";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { isOwnPeer } from "./loopback.ts";

const { geteuid } = process;
afterEach(() => {
  if (geteuid) process.geteuid = geteuid;
});
/** Makes this process a stranger to all that is connected to it. */
const asSomebodyElse = (): void => {
  const own = geteuid?.() ?? 0;
  process.geteuid = () => own + 1;
};

test("a connection is judged by the user who holds its other end", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number }; // it listens on TCP
  try {
    for (const from of ["127.0.0.1", "::ffff:127.0.0.1"]) {
      const arrived = once(server, "connection") as Promise<[Socket]>;
      const peer = connect(port, from);
      const [end] = await arrived;
      process.geteuid = geteuid ?? (() => 0);
      expect(isOwnPeer(end)).toBe(true);
      asSomebodyElse();
      expect(isOwnPeer(end)).toBe(process.platform !== "linux");
      end.destroy();
      peer.destroy();
    }
  } finally {
    server.close();
  }
});

// Little-endian, as on all machines that this is likely to run on.
const end = { localAddress: "127.0.0.1", localPort: 0x1000, remoteAddress: "127.0.0.1", remotePort: 0x2000 };
const row = (local: string, remote: string, state: string, user: number, inode: number): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${user}        0 ${inode} 1 0000\n`;
const ours = row("0100007F:1000", "0100007F:2000", "01", 0, 5);

test.each([
  ["an end that nobody holds", row("0100007F:2000", "0100007F:1000", "01", process.getuid?.() ?? 0, 0), false],
  ["one that is closing", row("0100007F:2000", "0100007F:1000", "06", process.getuid?.() ?? 0, 7), false],
  ["the same port of another address", row("0500007F:2000", "0100007F:1000", "01", process.getuid?.() ?? 0, 7), false],
  ["nothing", "", false],
])("of %s nothing is believed", (_name, theirs, own) => {
  const linux = process.platform === "linux";
  expect(isOwnPeer(end, (table) => (table === "tcp" ? ours + theirs : ""))).toBe(own || !linux);
});

test("a system that does not tell refuses nobody", () => {
  expect(isOwnPeer(end, () => "")).toBe(true);
});

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface Comment {
  id: number;
  user: { login: string };
  author: { id: number };
  body: string;
}

/** The comments of one pull request, behind the little of both systems' interfaces that a bot needs. */
export class Comments {
  /** Somebody has written what looks like the bot's comment. */
  readonly all: Comment[] = [
    { id: 1, user: { login: "mallory" }, author: { id: 66 }, body: "<!-- microapps-report -->\nAll is well." },
  ];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Comments> {
    const server = createServer();
    const comments = new Comments(server);
    server.on("request", (request, response) => {
      let text = "";
      request.on("data", (data: Buffer) => (text += data.toString()));
      request.on("end", () =>
        response.end(JSON.stringify(comments.#answer(request.method ?? "", request.url ?? "", text))),
      );
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return comments;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #answer(method: string, url: string, text: string): unknown {
    if (url === "/user") return { id: 41 };
    if (method === "GET") return url.endsWith("page=1") ? this.all : [];
    const { body } = JSON.parse(text) as { body: string };
    const own = this.all.find(({ id }) => url.endsWith(`/${id}`));
    if (own) return Object.assign(own, { body });
    const made = { id: 2, user: { login: "github-actions[bot]" }, author: { id: 41 }, body };
    this.all.push(made);
    return made;
  }
}

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

interface PullRequest {
  number: number;
  branch: string;
  title: string;
  state: "open" | "closed";
  body: string;
}

/** Requests to merge a branch, behind the little of both systems' interfaces that the jobs need. */
export class Requests {
  readonly all: PullRequest[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Requests> {
    const server = createServer();
    const requests = new Requests(server);
    server.on("request", (request, response) => {
      let text = "";
      request.on("data", (data: Buffer) => (text += data.toString()));
      request.on("end", () => {
        const sent = text === "" ? {} : (JSON.parse(text) as Record<string, string>);
        const url = new URL(request.url ?? "", "http://local");
        response.end(JSON.stringify(requests.#answer(request.method ?? "", url, sent)));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return requests;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Branches of the open ones, in the order in which these were opened. */
  get open(): string[] {
    return this.all.filter(({ state }) => state === "open").map(({ branch }) => branch);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #answer(method: string, url: URL, sent: Record<string, string>): unknown {
    const branchOf = url.searchParams.get("source_branch") ?? url.searchParams.get("head")?.split(":")[1];
    const shown = ({ number, branch }: PullRequest) => ({
      ...{ number, iid: number, head: { ref: branch }, source_branch: branch },
    });
    if (method === "GET")
      return this.all.filter((each) => each.state === "open" && each.branch === branchOf).map(shown);
    const number = Number(url.pathname.split("/").at(-1));
    const body = sent["body"] ?? sent["description"] ?? "";
    if (method === "POST") {
      const branch = sent["head"] ?? sent["source_branch"] ?? "";
      this.all.push({ number: this.all.length + 1, branch, title: sent["title"] ?? "", state: "open", body });
    }
    const known = this.all.find((each) => each.number === number);
    if (known && body !== "") known.body = body;
    if (known && (sent["state"] ?? sent["state_event"])?.startsWith("close")) known.state = "closed";
    return {};
  }
}

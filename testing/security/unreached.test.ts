import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Folders } from "../../cli/changes/testing/twoFolders.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import { certificateWarning, warnOfCertificates } from "../../provider/pulumi/configuration/certificates.ts";
import { InProcessEngine } from "../gitops/inProcessEngine.ts";
import { runCommand } from "../harness/commands.ts";
import { environmentOf } from "../harness/project.ts";

const login = { email: "admin@example.com", password: "correct-horse" };
const folders = new Folders();
let emulator: Emulator;
let client: Client;
beforeAll(async () => {
  const users = ["ada@example.com"].map((email) => ({ email, id: email }));
  const fields = { Code: "text", Name: "text" } as const;
  emulator = await createEmulator({ seed: { administrator: login, users, tables: { places: { fields } } } });
  client = createClient({ endpoint: emulator.url, ...login });
});
afterAll(async () => {
  folders.remove();
  await client.close();
  await emulator.close();
});

const codes = async (): Promise<unknown[]> => {
  const searchFilter = [{ skip: 0, limit: 100 }];
  const { microAppRows } = await client.microappdata({ microAppID: "places", searchFilter });
  return microAppRows.map(({ Code }) => Code).toSorted();
};

test("of two stacks on one account one deletes nothing of the other's", async () => {
  const declared = (codesOfRows: readonly string[]) => {
    const rows = codesOfRows.map((Code) => `{ Code: ${Code}, Name: ${Code} }`).join(", ");
    const seeds = rows === "" ? "{}" : `{ places: { table: places, key: Code, maxRemovals: 1, rows: [${rows}] } }`;
    return folders.declared({ "env.yaml": `seeds: ${seeds}\n` });
  };
  const [one, two] = [1, 2].map(() => new InProcessEngine({ endpoint: emulator.url, ...login }));
  await one?.run(declared(["A", "B"]), true);
  await two?.run(declared(["B", "C"]), true);
  expect(await codes()).toEqual(["A", "B", "C"]);
  await two?.run(declared([]), true);
  expect(await codes()).toEqual(["A", "B"]);
});

test("an ID with parts of a path leads no call elsewhere", async () => {
  const paths: string[] = [];
  const evil = "../../admin/delete?x=1#y/../%2e%2e";
  const server: Server = createServer((request, response) => {
    paths.push(new URL(request.url ?? "", "http://platform").pathname);
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ status: "success", userID: "u", token: "t", tokenID: "t", team: { _id: evil, name: "T" } }),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // of a listening server
  const hostile = createClient({ endpoint: `http://127.0.0.1:${port}`, token: "t", userId: "u" });
  await hostile.readteam({ teamID: evil }).catch(() => undefined);
  await hostile.updateteam({ teamID: evil, teamInfo: { name: "T" } }).catch(() => undefined);
  await hostile.deleteteam({ teamID: evil }).catch(() => undefined);
  await hostile.close();
  server.close();
  server.closeAllConnections();
  expect(paths.filter((path) => !/^\/api\/\w+$/.test(path))).toEqual([]);
  expect(paths.some((path) => path.endsWith("team"))).toBe(true);
});

test("where every certificate is believed each run warns of it", async () => {
  const environment = environmentOf({ NODE_TLS_REJECT_UNAUTHORIZED: "0", NO_COLOR: "1" });
  const folder = folders.make({ "env.yaml": "organizations: {}\n" });
  const words = ["environment", "check", "env.yaml"];
  expect((await runCommand({ words, folder, environment })).output).toContain(`warning: ${certificateWarning}`);
  const sound = await runCommand({ words, folder, environment: environmentOf({ NO_COLOR: "1" }) });
  expect(sound.output).not.toContain("NODE_TLS");

  const texts: string[] = [];
  const report = () => ({ warning: (text: string) => void texts.push(text) });
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  for (let times = 0; times < 2; times++) warnOfCertificates(report);
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  expect(texts).toEqual([certificateWarning]);
});

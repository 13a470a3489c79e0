import { request } from "undici";
import { figure, memoryNow, median, type Figure } from "../measure.ts";
import { each, BenchPlatform } from "../platform.ts";

const callsOfRound = 10;
const atOnce = 4;

/**
 * How much memory an emulator in memory gains over many mixed calls: reads, writes, logins with and without a logout,
 * notifications and faults. It has answered others before, which fill what has a bound.
 */
export async function measureLasting(warm: number, calls: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start(
    { rows: { fields: { Code: { type: "text", sort: 1 } } } },
    { inMemory: true },
  );
  try {
    const mail = "admin@example.com";
    const { link } = await platform.client.createappwithprompt({ userEmail: mail, appPrompt: "Count sheep" });
    const appID = link.split("/").at(-1) ?? "";
    const fault = { kind: "status", endpoint: "readteam", probability: 0.5 };
    await platform.administrate("PUT", "faults", JSON.stringify({ faults: [fault], randomSeed: 1 }));
    const rounds = (calls: number) => {
      const numbers = Array.from({ length: calls / callsOfRound }, (_, number) => number);
      return each(numbers, atOnce, () => round(platform, appID));
    };
    await rounds(warm);
    const before = await settled(platform);
    await rounds(calls);
    const gained = (await settled(platform)) - before;
    const named = calls.toLocaleString("en");
    return [
      figure(`emulator: memory gained over ${named} mixed calls, after ${warm.toLocaleString("en")}`, gained, "MB", 20),
    ];
  } finally {
    await platform.stop();
  }
}

/** Memory in the middle of a few calm calls: a collection is due at any time. */
async function settled(platform: BenchPlatform): Promise<number> {
  const seen: number[] = [];
  for (let time = 0; time < 15; time++) {
    await platform.client.microappdata({ microAppID: "rows", optLimit: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    seen.push(memoryNow(platform.pid));
  }
  return median(seen);
}

async function round(platform: BenchPlatform, appID: string): Promise<void> {
  const { client } = platform;
  const body = { microAppID: "rows" };
  const { rowID } = await client.insertmicroapprow({ ...body, rowData: { Code: `K${Math.random()}` } });
  await client.microappdata({ ...body, optLimit: 20, optViewSort: { sortVal: 1 } });
  await client.microappdata({ ...body, optViewFilters: [{ Code: `K${Math.random()}` }] });
  await client.updatemicroapprow({ rowID, rowData: { Code: "K" } });
  await client.microappdataRow({ rowID });
  await client.sendnotification({ appID, email: "admin@example.com", message: "Sheep" });
  await client.removemicroapprow({ rowID });
  await send(platform, "readteam", { teamID: "none" });
  const { authToken, userId } = (await send(platform, "login", { email: "admin@example.com", password: "admin" })) as {
    authToken: string;
    userId: string;
  };
  if (Math.random() < 0.5) await send(platform, "logout", { authToken, userId });
  else await send(platform, "login", { email: "admin@example.com", password: "wrong" });
}

/** Posts what may also be refused. */
async function send(platform: BenchPlatform, name: string, parameters: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const answer = await request(`${platform.url}/api/${name}`, {
    method: "POST",
    headers,
    body: JSON.stringify(parameters),
  });
  return answer.body.json();
}

import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { administrate, post, type Reply, replyOf, signIn, start } from "../testing/platform.ts";

const folder = join(import.meta.dirname, "../../../emulator/console");
const hostile = `<img src=x onerror="fetch('//evil.example')"><script>alert(1)</script>`;

async function platform() {
  const emulator = await start({ settings: { generationSeconds: 0 } });
  const ask = async (path: string, method = "GET"): Promise<Reply> =>
    replyOf(await administrate(emulator, path, { method }));
  return { emulator, admin: await signIn(emulator.url), ask };
}

test("the console is at the emulator's and at each instance's address, and needs nothing from elsewhere", async () => {
  const { emulator } = await platform();
  const instance = await emulator.instance();
  for (const base of [emulator.url, instance.url]) {
    const page = await fetch(`${base}/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const needed = [...(await page.text()).matchAll(/(?:src|href)="(_[^"]+)"/g)].map(([, path = ""]) => path);
    expect(needed).toEqual(["_emulator/console/styles.css", "_emulator/console/console.js"]);
    for (const path of needed) expect((await fetch(`${base}/${path}`)).status).toBe(200);
  }
  const without = await fetch(instance.url, { redirect: "manual" });
  expect([without.status, without.headers.get("location")]).toEqual([308, `${instance.url}/`]);
});

test("its files take nothing from other hosts and make no markup of values", async () => {
  const { emulator } = await platform();
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));
  const imported = new Set<string>();
  const library = new Set<string>();
  for (const name of files) {
    const text = readFileSync(join(folder, name), "utf8");
    expect(text).not.toMatch(/https?:|\/\/\w+\.\w|@import|url\(/);
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc/);
    expect(text).not.toMatch(/unsafeHTML|unsafeSVG|unsafeStatic|unsafe-/); // what would parse values
    expect(text).not.toMatch(/<style|<script>|\sstyle=|\son\w+=/); // the policy would refuse them
    for (const [, file = ""] of text.matchAll(/from "(\.[^"]+)"/g)) {
      const path = join(dirname(name), file);
      (path.startsWith("lit-html/") ? library : imported).add(path);
    }
    const served = await fetch(`${emulator.url}/_emulator/console/${name}`);
    expect(await served.text()).toBe(text);
    const policy = served.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
    expect(policy).toMatch(/; require-trusted-types-for 'script'; trusted-types lit-html$/);
    expect(policy).not.toMatch(/unsafe|\*|http/);
  }
  expect([...imported, "console.js"].sort()).toEqual(files.filter((name) => name.endsWith(".js")).sort());
  for (const path of library) {
    const served = await fetch(`${emulator.url}/_emulator/console/${path}`);
    expect([path, served.status, served.headers.get("content-type")]).toEqual([
      path,
      200,
      "text/javascript; charset=utf-8",
    ]);
  }
});

test.each([
  "../console.ts",
  "..%2fREADME.md",
  "none.js",
  "console",
  "%00.js",
  "index.HTML",
  "lit-html/package.json",
  "lit-html/../semver/index.js",
  "views/../../README.md",
])("there is no file %s", async (name) => {
  const { ask } = await platform();
  expect((await ask(`console/${name}`)).status).toBe(404);
});

test("it is for this machine only, under its own names", async () => {
  const { emulator } = await platform();
  expect((await fetch(`${emulator.url}/`, { headers: { origin: "http://evil.example" } })).status).toBe(403);
  expect((await post(`${emulator.url}/`, "")).status).toBe(404);
});

test("rows come in pages, filtered and sorted, as JSON that no browser takes for a page", async () => {
  const { emulator, admin, ask } = await platform();
  const rows = Array.from({ length: 7 }, (_, n) => ({
    Code: `C${n}`,
    Name: n % 2 === 0 ? hostile : "plain",
    Population: 7 - n,
  }));
  await admin.call("insertmicroapprows", { microAppID: "countries", rows });
  const since = emulator.lastCall();
  const codes = async (query: string) => {
    const reply = await ask(`rows?table=countries&${query}`);
    expect(reply.status).toBe(200);
    return [
      (reply.at("rows") as { Code: string }[]).map(({ Code }) => Code).join(" "),
      reply.at("more"),
      reply.at("total"),
    ];
  };
  expect(await codes("limit=3")).toEqual(["C0 C1 C2", true, 7]);
  expect(await codes("limit=3&skip=6")).toEqual(["C6", false, 7]);
  expect(await codes("limit=2&sort=Population")).toEqual(["C6 C5", true, 7]);
  expect(await codes("limit=2&sort=Code&direction=-1")).toEqual(["C6 C5", true, 7]);
  const filter = (value: object) => `filter=${encodeURIComponent(JSON.stringify(value))}`;
  expect(await codes(filter({ Name: { $regex: "<IMG", $options: "i" } }))).toEqual(["C0 C2 C4 C6", false, 4]);
  const both = filter({ Name: { $regex: "plain|<img", $options: "i" } });
  expect(await codes(`limit=1&${both}`)).toEqual(["C0", true, 7]);
  expect(await codes("limit=3&skip=50")).toEqual(["", false, 7]);
  expect(await codes(`limit=0&${both}`)).toEqual(["", true, 7]);
  expect(await codes(`limit=1&total=false&${both}`)).toEqual(["C0", true, null]);
  expect(await codes("limit=7&total=false")).toEqual(["C0 C1 C2 C3 C4 C5 C6", false, 7]);
  for (const wrong of ["limit=-1", "skip=x", "filter=[]", "filter={", filter({ $where: "1" })]) {
    expect((await ask(`rows?table=countries&${wrong}`)).status).toBe(400);
  }
  expect((await ask("rows?table=none")).status).toBe(404);
  const served = await administrate(emulator, "rows?table=countries");
  expect([served.headers.get("content-type"), served.headers.get("x-content-type-options")]).toEqual([
    "application/json",
    "nosniff",
  ]);
  expect(emulator.lastCall()).toBe(since); // looking is no call
});

test("large tables are counted exactly, and not at all where nobody waits for it", async () => {
  const { admin, ask } = await platform();
  const rows = Array.from({ length: 10_000 }, () => ({}));
  const counts = async (query = "") =>
    ((await ask(`tables${query}`)).at("tables") as { rows: number }[]).map(({ rows }) => rows);
  for (let batch = 0; batch < 2; batch++) await admin.call("insertmicroapprows", { microAppID: "countries", rows });
  expect(await counts("?counts=false")).toEqual([0, 20_000, 0]);
  await admin.call("insertmicroapprows", { microAppID: "countries", rows: rows.slice(0, 3) });
  expect(await counts("?counts=false")).toEqual([0, null, 0]);
  expect(await counts()).toEqual([0, 20_003, 0]);
  expect((await ask("rows?table=countries&limit=1")).at("total")).toBe(20_003);
});

test("it shows tables, organizations with members and roles, and users", async () => {
  const { admin, ask } = await platform();
  await admin.call("insertorganization", { organizationInfo: { _id: "acme", name: hostile } });
  await admin.call("insertteam", { teamInfo: { _id: "crew", organizationID: "acme", name: "Crew" } });
  await admin.call("insertteammembers", { teamIDs: ["crew"], emails: ["ada@example.com", "new@example.com"] });
  await admin.call("insertmicroapprow", { microAppID: "countries", rowData: {} });
  const target = { table: "currencies", field: "Code" };
  const linked = expect.arrayContaining([expect.objectContaining({ label: "Currency", target })]) as unknown;
  expect((await ask("tables")).at("tables")).toMatchObject([
    { id: "currencies", name: "Currencies", rows: 0, fields: [{ label: "Code", type: "text", sort: 1 }, {}] },
    { id: "countries", rows: 1, fields: linked },
    { id: "cities", parent: "countries" },
  ]);
  expect((await ask("organizations")).at("organizations")).toMatchObject([
    {
      id: "acme",
      name: hostile,
      teams: [
        { isAllMembers: true, name: "All Members" },
        { id: "crew", members: [{ role: "admin" }, { email: "ada@example.com", role: "member" }, {}] },
      ],
    },
  ]);
  expect((await ask("users")).at("users")).toMatchObject([
    { email: "ada@example.com", admin: false, invited: false },
    { email: "admin@example.com", admin: true },
    { email: "bob@example.com" },
    { email: "new@example.com", invited: true },
  ]);
  for (const path of ["users", "tables", "organizations"]) {
    expect(JSON.stringify((await ask(path)).body)).not.toMatch(/password|dev-key|scrypt/i);
  }
});

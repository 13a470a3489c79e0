import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { administrate, post, type Reply, replyOf, signIn, start } from "../testing/platform.ts";

const folder = join(import.meta.dirname, "../../../emulator/console");

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

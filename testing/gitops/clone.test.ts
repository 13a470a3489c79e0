import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Repository } from "../../cli/report/testing/repository.ts";
import { repository as home, started, type Ended } from "../harness/project.ts";

const cipher = "v1:AAAAAAAAAAAAAAAA:bm90aGluZyBvcGVucyB0aGlz";
let origin: Repository;
let folder: string;
beforeAll(() => {
  origin = new Repository({});
  cpSync(join(home, "examples/gitops"), origin.folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|\.pulumi|\.microapps)$/.test(path),
  });
  origin.commit({
    "index.ts": 'throw new Error("the program ran");\n',
    "motto.yaml": "extends: prod.yaml\norganizations: { acme: { description: { config: motto } } }\n",
    "Pulumi.motto.yaml": `encryptionsalt: ${cipher}\nconfig:\n  microapps-gitops:motto: { secure: "${cipher}" }\n`,
  });
  folder = mkdtempSync(join(tmpdir(), "microapps-clone-"));
  execFileSync("git", ["clone", "--quiet", origin.folder, join(folder, "clone")]);
});
afterAll(() => {
  origin.remove();
  rmSync(folder, { recursive: true });
});

test("environment check and show need neither packages, stack, passphrase nor network, and leave nothing behind", async () => {
  const log = join(folder, "connections");
  const clone = join(folder, "clone");
  const run = (...words: string[]): Promise<Ended> =>
    started([join(home, "dist/bundle/microapps.js"), "environment", ...words], clone, {
      NODE_OPTIONS: `--import=${new URL("noNetwork.js", import.meta.url).href}?log=${log}`,
      PULUMI_HOME: join(folder, "nowhere"),
      XDG_STATE_HOME: join(folder, "nowhere"),
      HOME: join(folder, "home"),
    }).ended;
  const [checked, shown] = await Promise.all([run("check", "-s", "motto"), run("show", "-s", "motto", "--origin")]);
  expect(checked).toEqual({
    status: 0,
    output: "environment motto.yaml is sound: 1 organization, 2 teams, 4 members, 2 seeds\n",
  });
  expect(shown.status).toBe(0);
  expect(shown.output).toContain("config: motto # motto.yaml:2:49\n");
  expect(shown.output).toContain("name: Crew # base.yaml:16:15\n");
  expect(shown.output).not.toContain(cipher);
  expect([log, join(folder, "nowhere")].filter(existsSync)).toEqual([]);
  expect(execFileSync("git", ["status", "--porcelain", "--ignored"], { cwd: clone, encoding: "utf8" })).toBe("");
});

import { expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Sandbox } from "./sandbox.ts";

test("what is loaded late serves as if it were there from the start: places in messages, packages of a function", async () => {
  const sandbox = new Sandbox({
    "package.json": "{}",
    "index.cjs": `const pulumi = require("@pulumi/pulumi");
const steps = (function* () {})();
const helper = () => steps.next();
pulumi.runtime.computeCodePaths().then((paths) => console.log("packages: " + paths.size), (error) => console.log("packages: " + error.message));
console.log("automation: " + Object.keys(pulumi.automation).includes("Stack") + " " + (pulumi.automation.LocalWorkspace.name ?? "") + " " + ("Stack" in pulumi.automation));
pulumi.runtime.serializeFunction(() => helper()).catch((error) => console.log(error.message));
`,
  });
  try {
    await sandbox.init();
    const { events } = await sandbox.run();
    const printed = events
      .flatMap((event) => (event.type === "log" && event.printed ? [event.message] : []))
      .join("\n");
    // The runner's inspector knows where functions are.
    expect(printed).toContain("index.cjs(6,33)");
    expect(printed).toContain("index.cjs(3,15): which captured");
    expect(printed).toContain("packages: 0");
    expect(printed).toContain("automation: true LocalWorkspace true");
  } finally {
    sandbox.remove();
  }
});

test("the SDK's own messages for debugging are not sent, those of the program are", async () => {
  const sandbox = new Sandbox({
    "package.json": "{}",
    "index.cjs": `const pulumi = require("@pulumi/pulumi");
const engine = pulumi.runtime.getEngine();
const log = engine.log.bind(engine);
engine.log = (request, done) => { sent.push(request.getMessage()); log(request, done); };
const sent = [];
new pulumi.ComponentResource("test:index:Component", "one").urn.apply(async () => {
  await pulumi.log.debug("for debugging");
  await pulumi.log.info("for people");
  console.log("sent: " + sent.join());
});
`,
  });
  try {
    await sandbox.init();
    const { events } = await sandbox.run();
    const messages = events.flatMap((event) => (event.type === "log" ? [event.message] : []));
    expect(messages).toContain("sent: for debugging,for people");
    expect(messages).toContain("for people");
    expect(messages).not.toContain("for debugging");
  } finally {
    sandbox.remove();
  }
});

test("where the SDK has other files, they load as usual", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "microapps-late-"));
  try {
    const sdk = path.join(folder, "node_modules/@pulumi/pulumi");
    mkdirSync(sdk, { recursive: true });
    writeFileSync(path.join(sdk, "index.js"), `exports.all = [require("./automation"), require("./renamed")];`);
    for (const name of ["automation", "renamed"])
      writeFileSync(path.join(sdk, `${name}.js`), `(globalThis.loaded ??= []).push(exports.name = "${name}");`);
    const script = `const { all } = require("@pulumi/pulumi");
      console.log(JSON.stringify([[...loaded], all.map(({ name }) => name), Object.keys(all[0]), loaded]));`;
    const late = new URL("../processes/lateModules.js", import.meta.url).href;
    const words = ["--import", late, "--input-type=commonjs", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder });
    const names = ["automation", "renamed"];
    expect(JSON.parse(stdout)).toEqual([["renamed"], names, ["name"], names.toReversed()]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

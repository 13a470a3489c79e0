import { expect, test } from "@jest/globals";
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

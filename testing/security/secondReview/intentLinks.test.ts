import { expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeIntent } from "../../../provider/resources/records/intents.ts";
import { throughBothKinds } from "../../harness/bothKinds.ts";

// "The link of an intent without a seal is not shown": whoever writes a branch sends nobody to a page of his.

const link = "https://evil.example/workspace/apps/app1";
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

throughBothKinds({ settings: { generationSeconds: 0 } }, (scene) => {
  const app = { userEmail: "admin@example.com", appPrompt: "An atlas of all countries." };
  const intentOf = (urn: string) => ({
    ...{ urn, link, startedAt: "2026-01-01T00:00:00.000Z" },
    ...{ userEmail: app.userEmail, promptDigest: digest(app.appPrompt) },
  });
  /** Writes an intent as a branch brings it along. */
  function forge(urn: string, seal: string | undefined): void {
    const folder = join(scene.host.folder, ".microapps/intents");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${digest(urn)}.json`), JSON.stringify({ ...intentOf(urn), seal }));
  }
  const own = (): string => scene.host.urn("GeneratedApp");
  const other = (): string => `${own()}-of-before`;
  /** Everything that people see of a preview and of an `up`. */
  async function shown(): Promise<string> {
    const { host } = scene;
    const before = host.told.length;
    const failures: string[] = [];
    const note = (error: unknown): void => void failures.push(String(error));
    const checked = await host.check("GeneratedApp", app).catch(note);
    failures.push(JSON.stringify(checked));
    const calls = await scene.calls(() => scene.create("GeneratedApp", app).catch(note));
    return [...failures, ...host.told.slice(before), host.printed, `calls: ${calls.join()}`].join("\n");
  }

  test.each([undefined, "0".repeat(64)])(
    "the link of an intent with the seal %s is shown and followed by nothing",
    async (seal) => {
      forge(own(), seal);
      const text = await shown();
      expect(text).toContain("does not have the seal of this user on this machine");
      expect(text).toMatch(/calls: $/);
      expect(text).not.toContain("evil.example");
    },
  );

  test("neither is that of an intent under another name; one with the seal is", async () => {
    forge(other(), undefined);
    const text = await shown();
    expect(text).toContain("an app was begun from this prompt at 2026-01-01");
    expect(text).not.toContain("evil.example");
    await writeIntent(scene.host.folder, intentOf(other()));
    expect(await shown()).toContain(link);
  });
});

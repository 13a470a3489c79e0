import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import * as testedKinds from "../harness/kinds.ts";
import { ProviderHost } from "../harness/providerHost.ts";

// A branch reads its own files only: a preview neither shows the content of others nor waits.

const tables = { regions: { fields: { Code: "text", Name: "text" } } };

throughBothKinds({ tables }, (scene) => {
  const problemsOf = async (source: string): Promise<string> =>
    (await scene.host.check("SeedRows", { table: "regions", key: "Code", source })).problems.join("\n");

  test("rows come from the repository, and from nowhere else", async () => {
    const { folder } = scene.host;
    await writeFile(join(folder, "regions.csv"), "Code,Name\nN,North\n");
    await symlink("regions.csv", join(folder, "linked.csv"));
    await symlink("/etc/passwd", join(folder, "passwd.csv"));
    await symlink("/proc/self/environ", join(folder, "environ.ndjson"));
    expect(await problemsOf("linked.csv")).toBe("");
    for (const source of ["passwd.csv", "environ.ndjson", "../../../etc/passwd.csv/../passwd.csv"]) {
      const said = await problemsOf(source);
      expect(said).toMatch(/it is outside of the repository|there is no such file/);
      expect(said).not.toMatch(/root:|PATH=/);
    }
    expect(await problemsOf("passwd.csv")).toContain("it is outside of the repository");
  });

  test("devices and pipes are refused at once", async () => {
    execFileSync("mkfifo", [join(scene.host.folder, "pipe.csv")]);
    await symlink("/dev/zero", join(scene.host.folder, "zero.csv"));
    expect(await problemsOf("pipe.csv")).toContain("it is a device, a pipe or a socket");
    expect(await problemsOf("zero.csv")).toContain("it is outside of the repository");
  });
});

test.each(Object.values(testedKinds))(
  "with the $name provider, an emulator's seed comes from the repository, too",
  async (providerKind) => {
    const config = { "microapps:email": "admin@example.com", "microapps:password": "admin" };
    const host = await ProviderHost.start(providerKind, {
      "microapps:endpoint": "emulator::memory:?seed=/etc/passwd",
      ...config,
    });
    const inputs = host.providerKind.given("Organization", host.urn("Organization"), { name: "Acme" });
    const made = host.create("Organization", inputs).then(
      () => "",
      (error: unknown) => String(error),
    );
    const said = await made;
    await host.stop();
    expect(said).toContain("it is outside of the repository");
    expect(said).not.toContain("root:");
  },
);

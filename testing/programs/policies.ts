import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cli } from "./cli.ts";

/** Projects by folder, with an edit by which each breaks a rule, the rule and its sentence. One uses the plugin. */
const projects = {
  organization: {
    file: "index.ts",
    edit: (text: string) => text.replace('name: "Globex"', 'name: "Globex", forceDestroy: true'),
    rule: "organization-not-forced",
    says: "delete teams and members one by one",
  },
  "yaml-resources": {
    file: "Pulumi.yaml",
    edit: (text: string) => text.replaceAll("ada@example.com", "ada@elsewhere.example"),
    rule: "member-of-the-house",
    says: "ada@elsewhere.example is not of this company.",
  },
} as const;

/**
 * Previews programs of both kinds of provider under the example of a policy pack: as they are, and with what it forbids.
 * @param root a copy of the repository's examples
 */
export async function runPolicies(cli: Cli, root: string): Promise<void> {
  for (const [name, { file, edit, rule, says }] of Object.entries(projects)) {
    const folder = join(root, "examples", name);
    const preview = "preview --stack policies --policy-pack ../policies".split(" ");
    await cli.succeed(folder, "stack", "init", "policies", "--no-select");
    await writeFile(join(folder, "Pulumi.policies.yaml"), await readFile(join(folder, "Pulumi.dev.yaml")));
    const allowed = await cli.succeed(folder, ...preview);
    if (!allowed.includes("microapps-policies@v0.1.0")) throw new Error(`${name}: the pack did not run:\n${allowed}`);
    const text = await readFile(join(folder, file), "utf8");
    const broken = edit(text);
    if (broken === text) throw new Error(`${name}: ${file} has not what is edited`);
    await writeFile(join(folder, file), broken);
    try {
      const { status, output } = await cli.run(folder, preview);
      const isRefused = status !== 0 && output.includes(`[mandatory]  ${rule}`) && output.includes(says);
      if (!isRefused) throw new Error(`${name}: ${rule} did not end the preview with its sentence:\n${output}`);
    } finally {
      await writeFile(join(folder, file), text);
    }
  }
}

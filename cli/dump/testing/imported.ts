import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Emulator } from "../../../emulator/index.ts";
import { configOf, Project } from "../../../testing/harness/project.ts";

const importFile = z.object({
  resources: z.array(
    z.looseObject({
      type: z.string(),
      name: z.string(),
      id: z.string().optional(),
      parent: z.string().optional(),
      component: z.boolean().optional(),
    }),
  ),
});
const state = z.looseObject({
  checkpoint: z.looseObject({ latest: z.looseObject({ resources: z.array(z.unknown()).optional() }) }),
});

/** A project that runs a dumped environment on a platform: files alone, or a program. The files are still to be written. */
export function projectOn(
  platform: Emulator,
  { email, password }: { email: string; password: string },
  hasProgram: boolean,
): Promise<Project> {
  const config = configOf(platform, { email, password });
  const file = "environment.yaml";
  const program = `import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "${file}" });`;
  return hasProgram ? Project.running(program, config) : Project.declaring(config, { file });
}

/** Puts the resources of an import file into a project's empty state, as `pulumi import --file` leaves them. */
export async function imported(project: Project, text: string): Promise<void> {
  const path = join(project.folder, ".pulumi/stacks/tests/dev.json");
  const found = state.parse(JSON.parse(await readFile(path, "utf8")));
  const prefix = "urn:pulumi:dev::tests::";
  const stack = { urn: `${prefix}pulumi:pulumi:Stack::tests-dev`, custom: false, type: "pulumi:pulumi:Stack" };
  const type = "pulumi:providers:pulumi-nodejs";
  const provider = { urn: `${prefix}${type}::default`, custom: true, type, id: "imported", inputs: {}, outputs: {} };
  const types = new Map<string, string>();
  const resources = importFile.parse(JSON.parse(text)).resources.map(({ name, component, parent = "", ...rest }) => {
    const above = types.get(parent);
    types.set(name, above === undefined ? rest.type : `${above}$${rest.type}`);
    return {
      urn: `${prefix}${types.get(name) ?? ""}::${name}`,
      custom: !component,
      parent: above === undefined ? stack.urn : `${prefix}${above}::${parent}`,
      ...(component ? {} : { provider: `${provider.urn}::${provider.id}` }),
      ...rest,
    };
  });
  found.checkpoint.latest.resources = [stack, provider, ...resources];
  await writeFile(path, JSON.stringify(found));
}

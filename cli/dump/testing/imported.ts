import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Project } from "../../../testing/harness/project.ts";

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

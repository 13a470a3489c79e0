import { Workspace } from "../../engine/index.ts";
import { type Configuration, configure, misplacedSecrets } from "../pulumi/configuration.ts";
import { ConfigurationError } from "../pulumi/configurationError.ts";

/** The variables alone where they say everything; else those of the stack, with the variables before them. */
export async function settingsOf(
  cwd: string,
  stack: string | undefined,
): Promise<{ settings: Configuration; folder: string }> {
  const { env } = process;
  if (stack === undefined && env["MICROAPPS_ENDPOINT"])
    return { settings: configure(() => undefined, env), folder: cwd };
  const workspace = await Workspace.open({ cwd, environment: env });
  const config = (await workspace.stack(stack)).config();
  const misplaced = misplacedSecrets((key) => config[`microapps:${key}`]?.secret ?? false);
  if (misplaced !== undefined) throw new ConfigurationError(misplaced);
  return { settings: configure((key) => config[`microapps:${key}`]?.text, env), folder: workspace.project.workdir };
}

import { Workspace } from "../../engine/index.ts";
import { type Configuration, configure, misplacedSecrets } from "../pulumi/configuration/configuration.ts";
import { ConfigurationError } from "../pulumi/configuration/configurationError.ts";

/** The settings of the variables alone where these are complete; else those of the stack, which variables override. */
export async function settingsOf(
  cwd: string,
  stack: string | undefined,
): Promise<{ settings: Configuration; folder: string }> {
  const { env } = process;
  if (stack === undefined && env["MICROAPPS_ENDPOINT"]) return { settings: configure({}, env), folder: cwd };
  const workspace = await Workspace.open({ cwd, environment: env });
  const config = (await workspace.stack(stack)).config();
  const misplaced = misplacedSecrets((key) => config[`microapps:${key}`]?.secret ?? false);
  if (misplaced !== undefined) throw new ConfigurationError(misplaced);
  const own = Object.entries(config).flatMap(([key, { text }]) =>
    key.startsWith("microapps:") ? [[key.slice("microapps:".length), text] as const] : [],
  );
  return { settings: configure(Object.fromEntries(own), env), folder: workspace.project.workdir };
}

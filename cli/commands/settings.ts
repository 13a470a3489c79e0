import { type Stack, Workspace } from "../../engine/index.ts";
import {
  type Configuration,
  ConfigurationError,
  configure,
  describeMisplacedSecrets,
} from "../../provider/pulumi/configuration.ts";

/** The settings of the variables alone where these are complete; else those of the stack, which variables override. */
export async function settingsOf(
  cwd: string,
  stack: string | undefined,
): Promise<{ settings: Configuration; folder: string }> {
  const { env } = process;
  if (isOfVariables(stack, env)) return { settings: configure({}, env), folder: cwd };
  const workspace = await Workspace.open({ cwd, environment: env });
  const settings = stackSettings(await workspace.stack(stack), env);
  return { settings, folder: workspace.project.workdir };
}

/** True if the variables alone say which platform is meant. */
export const isOfVariables = (stack: string | undefined, environment: NodeJS.ProcessEnv): boolean =>
  stack === undefined && Boolean(environment["MICROAPPS_ENDPOINT"]);

/** The configuration of a stack under `microapps:`, with secrets in clear. */
export const readOwnSettings = (stack: Stack): Record<string, { text: string; secret: boolean }> =>
  Object.fromEntries(
    Object.entries(stack.config()).flatMap(([key, entry]) =>
      key.startsWith("microapps:") ? [[key.slice("microapps:".length), entry] as const] : [],
    ),
  );

/** The settings of a stack, which variables override. */
export function stackSettings(stack: Stack, environment: NodeJS.ProcessEnv): Configuration {
  const own = readOwnSettings(stack);
  const misplaced = describeMisplacedSecrets((key) => own[key]?.secret ?? false);
  if (misplaced !== undefined) throw new ConfigurationError(misplaced);
  const texts = Object.fromEntries(Object.entries(own).map(([key, { text }]) => [key, text]));
  return configure(texts, environment);
}

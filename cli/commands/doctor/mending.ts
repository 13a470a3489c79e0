import { secretKeys } from "../../../provider/pulumi/configuration/configuration.ts";
import { readVariable, variableOf } from "../../../provider/pulumi/configuration/keys.ts";

/** Where settings stand: in the configuration of a stack, or in variables alone. */
export interface SettingsPlace {
  stack: string | undefined;
  /** The folder of `--cwd`. */
  cwd: string | undefined;
  environment: NodeJS.ProcessEnv;
}

/** A command of this program as a person types it here. */
export const command = ({ stack, cwd }: SettingsPlace, words: string): string =>
  `microapps ${words}${stack === undefined ? "" : ` -s ${quoteForShell(stack)}`}${cwd === undefined ? "" : ` -C ${quoteForShell(cwd)}`}`;

/**
 * The command that sets a key where it is set now. Without a value the command asks for it; a variable is left to be
 * filled in.
 */
export function setting(place: SettingsPlace, key: string, value?: string): string {
  const { stack, environment } = place;
  if (stack === undefined || readVariable(environment, key) !== undefined) {
    return `export ${variableOf(key)}=${value === undefined ? "…" : quoteForShell(value)}`;
  }
  const isSecret = (secretKeys as readonly string[]).includes(key);
  const word = value === undefined ? "" : ` ${quoteForShell(value)}`;
  return command(place, `config set ${isSecret ? "--secret " : ""}microapps:${key}${word}`);
}

/** The command that removes a key where it is set now. */
export const unsetting = (place: SettingsPlace, key: string): string =>
  place.stack === undefined || readVariable(place.environment, key) !== undefined
    ? `unset ${variableOf(key)}`
    : command(place, `config rm microapps:${key}`);

/** A word for a shell. */
export const quoteForShell = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

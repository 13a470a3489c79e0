import type { Command } from "commander";
import { nearest } from "../../machine/spelling.ts";

/** Commands that only Pulumi has, by their group. */
const onlyPulumi: Readonly<Record<string, readonly string[]>> = {
  "": [
    ...["about", "console", "convert", "env", "install", "login", "logout", "logs", "new", "org", "package", "plugin"],
    ...["policy", "query", "schema", "state", "watch", "whoami"],
  ],
  stack: ["change-secrets-provider", "graph", "history", "import", "rename", "tag", "unselect"],
  config: ["cp", "env", "refresh", "set-all", "rm-all"],
};

/** Refuses unknown commands at every level and suggests the one that was probably meant. */
export function refuseUnknownCommands(command: Command): void {
  for (const each of command.commands) {
    if (each.commands.length > 0) refuseUnknownCommands(each);
  }
  command.on("command:*", ([word = ""]: string[]) => refuseUnknown(command, word));
}

/** Refuses a word after a command that takes only the names of other commands. */
export function refuseWords(command: Command): void {
  const [word] = command.args;
  if (word !== undefined) refuseUnknown(command, word);
}

function refuseUnknown(command: Command, word: string): never {
  const parents = command.parent ? `${command.name()} ` : "";
  const own = command.commands.flatMap((each) => [each.name(), ...each.aliases()]);
  const near = nearest(word, own);
  const remedy = near === undefined ? elsewhere(command, word) : `\n(Did you mean ${parents}${near}?)`;
  return command.error(`error: unknown command '${parents}${word}'${remedy}`);
}

function elsewhere(command: Command, word: string): string {
  const group = command.parent ? command.name() : "";
  const full = (onlyPulumi[group] ?? []).includes(word)
    ? `${group} ${word}`.trim()
    : Object.entries(onlyPulumi).flatMap(([each, words]) =>
        words.includes(word) ? [`${each} ${word}`.trim()] : [],
      )[0];
  return full === undefined ? "" : `\n(The Pulumi CLI has 'pulumi ${full}', on the same state.)`;
}

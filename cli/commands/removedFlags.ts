import { type Command, Option } from "commander";
import { removedFlagsOf } from "../../machine/removed.ts";

/** Answers flags of earlier versions, at a command and all below it, by what to do instead. */
export function answerRemovedFlags(command: Command, name = ""): void {
  for (const each of command.commands) answerRemovedFlags(each, `${name} ${each.name()}`.trim());
  const answers = removedFlagsOf(name).map(([flag, sentence]) => {
    const option = new Option(`${flag} [value]`).hideHelp();
    command.addOption(option);
    return { option, sentence };
  });
  if (answers.length === 0) return;
  command.hook("preAction", () => {
    for (const { option, sentence } of answers) {
      if (command.getOptionValue(option.attributeName()) !== undefined) command.error(`error: ${sentence}`);
    }
  });
}

import type { Argument, Command, Option } from "commander";
import { bash } from "./completion/bash.ts";
import { fish } from "./completion/fish.ts";
import type { CompletionPlace, Values, CompletionWord } from "./completion/words.ts";
import { zsh } from "./completion/zsh.ts";

const writers = { bash, zsh, fish };

/** Adds the command that prints the completion of a shell. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print what makes a shell complete the words of this command: source <(microapps completion bash)")
    .addArgument(program.createArgument("<shell>", "which one").choices(Object.keys(writers)))
    .action((shell: keyof typeof writers) => {
      process.stdout.write(writers[shell](placesOf(program), valuesOf(program)));
    });
}

function placesOf(command: Command, path = "", above: readonly Option[] = []): CompletionPlace[] {
  const { commands } = command;
  const shown = command.createHelp().visibleCommands(command);
  const options = [...command.createHelp().visibleOptions(command), ...above];
  const place = {
    path,
    commands: shown.map((each) => word(each.name(), each.description())),
    options: options.flatMap((each) => spellings(each).map((text) => word(text, each.description))),
    values: command.registeredArguments.flatMap(({ argChoices = [] }: Argument) => argChoices),
  };
  const below = commands.flatMap((each) =>
    [each.name(), ...each.aliases()].flatMap((name) =>
      placesOf(each, `${path} ${name}`.trim(), options.filter(isEverywhere)),
    ),
  );
  return [place, ...below];
}

/** Each command has its own option for help, and only the program one for its version. */
const isEverywhere = ({ long }: Option): boolean => long !== "--help" && long !== "--version";

function valuesOf(program: Command): Values {
  const values: Values = { stacks: [], files: [], choices: new Map(), others: [] };
  const visit = (command: Command): void => {
    for (const option of command.options) {
      if (!option.required && !option.optional) continue;
      for (const text of spellings(option)) {
        if (option.argChoices) values.choices.set(text, option.argChoices);
        else if (option.long === "--stack") values.stacks.push(text);
        else if (/<(file|folder|path)>|\.yaml/.test(option.flags)) values.files.push(text);
        else if (option.required) values.others.push(text);
      }
    }
    command.commands.forEach(visit);
  };
  visit(program);
  const unique = (words: string[]): string[] => [...new Set(words)];
  const files = unique(values.files);
  return {
    ...values,
    stacks: unique(values.stacks),
    files,
    others: unique(values.others).filter((each) => !files.includes(each)),
  };
}

const spellings = ({ short, long }: Option): string[] => [short, long].filter((each) => each !== undefined);

/** The first line of a description: shells have one line for it. */
const word = (text: string, description: string): CompletionWord => ({
  text,
  description: description.split("\n")[0] ?? "",
});

import type { Command, Option } from "commander";
import { readdirSync } from "node:fs";

// Each script asks this command what may follow, with the words that are written so far; where nothing is known, shells offer files.
const scripts = {
  bash: `_microapps() {
  local IFS=$'\\n'
  COMPREPLY=($(microapps completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _microapps microapps
`,
  zsh: `#compdef microapps
_microapps() {
  local -a found
  found=(\${(f)"$(microapps completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then _describe microapps found; else _files; fi
}
compdef _microapps microapps
`,
  fish: `function __microapps
  set -l before (commandline -opc)
  set -l begun (commandline -ct)
  set -l found (microapps completion fish -- $before[2..-1] "$begun" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$begun"
  end
end
complete -c microapps -f -a '(__microapps)'
`,
};
type Shell = keyof typeof scripts;

/** A word that may follow, with its description. */
type Candidate = readonly [word: string, description: string];

/** A candidate as a line that the shell reads. */
const lines: Readonly<Record<Shell, (candidate: Candidate) => string>> = {
  bash: ([word]) => word,
  zsh: ([word, description]) => `${word.replaceAll(":", "\\:")}:${description}`,
  fish: ([word, description]) => `${word}\t${description}`,
};

/** Adds the command that prints the completion of a shell. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print completions: source <(microapps completion bash)")
    .addArgument(program.createArgument("<shell>", "which one").choices(Object.keys(scripts)))
    .argument("[words...]", "behind --, those that are written so far: prints what may follow")
    .action((shell: Shell, words: string[]) => {
      const candidates = words.length === 0 ? [] : candidatesFor(program, words);
      process.stdout.write(
        words.length === 0 ? scripts[shell] : candidates.map((each) => `${lines[shell](each)}\n`).join(""),
      );
    });
}

/** What the last of some words may become: commands, options, or values of the option or the argument that it stands for. */
function candidatesFor(program: Command, words: readonly string[]): Candidate[] {
  const [before, begun] = [words.slice(0, -1), words.at(-1) ?? ""];
  const path = [program];
  let option: Option | undefined; // whose value comes next
  for (const word of before) {
    const command = path.at(-1) ?? program;
    const isValue = option !== undefined;
    option = isValue ? undefined : optionsOf(path).find((each) => each.required && spellings(each).includes(word));
    const below = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    if (!isValue && below) path.push(below);
  }
  const all = option ? valuesOf(option) : begun.startsWith("-") ? optionWords(path) : bareWords(path.at(-1) ?? program);
  return all.filter(([word]) => word.startsWith(begun));
}

/** Options of a command and of those above it, which have a help and a version of their own. */
const optionsOf = (path: readonly Command[]): Option[] =>
  path.flatMap((command, at) =>
    command
      .createHelp()
      .visibleOptions(command)
      .filter(({ long }) => at === path.length - 1 || (long !== "--help" && long !== "--version")),
  );

const spellings = ({ short, long }: Option): string[] => [short, long].filter((each) => each !== undefined);
const plain = (words: readonly string[]): Candidate[] => words.map((word) => [word, ""]);

const optionWords = (path: readonly Command[]): Candidate[] =>
  optionsOf(path).flatMap((each) => spellings(each).map((word): Candidate => [word, each.description]));

const valuesOf = ({ argChoices, long }: Option): Candidate[] =>
  plain(argChoices ?? (long === "--stack" ? stacks() : []));

const ofStacks: readonly string[] = ["select", "rm", "cancel"]; // commands whose argument is a stack

const bareWords = (command: Command): Candidate[] => [
  ...command
    .createHelp()
    .visibleCommands(command)
    .map((each): Candidate => [each.name(), each.description()]),
  ...plain(command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)),
  ...plain(ofStacks.includes(command.name()) ? stacks() : []),
];

/** The stacks that have a configuration in this folder. */
const stacks = (): string[] => readdirSync(".").flatMap((name) => /^Pulumi\.(.+)\.yaml$/.exec(name)?.[1] ?? []);

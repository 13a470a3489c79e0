import type { Command, Help, Option } from "commander";
import { code, escapeCell, page, row, table } from "./markdown.ts";

/** Every command with its arguments and options, as the program knows them. */
export function commandsPage(program: Command): string {
  const help = program.createHelp();
  const shown = commandsOf(program, help);
  return page(
    "the commands",
    "# Command line",
    `${program.description()} \`npx microapps <command> --help\` says the same on a terminal. How commands end: [exit-statuses.md](exit-statuses.md).`,
    table(
      "| command | what it does |",
      shown.map(([path, command]) => row(`[${path}](#${anchor(path)})`, escapeCell(command.description()))),
    ),
    "## Everywhere",
    options(program, help),
    shown.flatMap(([path, command]) => section(path, command, help)),
  );
}

const anchor = (path: string): string => `microapps-${path.replaceAll(" ", "-")}`;

/** The commands that do something, those of a group below it. */
function commandsOf(command: Command, help: Help, above = ""): [path: string, command: Command][] {
  return help.visibleCommands(command).flatMap((each): [string, Command][] => {
    if (each.name() === "help") return [];
    const path = `${above}${each.name()}`;
    return [[path, each], ...commandsOf(each, help, `${path} `)];
  });
}

function section(path: string, command: Command, help: Help): string[] {
  const aliases = command.aliases();
  const also = aliases.length > 0 ? ` Also ${aliases.map(code).join(", ")}.` : "";
  const words = help
    .visibleArguments(command)
    .map((argument) => row(code(argument.name()), escapeCell(help.argumentDescription(argument))));
  return [
    `## microapps ${path}`,
    `${sentence(command.description())}${also}`,
    "```\n" + help.commandUsage(command).replace(/^(microapps)\|\S+/, "$1") + "\n```",
    ...(words.length > 0 ? [table("| argument | what it is |", words)] : []),
    ...(optionsOf(command, help).length > 0 ? [options(command, help)] : []),
  ];
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)]$/.test(text) ? "" : "."}`;

const optionsOf = (command: Command, help: Help): Option[] =>
  help.visibleOptions(command).filter(({ long }) => long !== "--help");

const options = (command: Command, help: Help): string =>
  table(
    "| option | what it does |",
    optionsOf(command, help).map((option) =>
      row(code(option.flags.replaceAll("|", "\\|")), escapeCell(help.optionDescription(option))),
    ),
  );

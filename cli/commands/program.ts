import { Command, Option } from "commander";
import { addEngineCommands, refuseUnknownCommands, reportFailure } from "../../engine/cli/cli.ts";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import { removedFlagsOf } from "../../machine/removed.ts";
import { describeSizes } from "../../provider/environment/leaving.ts";
import * as own from "./commands.ts";
import { startEmulatorsHere } from "./emulator/emulators.ts";
import { hostFiles, hostOwn } from "./hosting.ts";
import { RenamingWatch } from "./renamings.ts";

const { version } = readOwnPackage();

// Whoever reads the output may stop reading (`| head`); the run must not end half-way because of that.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
startEmulatorsHere();

/** The command line. */
export const program = new Command("microapps")
  .description("Reconciles an organization and its seed data from code, with an emulator of the platform to try it on.")
  .version(version)
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError("(microapps --help lists the commands)");
addEngineCommands(program, undefined, {
  sizes: describeSizes,
  hints: () => new RenamingWatch(),
  host: hostOwn,
  hostProgram: hostFiles,
  plan: async (stack) => (await import("../report/plan.ts")).planOfStack(stack),
});
for (const add of Object.values(own)) add(program);
refuseUnknownCommands(program);
answerRemovedFlags(program);

/** The commands by what people come for, in the order in which help shows them. */
const groups = {
  "Run:": ["init", "preview", "up", "refresh", "destroy", "stack", "config", "state", "cancel"],
  "Review:": ["environment", "report", "drift", "pull", "promote", "ci"],
  "Data and platform:": ["dump", "table", "api", "emulator"],
  "Help:": ["doctor", "verify", "help"],
};
program.addHelpCommand(
  new Command("help").argument("[command]").description("display help for a command").helpGroup("Help:"),
);
const order = Object.values(groups).flat();
const commands = program.commands.toSorted((one, other) => order.indexOf(one.name()) - order.indexOf(other.name()));
Object.assign(program.commands, commands);
for (const [heading, names] of Object.entries(groups))
  for (const command of commands) if (names.includes(command.name())) command.helpGroup(heading);

// Engines show it among the diagnostics of a run.
program.hook("preAction", async (_, own) => {
  if (process.env["NODE_TLS_REJECT_UNAUTHORIZED"] === undefined || ["up", "preview"].includes(own.name())) return;
  const { believesAll, certificateWarning } = await import("../../provider/pulumi/configuration.ts");
  if (believesAll(process.env)) console.error(`warning: ${certificateWarning}`);
});

/** Runs what the words of this process ask for. */
export const run = (): Promise<unknown> => program.parseAsync().catch(reportFailure);

/** Answers flags of earlier versions, at a command and all below it, by what to do instead. */
function answerRemovedFlags(command: Command, name = ""): void {
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

import { Command } from "commander";
import { addEngineCommands, refuseUnknownCommands, reportFailure } from "../../engine/cli/cli.ts";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import { describeSizes } from "../../provider/environment/leaving.ts";
import { believesAll, certificateWarning } from "../../provider/pulumi/configuration.ts";
import { addApiCommand } from "./api.ts";
import { addCiCommand } from "./ci/commands.ts";
import { addCompletionCommand } from "./completion.ts";
import { addDoctorCommand } from "./doctor/commands.ts";
import { addDumpCommand, addImportRefusal } from "./dump.ts";
import { addEmulatorCommand } from "./emulator/commands.ts";
import { startEmulatorsHere } from "./emulator/emulators.ts";
import { addEnvironmentCommands } from "./environment/environment.ts";
import { hostFiles, hostOwn } from "./hosting.ts";
import { addInitCommand } from "./init/commands.ts";
import { addPromoteCommand } from "./promote.ts";
import { addPullCommand } from "./pull.ts";
import { remaining } from "./remaining.ts";
import { answerRemovedFlags } from "./removedFlags.ts";
import { RenamingWatch } from "./renamings.ts";
import { addDriftCommand, addReportCommand } from "./report/commands.ts";
import { addTableCommand } from "./table.ts";
import { addVerifyCommand } from "./verify/commands.ts";

const { version } = readOwnPackage();

// Whoever reads the output may stop reading (`| head`); the run must not end half-way because of that.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
startEmulatorsHere();

/** The command line. */
export const program = new Command("microapps")
  .description(
    "Reconciles an organization and its seed data from code, and has the platform on this machine to try it on.",
  )
  .version(version)
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError("(microapps --help says what there is)");
addEngineCommands(program, undefined, {
  remaining,
  sizes: describeSizes,
  hints: () => new RenamingWatch(),
  host: hostOwn,
  hostProgram: hostFiles,
  plan: async (stack) => (await import("./report/planning.ts")).planOfStack(stack),
});
addApiCommand(program);
addDoctorCommand(program);
addVerifyCommand(program);
addDumpCommand(program);
addImportRefusal(program);
addReportCommand(program);
addEnvironmentCommands(program);
addDriftCommand(program);
addPullCommand(program);
addPromoteCommand(program);
addCiCommand(program);
addInitCommand(program);
addTableCommand(program);
addEmulatorCommand(program);
addCompletionCommand(program);
refuseUnknownCommands(program);
answerRemovedFlags(program);

/** The commands by what people come for, in the order in which help shows them. */
const groups = {
  "Run:": ["init", "preview", "up", "refresh", "destroy", "stack", "config", "state", "cancel"],
  "Review:": ["environment", "report", "drift", "pull", "promote", "ci"],
  "Data and platform:": ["dump", "table", "api", "emulator"],
  "Help:": ["doctor", "verify", "completion", "help"],
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
program.hook("preAction", (_, own) => {
  if (believesAll(process.env) && !["up", "preview"].includes(own.name()))
    console.error(`warning: ${certificateWarning}`);
});

/** Runs what the words of this process ask for. */
export const run = (): Promise<unknown> => program.parseAsync().catch(reportFailure);

import type { Command } from "commander";

/** Adds the driver by which Git merges files of rows. */
export function addMergeDriverCommand(program: Command): void {
  const driver = program
    .command("merge-driver")
    .description(
      "merge a CSV, JSON or NDJSON file by the natural key of its rows; Git calls it, once 'merge-driver install' has run",
    )
    .argument("<base>", "the file's content that both sides began with (%O)")
    .argument("<ours>", "our content, in whose place the outcome is written (%A)")
    .argument("<theirs>", "their content (%B)")
    .argument("<path>", "the file that is merged, from the top of the repository on (%P)")
    .argument("[size]", "characters of a conflict's marks (%L)")
    .action(async (base: string, ours: string, theirs: string, path: string, size: string | undefined) => {
      const { runDriver } = await import("./running.ts");
      await runDriver({ base, ours, theirs, path, size });
    });
  driver
    .command("install")
    .description(
      "make Git merge the files of seeds by their keys: writes .gitattributes and the configuration of this clone",
    )
    .action(async (_, command: Command) => {
      const { runInstall } = await import("./running.ts");
      await runInstall(command.optsWithGlobals());
    });
}

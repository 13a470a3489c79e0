import type { Command } from "commander";
import type { ApproveOptions } from "./options.ts";

/** Adds the command that approves a report, and the flag by which a run is held against it. */
export function addApproval(program: Command): void {
  program
    .command("approve")
    .description(
      "approve what a report shows: make it anew, show what a run may do, and sign that with the key in MICROAPPS_APPROVAL_KEY, so that 'up --approved' does that and nothing else",
    )
    .argument("[report]", "what 'report --format json' wrote: it must be what the tree and the state give now")
    .option("-o, --output <file>", "write it there instead of into the report")
    .option("--expect <digest...>", "approve without asking where these are the digests that the report showed")
    .option("--code-reviewed", "with --expect: people have read the code that the report flags")
    .option("--base <commit>", "without a report: what the working tree is compared with (default: HEAD)")
    .option("--file <file>", "the Environment file, where environments.yaml does not say it")
    .option("--state <file>", "the state, as 'stack export' prints it, where its backend is out of reach")
    .option("--valid-for <time>", "how long it counts: 30m, 12h, 7d", "7d")
    .action(async (file: string | undefined, _, own: Command) => {
      const options = own.optsWithGlobals<ApproveOptions>();
      // Loaded when it is needed: the emulator is to start fast.
      const { approve } = await import("./approving.ts");
      await approve(file, options);
    });
  const up = program.commands.find((command) => command.name() === "up");
  up?.option(
    "--approved <report>",
    "do what this approved report shows, and nothing else (default: MICROAPPS_APPROVED)",
  )
    .hook("preAction", async (_, own) => {
      const options = own.optsWithGlobals<{ cwd?: string; stack?: string; approved?: string }>();
      const file = options.approved ?? (process.env["MICROAPPS_APPROVED"] || undefined);
      if (file === undefined) return;
      const { assertApproved } = await import("./approving.ts");
      await assertApproved({ ...options, file });
    })
    .hook("postAction", async () => {
      if (!process.env["MICROAPPS_APPROVED"]) return;
      const { statusOfRefusals } = await import("./approving.ts");
      statusOfRefusals();
    });
}

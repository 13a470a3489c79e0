import { type Command, InvalidArgumentError, Option } from "commander";
import type { RecordOptions } from "./record.ts";

/** Adds the command that stands between a platform and whoever calls it, and writes down what it sees. */
export function addRecordCommand(program: Command): void {
  program
    .command("record")
    .description(
      "stand between a platform and its callers, and write what was exchanged as a seed and a profile of the emulator and as facts, without secrets and people",
    )
    .argument("[command...]", "a command to run with MICROAPPS_ENDPOINT set to the recording; without one until Ctrl-C")
    .requiredOption("--to <address>", "the platform, as https://platform.example.com", addressIn)
    .option("--port <number>", "port to listen on; a free one when it is 0", portIn, 0)
    .option("--out <folder>", "where the files go", ".")
    .option("--seed <file>", "the seed, in that folder", "platform.yaml")
    .option("--facts <file>", "the facts, in that folder", "facts.yaml")
    .option("--profile <file>", "the platform's habits, in that folder", "profile.yaml")
    .addOption(
      new Option(
        "--rows <how>",
        "what stays of the values of rows: their types and order, or what is neither secret nor a person",
      )
        .choices(["shape", "values"])
        .default("shape"),
    )
    .option(
      "--private <label>",
      "a field that holds people (repeatable)",
      (label: string, all: string[]) => [...all, label],
      [],
    )
    .option("--force", "overwrite what an earlier recording wrote")
    .action(async (words: string[], _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { record } = await import("./record.ts");
      process.exitCode = await record(words, command.optsWithGlobals<RecordOptions>());
    });
}

function addressIn(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError("It must begin with https:// or http://.");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new InvalidArgumentError("It must be an address without an account and a query.");
  }
  return url;
}

function portIn(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError("It must be 0 to 65535.");
  return port;
}

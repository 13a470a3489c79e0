import { type Command, Option } from "commander";
import type { SchemaOptions } from "./tableSchema.ts";

/** Adds the commands about one table. */
export function addTableCommand(program: Command): void {
  const table = program.command("table").description("look at a table of the platform");
  table
    .command("schema")
    .description("describe the labels of a table, and how sure that is, as Table Schema, JSON Schema and TypeScript")
    .argument("<table>", "ID of the table")
    .option("--key <labels>", "labels of its natural key, joined by + (default: the first that tells rows apart)")
    .option("--from <file>", "take the fields from a platform seed, or an environment file, in place of rows")
    .option("--out <folder>", "write <table>.schema.json, <table>.rows.schema.json and <table>.ts there")
    .addOption(
      new Option("--as <form>", "print one of the three").choices(["table-schema", "json-schema", "typescript"]),
    )
    .option("--type <name>", "name of the TypeScript type")
    .option("-j, --json", "print what was found as JSON")
    .action(async (id: string, _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { describeTable } = await import("./tableSchema.ts");
      await describeTable(id, command.optsWithGlobals<SchemaOptions>());
    });
}

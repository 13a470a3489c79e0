import { type Command, Option } from "commander";
import { EngineError } from "../errors.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { printJson, type Terminal } from "../terminal/prompts.ts";
import { writeOn } from "../terminal/text.ts";
import { nameOf } from "../values/urns.ts";
import { type PropertyMap, toShown } from "../values/values.ts";
import { type GlobalOptions, openStack, optionsOf } from "./globals.ts";

interface Options {
  output?: "default" | "json";
  showSecrets?: boolean;
}

export function addStateCommands(program: Command, terminal: Terminal): void {
  program
    .command("state")
    .description("show the state of a stack")
    .command("get")
    .description("show a resource in the state")
    .argument("<resource>", "its URN, or its name where only one resource has it")
    .addOption(new Option("--output <form>", "json prints JSON").choices(["default", "json"]))
    .option("--show-secrets", "show secrets in plain text")
    .action((resource: string, _, command: Command) => get(terminal, resource, optionsOf<Options>(command)));
}

async function get(terminal: Terminal, resource: string, options: Options & GlobalOptions): Promise<void> {
  const stack = await openStack(options, terminal);
  const { resources } = await stack.read();
  const found = resourceNamed(resources, resource, terminal);
  const inputs = visible(found.inputs, options.showSecrets ?? false);
  const outputs = visible(found.outputs, options.showSecrets ?? false);
  const { id, type, urn } = found;
  const shown = { id, inputs, outputs, type, urn, ...(found.delete ? { pendingDeletion: true } : {}) };
  if (options.output === "json") {
    printJson(terminal, shown);
    return;
  }
  const { propertyLines } = await import("../display/properties.ts");
  const lines = propertyLines(shown, 2, undefined, { paint: (_, text) => text, preview: false });
  const write = writeOn(terminal.output, terminal.environment);
  write(lines.map((line) => `${line.slice(2)}\n`).join(""));
}

/** Finds a resource by its URN or its name; of several copies the one that is not to be deleted. */
function resourceNamed(resources: readonly ResourceState[], text: string, terminal: Terminal): ResourceState {
  const isUrn = text.startsWith("urn:");
  const matching = resources.filter(({ urn }) => (isUrn ? urn === text : nameOf(urn) === text));
  const urns = [...new Set(matching.map(({ urn }) => urn))];
  if (urns.length > 1) {
    throw new EngineError(
      `${urns.length} resources of the stack are called '${text}': name one by its URN: ${urns.join(", ")}`,
    );
  }
  const live = matching.find((state) => !state.delete) ?? matching[0];
  if (live === undefined) {
    throw new EngineError(`no resource of the stack is called '${text}': 'stack export' shows all of them`);
  }
  if (matching.length > 1 && !live.delete) {
    terminal.errors.write(
      `warning: ${matching.length - 1} more of it will be deleted by the next up; this is the one that stays\n`,
    );
  }
  return live;
}

/** Properties as they are shown; those that begin with two underscores are the provider's own. */
const visible = (properties: PropertyMap, showSecrets: boolean): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => !name.startsWith("__"))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, toShown(value, showSecrets)]),
  );

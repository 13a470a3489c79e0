import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text as readStream } from "node:stream/consumers";
import { EngineError, Refusal, replaceKeeping, Workspace } from "../../../engine/index.ts";
import { formatCount } from "../../../provider/messages/text.ts";
import type { ProviderKind } from "../../../provider/pulumi/configuration/configuration.ts";
import { moveState, Unmovable } from "./moving.ts";

export interface ProviderKindOptions {
  cwd?: string;
  stack?: string;
  file?: string;
}

const ways: Readonly<Record<ProviderKind, string>> = { plugin: "through the plugin", dynamic: "as dynamic resources" };

/** Moves the state of a stack, or an export of one, to the other kind of provider. */
export async function changeProviderKind(
  providerKind: ProviderKind,
  { cwd = ".", stack, file }: ProviderKindOptions,
): Promise<void> {
  if (file === undefined) return changeStack(providerKind, cwd, stack);
  if (file === "-") {
    process.stdout.write(moved(providerKind, await readStream(process.stdin), "the export"));
    return;
  }
  const path = resolve(cwd, file);
  let before: string;
  try {
    before = readFileSync(path, "utf8");
  } catch (error) {
    throw new EngineError(`could not read ${file}: ${(error as Error).message}`);
  }
  const after = moved(providerKind, before, file);
  if (after !== before) replaceKeeping(path, before, after);
}

async function changeStack(providerKind: ProviderKind, cwd: string, stack: string | undefined): Promise<void> {
  let workspace: Workspace;
  try {
    workspace = await Workspace.open({ cwd: resolve(cwd), environment: process.env });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new EngineError(
      `${error.message}; for this command: pulumi stack export --file state.json, ` +
        `microapps state provider-kind ${providerKind} --file state.json, pulumi stack import --file state.json`,
    );
  }
  const name = await workspace.chosenStack(stack);
  await workspace.rewrite(name, (text) => moved(providerKind, text, `the stack '${name}'`));
}

/** The text after the change, and a sentence about it for the person. */
function moved(providerKind: ProviderKind, text: string, what: string): string {
  try {
    const { text: after, resources, hasOwn } = moveState(providerKind, text);
    const done = `${what}: ${formatCount(resources, "resource")} moved; ${next(providerKind)}`;
    const nothing = hasOwn
      ? `${what} is ${ways[providerKind]} already`
      : `${what} has no resources of pulumi-microapps`;
    process.stderr.write(`${resources > 0 ? done : `${nothing}: nothing was changed`}\n`);
    return after;
  } catch (error) {
    if (!(error instanceof Unmovable)) throw error;
    throw new EngineError(`${what} was left as it is: ${error.message}`);
  }
}

const next = (providerKind: ProviderKind): string =>
  providerKind === "plugin"
    ? "a Node program goes on with microapps:providerKind set to plugin, one in another language as it is"
    : "a Node program goes on with microapps:providerKind unset, or set to dynamic";

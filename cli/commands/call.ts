import { text as readStream } from "node:stream/consumers";
import { EngineError, oneLine, printableJson } from "../../engine/index.ts";
import { messageOf } from "../../machine/failures.ts";
import { type EndpointName, endpoints } from "../../platform/contract/endpoints.ts";
import { connect } from "../../provider/pulumi/platform.ts";
import { maskOf } from "../../provider/pulumi/properties.ts";
import { settingsOf } from "./platform.ts";

export interface CallFlags {
  cwd?: string;
  stack?: string;
}

/** Calls an endpoint and prints its answer; without a name lists all endpoints. */
export async function call(name: string | undefined, text: string, flags: CallFlags): Promise<void> {
  if (name === undefined) {
    for (const [each, { path: address, effect }] of Object.entries(endpoints)) {
      process.stdout.write(`${each.padEnd(32)} ${effect.padEnd(11)} ${address}\n`);
    }
    return;
  }
  if (!isEndpoint(name)) throw new EngineError(`there is no endpoint '${name}': 'microapps api' lists them`);
  const request = parsed(text === "-" ? await readStream(process.stdin) : text);
  const { settings, folder } = await settingsOf(flags);
  const platform = await connect(settings, folder);
  try {
    // The call itself checks the request against the contract, before anything is sent.
    const answer = await platform.client[name](request as never);
    process.stdout.write(`${printableJson(answer, 2)}\n`);
  } catch (error) {
    throw new EngineError(maskOf(settings).hide(messageOf(error)));
  } finally {
    await platform.close();
  }
}

const isEndpoint = (name: string): name is EndpointName => Object.hasOwn(endpoints, name);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EngineError(`the request is not JSON: ${oneLine(messageOf(error))}`);
  }
}

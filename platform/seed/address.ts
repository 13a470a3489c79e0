import { resolve } from "node:path";

/** Files of an emulator, as an endpoint names them. */
interface EmulatorEndpoint {
  /** Its data file, or `:memory:`. */
  data: string;
  seed?: string;
}

const form = "emulator:<file>?seed=<platform.yaml>";

/**
 * Parses `emulator:<file>?seed=<platform.yaml>`; throws when it has another form. The file `:memory:` keeps the data in
 * memory. Resolves relative paths from the directory.
 */
export function parseEmulatorEndpoint(endpoint: string, directory = "."): EmulatorEndpoint {
  const [, file = "", query = ""] = /^emulator:([^?]*)\??(.*)$/s.exec(endpoint) ?? [];
  if (file === "") throw new Error(`the endpoint names no data file: the form is ${form}, or emulator::memory:`);
  const parameters = new Map<string, string>();
  for (const part of query.split("&").filter((part) => part !== "")) {
    const [name = "", value = ""] = part.split(/=(.*)/s);
    if (name !== "seed") throw new Error(`the endpoint has an unknown parameter: the form is ${form}`);
    if (value === "") throw new Error(`the endpoint names no seed: the form is ${form}`);
    parameters.set(name, decoded(value));
  }
  const data = decoded(file);
  const seed = parameters.get("seed");
  return {
    data: data === ":memory:" ? data : resolve(directory, data),
    ...(seed === undefined ? {} : { seed: resolve(directory, seed) }),
  };
}

/** Paths may be written as in addresses (%20 for a space). */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`the endpoint has a % that begins no code: write %25 for it`);
  }
}

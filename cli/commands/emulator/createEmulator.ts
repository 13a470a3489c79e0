import { dirname } from "node:path";
import { z } from "zod";
import {
  createEmulator as create,
  type Emulator,
  type EmulatorOptions,
  SeedError,
  type SeedFiles,
} from "../../../emulator/index.ts";
import { parseEmulatorEndpoint, seed, type Seed } from "../../../platform/seed/schema.ts";
import { find } from "../../../provider/layers/document.ts";
import {
  checkContent,
  FileError,
  makePlainGrammar,
  parseLayers,
  readProfile,
  textOf,
} from "../../../provider/layers/layers.ts";

/**
 * Starts an emulator on this machine. Rejects with a SeedError for a wrong seed or profile, which has a line for each
 * mistake, with file, line and column of those in files.
 */
export const createEmulator = (options: EmulatorOptions = {}): Promise<Emulator> => create(options, seedFiles);

/** Starts the emulator of an endpoint for a program in this folder; the process may end while it is open. */
export const startAt = (endpoint: string, directory: string): Promise<Emulator> =>
  createEmulator({ ...parseEmulatorEndpoint(endpoint, directory), program: directory, unref: true });

/** Grammar of a seed file. In an Environment file only `platform` counts. */
const grammar = makePlainGrammar(z.object({ ...seed.shape, platform: seed }));

/**
 * Reads a seed from a YAML file. `directory` is the folder of the program that names the file, which must lie in that
 * program's repository. Throws a SeedError, with file, line and column of each mistake.
 */
export const readSeed = (file: string, directory = dirname(file)): Seed =>
  refused(() => parsed(textOf(file, "seed", directory), file, directory));

/** Files of seeds and profiles, for an emulator. */
export const seedFiles: SeedFiles = {
  seed: readSeed,
  profile: (file, directory) => refused(() => readProfile(file, directory)),
};

/** Parses a seed from YAML; `name` is the file's path, from which `extends` is resolved. */
export const parseSeed = (yaml: string, name: string, directory = dirname(name)): Seed =>
  refused(() => parsed(yaml, name, directory));

function refused<Content>(read: () => Content): Content {
  try {
    return read();
  } catch (error) {
    throw error instanceof FileError ? new SeedError(error.message) : error;
  }
}

function parsed(yaml: string, name: string, directory: string): Seed {
  const { value, content, at } = parseLayers(yaml, name, directory, grammar);
  // An Environment file has a seed under `platform`, beside what its program declares.
  const platform = value && find(value, ["platform"])?.value;
  if (platform) return checkContent(seed, (content as Record<string, unknown>)["platform"] ?? {}, at, ["platform"]);
  const declares = (key: string): boolean => {
    const found = value && find(value, [key])?.value;
    return found !== undefined && !(key === "organizations" && found.kind === "list");
  };
  const declared = ["organizations", "seeds", "apps"].find(declares);
  if (value?.kind !== "map" || declared === undefined) return checkContent(seed, content, at);
  throw new FileError([
    `${at([declared])}: an Environment file is a seed by its platform, and it has none: add platform`,
  ]);
}

import { dirname } from "node:path";
import { z } from "zod";
import type { FieldType } from "../../platform/contract/fields.ts";
import { checkContent, FileError, parseLayers, textOf } from "../../provider/layers/checkedFile.ts";
import { find } from "../../provider/layers/document.ts";
import { makePlainGrammar } from "../../provider/layers/grammar.ts";
import { seed, type Seed, type SeedInput } from "./schema.ts";

/** A wrong seed. `message` has one line for each mistake, with file, line and column where they are known. */
export class SeedError extends FileError {
  override readonly name = "SeedError";
}

/** Grammar of a seed file. In an Environment file only `platform` counts. */
const grammar = makePlainGrammar(z.object({ ...seed.shape, platform: seed }));

/**
 * Reads a seed from a YAML file, or validates one that is an object. `directory` is the folder of the program that
 * names the file, which must lie in that program's repository; without it any file will do.
 */
export function readSeed(source: string | SeedInput | undefined, directory?: string): Seed {
  return refused(() => {
    if (typeof source !== "string") return checkContent(seed, source ?? {}, () => "seed");
    const from = directory ?? dirname(source);
    return parsed(textOf(source, "seed", from), source, from);
  });
}

/** Parses a seed from YAML; `name` is the file's path, from which `extends` is resolved. */
export const parseSeed = (yaml: string, name: string, directory = dirname(name)): Seed =>
  refused(() => parsed(yaml, name, directory));

function refused(read: () => Seed): Seed {
  try {
    return read();
  } catch (error) {
    throw error instanceof FileError ? new SeedError([error.message]) : error;
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

/** Types of a table's fields by label. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

/** Field types by table ID, of the tables that have any; none where the platform takes values of other types as well. */
export function fieldTypesOf({ settings, tables }: Pick<Seed, "settings" | "tables">): Record<string, FieldTypes> {
  if (!settings.strict) return {};
  const typed = Object.entries(tables).flatMap(([key, { id = key, fields }]) => {
    const types = Object.entries(fields).map(([label, { type }]) => [label, type] as const);
    return types.length === 0 ? [] : [[id, Object.fromEntries(types)] as const];
  });
  return Object.fromEntries(typed);
}

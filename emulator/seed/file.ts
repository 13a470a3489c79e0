import { dirname } from "node:path";
import type { z } from "zod";
import { readLayers, SeedError, textOf, type Layered } from "../../provider/layers/seedLayers.ts";
import { mostTold } from "../../provider/messages/reportedError.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import { seed, type Seed, type SeedInput } from "./schema.ts";

/**
 * Reads a seed from a YAML file, or validates one that is an object. `directory` is the folder of the program that
 * names the file, which must lie in that program's repository; without it any file will do.
 */
export function readSeed(source: string | SeedInput | undefined, directory?: string): Seed {
  if (typeof source !== "string") return parseContent({ content: source ?? {}, place: () => "seed" });
  const refuse = (reason: string): never => {
    throw new SeedError([`the seed ${reason}`]);
  };
  const from = directory ?? dirname(source);
  return parseSeed(textOf(source, refuse, from), source, from);
}

/** Parses a seed from YAML; `name` is the file's path, from which `extends` is resolved. */
export function parseSeed(yaml: string, name: string, directory = dirname(name)): Seed {
  const layers = readLayers(yaml, name, directory);
  const { content } = layers;
  if (typeof content !== "object" || content === null) return parseContent(layers);
  // An Environment file has a seed under `platform`, beside what its program declares.
  if ("platform" in content) return parseContent({ ...layers, content: content.platform ?? {} }, ["platform"]);
  const declared = ["organizations", "seeds", "apps"].find((key) => Object.hasOwn(content, key));
  if (declared === undefined) return parseContent(layers);
  throw new SeedError([
    `${layers.place([declared])}: an Environment file is a seed by its platform, and it has none: add platform`,
  ]);
}

function parseContent({ content, place }: Layered, above: PropertyKey[] = []): Seed {
  const result = seed.safeParse(content, sentences);
  if (result.success) return result.data;
  throw new SeedError(
    result.error.issues
      .flatMap((issue) => mistakes(issue))
      .map(({ path, what }, index) => {
        if (index >= mostTold) return what; // only counted: finding its place costs time
        const whole = [...above, ...path];
        const name = whole.map(String).join(".");
        return `${place(whole)}: ${name === "" ? what : `${name}: ${what}`}`;
      }),
  );
}

function mistakes(issue: z.core.$ZodIssue): { path: PropertyKey[]; what: string }[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...issue.path, key], what: "is not known here" }));
  }
  if (issue.code === "invalid_key") return [{ path: issue.path, what: issue.issues[0]?.message ?? issue.message }];
  return [{ path: issue.path, what: issue.message }];
}

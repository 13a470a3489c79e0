import { dirname, isAbsolute, relative, resolve } from "node:path";
import { z } from "zod";
import { absent, maxMegabytesOfLayer, textOrReason } from "../../provider/files/files.ts";
import { find, keyPlace, plain, type Place, type Problem, type Value } from "../../provider/layers/document.ts";
import { plainGrammar } from "../../provider/layers/grammar.ts";
import { loadLayers, mergedLayers } from "../../provider/layers/layers.ts";
import { placed } from "../../provider/layers/verbs.ts";
import { firstLines, maxReported } from "../../provider/messages/firstLines.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import { seed, type Seed, type SeedInput } from "./schema.ts";

/** A wrong seed. `message` has one line for each mistake, with file, line and column where they are known. */
export class SeedError extends Error {
  constructor(mistakes: string[]) {
    super(firstLines(mistakes).join("\n"));
    this.name = "SeedError";
  }
}

/** Grammar of a seed file. In an Environment file only `platform` counts. */
const grammar = plainGrammar(z.object({ ...seed.shape, platform: seed }));

/**
 * Reads a seed from a YAML file, or validates one that is an object. `directory` is the folder of the program that
 * names the file, which must lie in that program's repository; without it any file will do.
 */
export function readSeed(source: string | SeedInput | undefined, directory?: string): Seed {
  if (typeof source !== "string") return parseContent(source ?? {}, () => "seed");
  const from = directory ?? dirname(source);
  const found = textOrReason(from, resolve(source), maxMegabytesOfLayer);
  if ("text" in found) return parseSeed(found.text, source, from);
  const advice = found.reason === absent ? "; correct its path" : "";
  throw new SeedError([`the seed ${source} can't be read: ${found.reason}${advice}`]);
}

/** Parses a seed from YAML; `name` is the file's path, from which `extends` is resolved. */
export function parseSeed(yaml: string, name: string, directory = dirname(name)): Seed {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const nameOf = (path: string): string => (isAbsolute(name) ? path : relative("", path));
  const layers = loadLayers(resolve(name), { folder: directory, nameOf, grammar, text: yaml }, report);
  const { value } = mergedLayers(layers, report);
  if (problems.length > 0) throw new SeedError(problems.map(({ at, message }) => `${placed(at)}: ${message}`));
  if (!value || value.kind === "scalar") return parseContent((value && plain(value)) ?? {}, () => `${name}:1:1`);
  const at = (path: PropertyKey[]): string => placed(nearest(value, path));
  // An Environment file has a seed under `platform`, beside what its program declares.
  const platform = find(value, ["platform"])?.value;
  if (platform) return parseContent(plain(platform) ?? {}, at, ["platform"]);
  const declares = (key: string): boolean => {
    const found = find(value, [key])?.value;
    return found !== undefined && !(key === "organizations" && found.kind === "list");
  };
  const declared = ["organizations", "seeds", "apps"].find(declares);
  if (value.kind !== "map" || declared === undefined) return parseContent(plain(value), at);
  throw new SeedError([
    `${at([declared])}: an Environment file is a seed by its platform, and it has none: add platform`,
  ]);
}

/** Where the value at a path begins, or that of the nearest thing around it. */
const nearest = (root: Value, path: readonly PropertyKey[]): Place =>
  path.length === 0 ? keyPlace(root, path) : (find(root, path)?.value.at ?? nearest(root, path.slice(0, -1)));

function parseContent(content: unknown, place: (path: PropertyKey[]) => string, above: PropertyKey[] = []): Seed {
  const lost = lostKey(content);
  if (lost) throw new SeedError([`${place(lost)}: ${lost.join(".")}: a key can't have this name`]);
  const result = seed.safeParse(content, sentences);
  if (result.success) return result.data;
  throw new SeedError(
    result.error.issues
      .flatMap((issue) => mistakes(issue))
      .map(({ path, what }, index) => {
        if (index >= maxReported) return what; // it is only counted, and a place takes its time to find
        const whole = [...above, ...path];
        const name = whole.map(String).join(".");
        return `${place(whole)}: ${name === "" ? what : `${name}: ${what}`}`;
      }),
  );
}

/** Path of a key that objects of JavaScript lose; files are refused for it when they are read. */
function lostKey(content: unknown): string[] | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  for (const [key, value] of Object.entries(content)) {
    const below = key === "__proto__" ? [] : lostKey(value);
    if (below) return [key, ...below];
  }
  return undefined;
}

function mistakes(issue: z.core.$ZodIssue): { path: PropertyKey[]; what: string }[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...issue.path, key], what: "is not known here" }));
  }
  if (issue.code === "invalid_key") return [{ path: issue.path, what: issue.issues[0]?.message ?? issue.message }];
  return [{ path: issue.path, what: issue.message }];
}

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { z } from "zod";
import { packageFolder } from "../../machine/ownPackage.ts";
import { mistakes } from "../layers/checkedFile.ts";
import { find, keyPlace, parse, toPlainValue, type Place, type Problem, type Value } from "../layers/document.ts";
import { describePlace } from "../layers/verbs.ts";
import { sentences } from "../messages/sentences.ts";
import { factsFile, type Fact } from "./fact.ts";

/** Facts that can't be read. `message` has one line for each mistake, with file, line and column. */
export class FactsError extends Error {
  constructor(problems: readonly Problem[]) {
    super(problems.map(({ at, message }) => `${describePlace(at)}: ${message}`).join("\n"));
    this.name = "FactsError";
  }
}

/** Where the package has its facts: a file for each family of endpoints. */
export const factsFolder = join(packageFolder, "provider/conformance/facts");

let loaded: readonly Fact[] | undefined;

/** The facts that the package knows of the interface, in the order of their files; read once in a process. */
export function loadFacts(): readonly Fact[] {
  const files = (): string[] => readdirSync(factsFolder).filter((name) => name.endsWith(".yaml"));
  return (loaded ??= files()
    .toSorted()
    .flatMap((name) => parseFacts(readFileSync(join(factsFolder, name), "utf8"), name)));
}

/** The facts of a file's text; `name` is what mistakes call the file. Throws a FactsError. */
export function parseFacts(text: string, name: string): Fact[] {
  const problems: Problem[] = [];
  const root = parse(text, name, (problem) => problems.push(problem));
  if (!root) throw new FactsError(problems);
  const result = factsFile.safeParse(toPlainValue(root), sentences);
  if (!result.success) throw new FactsError(result.error.issues.flatMap((issue) => problemsOf(root, issue)));
  const { beginnings, facts } = result.data;
  return Object.entries(facts).map(([id, { after, steps, ...rest }]) => ({
    id,
    section: basename(name, ".yaml"),
    ...rest,
    steps: [...(after === undefined ? [] : (beginnings[after] ?? [])), ...steps],
  }));
}

function problemsOf(root: Value, issue: z.core.$ZodIssue): Problem[] {
  return mistakes(issue).map(({ path, what }) => {
    const name = path.map(String).join(".");
    return { at: nearestPlace(root, path), message: name === "" ? what : `${name}: ${what}` };
  });
}

/** Where the value at a path stands, or the nearest thing around it. */
const nearestPlace = (root: Value, path: readonly PropertyKey[]): Place =>
  find(root, path)?.at ?? keyPlace(root, path.slice(0, -1));

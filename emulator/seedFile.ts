import { readFileSync } from "node:fs";
import { isNode, LineCounter, parseDocument, type Document } from "yaml";
import type { z } from "zod";
import { seed, type Seed, type SeedInput } from "./seed.ts";

/** A seed that can't be taken; `message` has one line for each mistake, with file, line and column where they are known. */
export class SeedError extends Error {
  constructor(mistakes: string[]) {
    super(mistakes.join("\n"));
    this.name = "SeedError";
  }
}

/** Reads a seed from a YAML file, or judges one that is an object already. */
export function readSeed(source: string | SeedInput | undefined): Seed {
  return typeof source === "string" ? parseSeed(text(source), source) : judged(source ?? {}, () => "seed");
}

/** Takes a seed out of YAML; `name` is how errors call it. */
export function parseSeed(yaml: string, name: string): Seed {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  if (document.errors.length > 0) {
    throw new SeedError(
      document.errors.map((error) => `${place(error.pos[0])}: ${error.message.split(" at line ")[0] ?? error.message}`),
    );
  }
  return judged(document.toJS() ?? {}, (path) => place(offsetOf(document, path)));
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const reason = missing
      ? "there is no such file; correct its path"
      : error instanceof Error
        ? error.message
        : String(error);
    throw new SeedError([`the seed ${file} can't be read: ${reason}`]);
  }
}

function judged(value: unknown, place: (path: PropertyKey[]) => string): Seed {
  const result = seed.safeParse(value);
  if (result.success) return result.data;
  throw new SeedError(
    result.error.issues
      .flatMap((issue) => mistakes(issue))
      .map(({ path, what }) => {
        const name = path.map(String).join(".");
        return `${place(path)}: ${name === "" ? what : `${name}: ${what}`}`;
      }),
  );
}

function mistakes(issue: z.core.$ZodIssue): { path: PropertyKey[]; what: string }[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...issue.path, key], what: "is not known here" }));
  }
  if (issue.code === "invalid_key") return [{ path: issue.path, what: issue.issues[0]?.message ?? issue.message }];
  const missing = issue.code === "invalid_type" && issue.input === undefined && issue.message.includes("undefined");
  return [{ path: issue.path, what: missing ? "is required" : issue.message }];
}

/** Where the value at a path begins, or the nearest thing around it that is there. */
function offsetOf(document: Document, path: PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** The cases of a table, which stand in a YAML file of this repository: one on a line, without code around it. */
export const casesIn = (file: string): unknown =>
  parse(readFileSync(join(import.meta.dirname, "../../..", file), "utf8"), { merge: true });

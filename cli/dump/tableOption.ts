import { DumpError } from "./dumpError.ts";

/** A table that is dumped. */
export interface TableOption {
  /** Data table ID (microAppID). */
  table: string;
  /** Labels of the natural key. */
  key: string[];
  /** Logical name of the seed. */
  seed: string;
  /** Its parent rows as a state knows them; null where it knows that there are none. */
  parent?: { table: string; by: string } | null;
  /** File of the rows below the folder of the dump, with `/`. */
  file: string;
}

/** Reads `<table>:<label>[+<label>…][:<file>]`; the file is called by the table when it is not given. */
export function tableOption(text: string): TableOption {
  const [table = "", labels = "", file, ...rest] = text.split(":");
  const key = labels.split("+");
  if (table === "" || key.includes("") || file === "" || rest.length > 0) {
    throw new DumpError(
      `--table ${text} must have the form <table ID>:<label>[+<label>…][:<file>], as in countries:Code or offices:City+Name:offices.csv`,
    );
  }
  const seed = (file ?? table).replace(/^.*\//, "").replace(/\.\w+$/, "");
  if (!/^[A-Za-z0-9][\w.-]*$/.test(seed)) {
    throw new DumpError(
      `--table ${text}: a seed can't be called "${seed}": name a file of letters, digits, _, . and - after the key`,
    );
  }
  const path = file ?? `${seed}.csv`;
  if (!/\.(csv|ndjson)$/.test(path) || path.startsWith("/") || path.split("/").includes("..")) {
    throw new DumpError(`--table ${text}: the file must lie in the folder of the dump and end in .csv or .ndjson`);
  }
  return { table, key, seed, file: path.includes("/") ? path : `data/${path}` };
}

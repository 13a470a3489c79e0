import path from "node:path";
import { z } from "zod";
import type { GlobalOptions } from "../../../engine/cli/globals.ts";
import { EngineError } from "../../../engine/index.ts";
import type { Fact } from "../../../provider/conformance/fact.ts";
import { FactsError, parseFacts } from "../../../provider/conformance/load.ts";
import { FileError, readChecked, textOf } from "../../../provider/layers/checkedFile.ts";
import { millisecondsIn } from "./interruption.ts";
import { sandboxTableNames, fieldsOf, tablesIn, type SandboxTable } from "./sandbox/tables.ts";

/** Flags of the command. */
export interface VerifyOptions extends GlobalOptions {
  sandbox?: boolean | undefined;
  in?: string;
  new?: boolean;
  table: string[];
  sandboxFile?: string | undefined;
  printSandbox?: boolean | undefined;
  address: string;
  apps?: boolean;
  app?: string;
  file?: string;
  rows: string;
  timeout: string;
  facts: string[];
  profile?: string;
  writeProfile?: string;
  force?: boolean;
  clean?: boolean;
  json?: boolean;
}

/** A person in the sandbox who may be asked to help. */
interface Helper {
  email: string;
  password: string;
}

/** The sandbox's parts, as far as flags name them. */
export interface SandboxNames {
  /** Undefined where an organization is made. */
  organizationID: string | undefined;
  tables: Partial<Record<SandboxTable, string>>;
  /** IDs of fields by label, by table. */
  fields: Readonly<Record<string, Readonly<Record<string, string>>>>;
  helpers: readonly Helper[];
}

/** A refusal before anything was tried. */
export const wrongly = (text: string): EngineError => new EngineError(text, 2);

/** A failure about the form of a request that nothing works without, with the resources that this platform lacks. */
export const unfit = (resources: string, text: string): EngineError =>
  new EngineError(`nothing else was tried: ${resources} can't work on this platform: ${text}`, 3);

/** Refuses flags that nothing may be sent with. */
export function checkFlags(options: VerifyOptions): void {
  if (options.sandbox !== true) {
    throw wrongly(
      "nothing was sent: verify makes and removes things, so it works only in an organization and in tables that are for tests: say so with --sandbox",
    );
  }
  if (millisecondsIn(options.timeout) === undefined)
    throw wrongly(`--timeout ${options.timeout} is no time such as 90s, 30m or 2h, of at most 24 hours`);
  if (options.clean === true) return;
  if ((options.in === undefined) === (options.new !== true)) {
    throw wrongly("nothing was sent: say either --in <organizationID>, or --new for an organization of the run's own");
  }
  if (!/^[^\s@*]*\*[^\s@*]*@[^\s@*]+$/.test(options.address)) {
    throw wrongly(`--address ${options.address} must be an address with one * before the @, as in test+*@example.com`);
  }
  if (options.file !== undefined && !/^https?:$/.test(URL.parse(options.file)?.protocol ?? "")) {
    throw wrongly("--file must be an http(s) address");
  }
  if (!/^\d{1,5}$/.test(options.rows)) throw wrongly(`--rows ${options.rows} must be a number up to 99999`);
}

const field = z.union([z.string().transform(() => undefined), z.looseObject({ id: z.string().optional() })]);

/** As the seed of an emulator. */
const sandboxFile = z.looseObject({
  users: z.array(z.looseObject({ email: z.string(), password: z.string().optional() })).default([]),
  tables: z
    .record(z.string(), z.looseObject({ id: z.string().optional(), fields: z.record(z.string(), field).default({}) }))
    .default({}),
});

/** The sandbox that the flags name. Refuses one without tables. */
export function toSandboxNames(options: VerifyOptions): SandboxNames {
  const { sandboxFile: name, cwd = "." } = options;
  const file =
    name === undefined ? undefined : readOrRefuse(() => readChecked(sandboxFile, path.resolve(cwd, name), "sandbox"));
  const inFile = Object.entries(file?.tables ?? {}).map(([label, { id }]) => `${label}:${id ?? label}`);
  const named = tablesIn(options.table);
  const tables = {
    ...tablesIn(inFile.filter((each) => sandboxTableNames.some((name) => each.startsWith(`${name}:`)))),
    ...named,
  };
  if (Object.keys(tables).length === 0) {
    throw wrongly(
      `nothing was sent: no call makes a table, so the operator of the platform makes those of a sandbox, and --table <label>:<table ID> names each: ${sandboxTableNames.map(fieldsOf).join("; ")}`,
    );
  }
  const fields = Object.entries(file?.tables ?? {}).map(([label, table]) => {
    const ids = Object.entries(table.fields).flatMap(([name, each]) =>
      each?.id === undefined ? [] : [[name, each.id]],
    );
    return [label, Object.fromEntries(ids) as Record<string, string>] as const;
  });
  const helpers = (file?.users ?? []).flatMap(({ email, password }) =>
    password === undefined ? [] : [{ email, password }],
  );
  return { organizationID: options.in, tables, fields: Object.fromEntries(fields), helpers };
}

/** Reads named files; a mistake is reported before anything is sent. */
export function readOrRefuse<Content>(read: () => Content): Content {
  try {
    return read();
  } catch (error) {
    if (error instanceof FileError || error instanceof FactsError) throw wrongly(error.message);
    throw error;
  }
}

/** The facts of files that are named. */
export const factsOf = ({ facts, cwd = "." }: VerifyOptions): Fact[] =>
  facts.flatMap((name) => {
    const file = path.resolve(cwd, name);
    return readOrRefuse(() => parseFacts(textOf(file, "file of facts", path.dirname(file)), name));
  });

import { afterEach, beforeEach } from "@jest/globals";
import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { runCommand } from "../harness/commands.ts";
import { environmentOf, freshFolder, type Ended } from "../harness/project.ts";

export const administrator = { email: "admin@example.com", password: "correct-horse" };
export const secret = "0123456789abcdef0123456789abcdef";
const linked = (table: string, field: string) => ({ type: "linked", table, field }) as const;
const tables = {
  t1customers: {
    name: "Customers",
    fields: {
      Email: "text",
      Name: "text",
      Phone: "text",
      Born: "date",
      Joined: "date",
      Plan: "text",
      Note: "text",
      Score: "number",
      Friend: linked("t1customers", "Email"),
    },
  },
  t2orders: {
    name: "Orders",
    fields: {
      Number: "text",
      Customer: linked("t1customers", "Email"),
      Placed: "date",
      Contact: "text",
      Main: linked("t3lines", "Line"),
    },
  },
  t3lines: { name: "Lines", parent: "t2orders", fields: { Line: "text", Item: "text" } },
} as const;

/** Platform and folder of a case. */
export interface MaskedPlatform {
  folder: string;
  source: Emulator;
  client: Client;
  /** Variables of the command beside those of the platform. */
  variables: Record<string, string>;
}

/** A platform of customers, orders and their lines, another one for each case. */
export const here = {} as MaskedPlatform; // filled before each case

/** Registers the hooks that open and close the platform of each case. */
export function openPlatforms(): void {
  beforeEach(open);
  afterEach(close);
}

async function open(): Promise<void> {
  const source = await createEmulator({ seed: { administrator, tables, settings: { strict: false } } });
  const client = createClient({ endpoint: source.url, ...administrator });
  drawn = 0;
  Object.assign(here, { folder: await freshFolder(), source, client, variables: { MICROAPPS_MASK_SECRET: secret } });
}

async function close(): Promise<void> {
  await here.client.close();
  await here.source.close();
  await rm(here.folder, { recursive: true, force: true });
}

/** Runs dump. */
export const run = (...words: string[]): Promise<Ended> =>
  runCommand({
    words: ["dump", ...words],
    folder: here.folder,
    environment: environmentOf({
      MICROAPPS_ENDPOINT: here.source.url,
      MICROAPPS_EMAIL: administrator.email,
      MICROAPPS_PASSWORD: administrator.password,
      ...here.variables,
    }),
  });

export const insert = async (
  microAppID: string,
  rowData: Record<string, unknown>,
  embeddingRowID?: string,
): Promise<string> =>
  (await here.client.insertmicroapprow({ microAppID, rowData, ...(embeddingRowID ? { embeddingRowID } : {}) })).rowID;
export const linkTo = (rowID: string) => ({
  crossAppRowID: rowID,
  value: { label: "Email", value: "copied@in-clear.example" },
});
let drawn = 0;
/** Letters that occur nowhere else, the same ones in each run. */
const letters = (count: number): string =>
  Array.from(createHash("sha256").update(String(drawn++)).digest().subarray(0, count), (byte) =>
    "abcdefghijklmnopqrstuvwxyz".charAt(byte % 26),
  ).join("");
const word = (): string => letters(1).toUpperCase() + letters(8);

interface Person {
  email: string;
  name: string;
  phone: string;
  born: string;
  note: string;
  id: string;
}

/** People with an order and two lines each. */
export async function fill(count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let index = 0; index < count; index++) {
    const email = `${letters(7)}@${letters(6)}.example`;
    const one = {
      email,
      name: `${word()} ${word()}`,
      phone: `+49 170 ${String(1_000_000 + index * 7919)}`,
      born: `19${50 + index}-03-0${1 + (index % 9)}`,
      note: letters(20),
    };
    const values = {
      Email: email,
      Name: one.name,
      Phone: one.phone,
      Born: one.born,
      Joined: `2021-06-1${index % 10}T08:09:10Z`,
      Plan: index % 2 ? "gold" : "tin",
      Note: one.note,
      Score: index,
    };
    const id = await insert("t1customers", values);
    people.push({ ...one, id });
    const order = await insert("t2orders", {
      Number: `ORD-${1000 + index}`,
      Customer: linkTo(id),
      Placed: `2022-01-0${1 + (index % 9)}`,
      Contact: email.toUpperCase(),
    });
    for (const line of ["a", "b"]) await insert("t3lines", { Line: `${index}${line}`, Item: "chair" }, order);
  }
  return people;
}

export const rules = `labels:
  Email: address
  Name: name
  Phone: digits
  Born: date
  Joined: date
  Note: drop
  Plan: keep
  Score: keep
  Contact: address
tables:
  t2orders:
    Number: digits
    Placed: { date: { by: Customer } }
  t3lines: { Line: keep, Item: { constant: thing } }
`;
export const all = [
  "--table",
  "t1customers:Email:people.csv",
  "--table",
  "t2orders:Number:orders.ndjson",
  "--table",
  "t3lines:Line:lines.csv",
];

export const masks = (text: string): Promise<void> => writeFile(join(here.folder, "masks.yaml"), text);

/** Everything below the here.folder, by path. */
export async function everything(where: string): Promise<Record<string, string>> {
  const files = await readdir(join(here.folder, where), { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map(
      async ({ parentPath, name }) => [join(parentPath, name), await readFile(join(parentPath, name), "utf8")] as const,
    );
  return Object.fromEntries(await Promise.all(texts));
}

export type Rows = Record<string, unknown>[];

export async function rowsOf(file: string, types = {}): Promise<Rows> {
  const rows: Rows = [];
  for await (const block of read({ source: file, types }, here.folder)) rows.push(...block.map(({ values }) => values));
  return rows;
}

/** Flags of the table of customers alone, and its rules. */
export const people = ["--table", "t1customers:Email"];
export const customerRules = rules.split("tables:")[0]?.replace("  Contact: address\n", "") ?? "";

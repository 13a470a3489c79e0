import { stringify } from "yaml";
import { EngineError } from "../../../../engine/index.ts";

// A sandbox has tables of its own. No endpoint makes them: the operator of a platform does, and a seed of an emulator.

/** Label of the field in each table that holds the run of a row. */
export const markLabel = "Run";

const mark = { [markLabel]: "text" } as const;

/** The tables, by the label that `--table` gives them. */
export const sandboxTables = {
  currencies: { fields: { Code: { type: "text", sort: 1 }, Digits: "number", ...mark } },
  countries: {
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      Population: { type: "number", sort: 2 },
      Founded: { type: "date", sort: 3 },
      Tags: { type: "checkbox", sort: 4 },
      Currency: { type: "linked", table: "currencies", field: "Code" },
      Capital: "location",
      Readers: "viewers",
      ReadingTeams: "teamViewers",
      Flag: "file",
      ...mark,
    },
  },
  cities: { parent: "countries", fields: { Name: { type: "text", sort: 1 }, ...mark } },
} as const;

export type SandboxTable = keyof typeof sandboxTables;
export const sandboxTableNames = Object.keys(sandboxTables) as SandboxTable[]; // keys of a const object

/** A seed of an emulator with the sandbox, beside people who may be asked to help. */
export const makeSandboxSeed = (): string =>
  `# The sandbox of 'microapps verify', for 'microapps emulator --seed'. It has no secret that guards anything.\n${stringify(
    {
      administrator: { email: "admin@example.com", password: "admin", apiKey: "dev-key" },
      users: ["member", "other"].map((name) => ({ email: `${name}@example.com`, password: `${name}-password` })),
      tables: Object.fromEntries(sandboxTableNames.map((name) => [name, withIDs(name)])),
    },
  )}`;

/** A table whose ID, which no program is likely to seed, and whose fields' IDs a person replaces by those of a platform. */
function withIDs(name: SandboxTable): object {
  const table: { fields: Readonly<Record<string, unknown>>; parent?: string } = sandboxTables[name];
  const fields = Object.entries(table.fields).map(([label, field]) => {
    const described = typeof field === "string" ? { type: field } : (field as object); // as declared above
    return [label, { ...described, id: `${name}-${label}` }];
  });
  return { id: `bed-${name}`, ...table, fields: Object.fromEntries(fields) as object };
}

/** The named tables, by label. Refuses a label that no table of a sandbox has. */
export function tablesIn(texts: readonly string[]): Partial<Record<SandboxTable, string>> {
  const found: Partial<Record<SandboxTable, string>> = {};
  for (const text of texts) {
    const at = text.indexOf(":");
    const [label, id] = [text.slice(0, at), text.slice(at + 1)];
    const name = sandboxTableNames.find((each) => each === label);
    if (name === undefined || id === "") {
      throw new EngineError(
        `--table ${text} must have the form <label>:<table ID>, with the label ${sandboxTableNames.join(", ")}`,
        2,
      );
    }
    if (found[name] !== undefined) throw new EngineError(`--table ${name} is there twice`, 2);
    found[name] = id;
  }
  return found;
}

/** Fields that the operator has to make, as a sentence for each table. */
export const fieldsOf = (name: SandboxTable): string => {
  const table: { fields: Readonly<Record<string, unknown>>; parent?: string } = sandboxTables[name];
  const fields = Object.entries(table.fields).map(([label, field]) => `${label} (${typeOf(field)})`);
  const under = table.parent === undefined ? "" : `, as a sub-table of ${table.parent}`;
  return `${name}${under}: ${fields.join(", ")}`;
};

function typeOf(field: unknown): string {
  if (typeof field === "string") return field;
  const { type, sort, table } = field as { type: string; sort?: number; table?: string }; // as declared above
  return [type, table, sort === undefined ? undefined : `sort field ${sort}`].filter(Boolean).join(", ");
}

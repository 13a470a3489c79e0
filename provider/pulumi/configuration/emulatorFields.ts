import type { FieldType } from "../../contract/fields.ts";

type FieldTypes = Readonly<Record<string, FieldType>>;

/** Field types of the tables behind an emulator's endpoint, read once and without starting it. */
export class EmulatorFields {
  readonly #directory: string;
  #tables: Promise<Readonly<Record<string, FieldTypes>>> | undefined;

  /** `directory` is the program's folder. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Types of a table's fields by label; undefined of a table without any, and where the endpoint is no emulator's. */
  async of(endpoint: string, table: string): Promise<FieldTypes | undefined> {
    if (!endpoint.startsWith("emulator:")) return undefined;
    // Loaded when it is needed: an engine waits for a provider to start.
    this.#tables ??= import("../../../emulator/fieldsAt.ts").then(({ fieldTypesAt }) =>
      fieldTypesAt(endpoint, this.#directory),
    );
    return (await this.#tables)[table];
  }
}

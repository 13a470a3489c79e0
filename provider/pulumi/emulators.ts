import type { FieldType } from "../../platform/contract/values.ts";

/** Field types of tables, by table ID and label. */
export type TableFields = Readonly<Record<string, Readonly<Record<string, FieldType>>>>;

/** What an endpoint `emulator:<file>?seed=<platform.yaml>` needs. `directory` is the program's folder. */
export interface Emulators {
  /** Starts the emulator, which lets this process end. `added`: sentences about what its seed has got. */
  start: (endpoint: string, directory: string) => Promise<{ url: string; added: string[]; close: () => Promise<void> }>;
  /** Field types of its tables, without starting it; none where they can't be read. */
  fieldTypes: (endpoint: string, directory: string) => Promise<TableFields>;
}

let handedIn: Emulators | undefined;

/** Hands in what starts emulators: the entries of the package do, so that no resource depends on the emulator. */
export function useEmulators(emulators: Emulators): void {
  handedIn = emulators;
}

export function emulators(): Emulators {
  if (!handedIn) throw new Error("this process starts no emulator: name the address of one that runs");
  return handedIn;
}

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Note, Section, Thing } from "../changeSet.ts";
import { type Declared, readDeclaration } from "../environments.ts";
import { compareDeclarations } from "../section.ts";

/** Files by their names. */
export type Files = Readonly<Record<string, string>>;

/** Folders that tests write declarations into; removed at the end. */
export class Folders {
  readonly #made: string[] = [];

  make(files: Files): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-changes-")));
    this.#made.push(folder);
    mkdirSync(join(folder, ".git"));
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return folder;
  }

  declared(files: Files): Declared {
    const { declared, problems } = readDeclaration("env.yaml", this.make(files));
    if (!declared) throw new Error(JSON.stringify(problems));
    return declared;
  }

  /** How one declaration becomes another. */
  async compare(before: Files, after: Files): Promise<{ section: Section; problems: Note[] }> {
    return compareDeclarations({ base: this.declared(before), head: this.declared(after) });
  }

  /** Changes between two declarations without a mistake. */
  async between(base: Declared, head: Declared): Promise<Section> {
    const { section, problems } = await compareDeclarations({ base, head });
    return problems.length > 0 ? Promise.reject(new Error(JSON.stringify(problems))) : section;
  }

  /** The one thing that changes. */
  async thing(before: Files, after: Files): Promise<Thing> {
    const { section, problems } = await this.compare(before, after);
    const [thing, ...others] = section.things;
    if (!thing || others.length > 0 || problems.length > 0) throw new Error(JSON.stringify({ section, problems }));
    return thing;
  }

  remove(): void {
    for (const folder of this.#made) rmSync(folder, { recursive: true });
  }
}

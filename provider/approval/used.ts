import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whyRefused } from "../../machine/failures.ts";
import { findOwnFolder } from "../../machine/ownFolder.ts";
import { ApprovalError } from "./signature.ts";

/** Notes in this user's folder about the approval of one environment: the run that began with it, and refusals. */
export class Use {
  readonly #file: string | undefined;

  /** @param parts texts that identify an approval */
  constructor(...parts: readonly string[]) {
    const folder = findOwnFolder("state", "approvals", process.env);
    const name = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
    this.#file = folder && join(folder, name);
  }

  /** True when another run has changed something with it. */
  isUsed(run?: string): boolean {
    if (this.#file === undefined || !existsSync(this.#file)) return false;
    return run === undefined || readFileSync(this.#file, "utf8") !== run;
  }

  /**
   * Notes that a run is about to change something; false where another one has. All providers of a run count as one, by
   * the engine's address. Where no folder is this user's alone, nothing can be noted. Throws where it is and the note can't
   * be written.
   */
  begin(run: string): boolean {
    if (this.#file === undefined) return true;
    try {
      writeFileSync(this.#file, run, { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return !this.isUsed(run);
      throw new ApprovalError(
        `the approval was not used: its use can't be noted in ${this.#file}: ${whyRefused(error)}. Mend that, and start again`,
      );
    }
  }

  /** Notes for the command that started the run that something was refused. */
  refuse(): void {
    if (this.#refusals === undefined) return;
    try {
      writeFileSync(this.#refusals, "", { mode: 0o600 });
    } catch {
      // The run ends with a failure all the same.
    }
  }

  /** True when something was refused since the last call. */
  takeRefused(): boolean {
    if (this.#refusals === undefined || !existsSync(this.#refusals)) return false;
    rmSync(this.#refusals, { force: true });
    return true;
  }

  get #refusals(): string | undefined {
    return this.#file && `${this.#file}.refused`;
  }
}

import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../../machine/ownFolder.ts";

/** What this user's folder knows of the approval of one environment: whether a run began with it, and was refused something. */
export class Use {
  readonly #file: string | undefined;

  /** @param parts texts that identify an approval */
  constructor(...parts: readonly string[]) {
    const folder = ownFolder("state", "approvals", process.env);
    const name = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
    this.#file = folder && join(folder, name);
  }

  /** Whether a run other than this one has changed something with it. */
  isUsed(run?: string): boolean {
    if (this.#file === undefined || !existsSync(this.#file)) return false;
    return run === undefined || readFileSync(this.#file, "utf8") !== run;
  }

  /**
   * Notes that a run is about to change something; false where another one has. All providers of a run are one: the engine's
   * address tells. Where no folder is this user's alone, nothing can be noted.
   */
  begin(run: string): boolean {
    if (this.#file === undefined) return true;
    try {
      writeFileSync(this.#file, run, { flag: "wx", mode: 0o600 });
      return true;
    } catch {
      return !this.isUsed(run);
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

  /** Whether something was refused since this was asked last. */
  takeRefused(): boolean {
    if (this.#refusals === undefined || !existsSync(this.#refusals)) return false;
    rmSync(this.#refusals, { force: true });
    return true;
  }

  get #refusals(): string | undefined {
    return this.#file && `${this.#file}.refused`;
  }
}

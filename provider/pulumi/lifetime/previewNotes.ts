import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { appendFileSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isOwn, findOwnFolder } from "../../../machine/ownFolder.ts";
import { ResourceError } from "../../resources/model/resource.ts";
import { sealOf } from "../../resources/records/seals.ts";
import type { Foreseen, RowClaims, RowFindings } from "../../resources/rows/declared/claims.ts";
import type { RowTarget } from "../../resources/rows/declared/target.ts";
import { shapeOf } from "../../resources/rows/declared/terms.ts";
import { ofLeavingNote, toLeavingNote, type LeavingNote } from "./leavingNotes.ts";

/** Milliseconds for which an update goes by what a preview has learnt. */
const maxAgeMs = 3_600_000;
/** Maximum rows of one hand-over that are kept: further ones are found out again. */
const maxRows = 100_000;

/** In place of the digest of what a seed declares that is not known yet. */
const later = "later";

interface Run {
  /** Name of the run: its preview and its update are two. */
  name: string;
  /** Folder of the program. */
  directory: string;
  platform: string;
}

/**
 * A preview's knowledge of a program's seeds, for the update that follows it: an engine registers a seed only when
 * those that it waits for are done, so the update of the first one would remove rows that a later one declares. Kept
 * for an hour, encrypted with this user's key; used while all seeds are declared as the preview saw them. Notes that
 * can't be kept or read count as missing: then a row that moves is removed by one seed and inserted again by the other.
 */
export class PreviewNotes {
  readonly #claims: RowClaims;
  readonly #run: () => Run;
  readonly #now: () => number;
  #place: { folder: string; key: Buffer } | undefined;
  #isUpdate = false;
  /** Digests of what seeds declare, by URN, as the preview saw them. */
  #forms: ReadonlyMap<string, string> | undefined;

  constructor(claims: RowClaims, run: () => Run, now: () => number = Date.now) {
    this.#claims = claims;
    this.#run = run;
    this.#now = now;
  }

  /** A seed was checked: keeps its keys for the update, and lets this run go by the preview before it. */
  checked(urn: string, target: RowTarget): void {
    const { name, directory } = this.#run();
    const shape = shapeOf(target);
    const form = formOf(shape, directory);
    const place = this.#placeOf(urn);
    if (!place) return;
    if (!this.#forms) {
      const found = this.#foreseen(place, name, directory);
      this.#forms = found.forms;
      this.#claims.foresee(found);
    }
    if (this.#forms.size > 0 && ![form, later].includes(this.#forms.get(urn) ?? "")) {
      this.#forms = new Map();
      this.#claims.foresee(nothing);
      const relied = this.#claims.reliedOn(urn);
      if (relied > 0)
        throw new ResourceError(
          `the preview that this update goes by saw other rows here: ${relied} rows of table ${target.table} were left for this ` +
            `seed, and no seed may have them now. Compare the table with what is declared, then run preview and up again.`,
        );
    }
    this.#keep(place, { urn, form, target: shape });
  }

  /** A seed was checked whose rows are known only later: it may have any in the update. */
  unknown(urn: string): void {
    const place = this.#placeOf(urn);
    if (place) this.#keep(place, { urn, form: later });
  }

  /** A seed was compared: keeps which rows leave it. */
  compared(urn: string, leaving: RowFindings["leaving"]): void {
    const place = this.#placeOf(urn);
    const count = leaving.keys.length;
    if (place && count > 0 && count <= maxRows) this.#keep(place, { urn, leaving: toLeavingNote(leaving) });
  }

  /** This run changes something: it is no preview, and keeps nothing. */
  isUpdate(): void {
    if (this.#isUpdate) return;
    this.#isUpdate = true;
    if (this.#place) rmSync(join(this.#place.folder, this.#run().name), { force: true });
  }

  /** Where the notes of a URN's stack are kept; undefined where none can be. */
  #placeOf(urn: string): { folder: string; key: Buffer } | undefined {
    if (this.#place) return this.#place;
    const { directory, platform } = this.#run();
    const [stack = "", project = ""] = urn.split("::");
    const key = sealOf("preview notes", stack, project, directory, platform);
    if (key === undefined) return undefined;
    const folder = findOwnFolder("state", join("previews", key.slice(0, 16)), process.env);
    if (folder !== undefined) this.#place = { folder, key: createHash("sha256").update(key).digest() };
    return this.#place;
  }

  #keep({ folder, key }: { folder: string; key: Buffer }, note: object): void {
    if (this.#isUpdate) return;
    try {
      appendFileSync(join(folder, this.#run().name), `${encrypted(JSON.stringify(note), key)}\n`, { mode: 0o600 });
    } catch {
      // The next run does without.
    }
  }

  /** Notes of the last preview; empty when they are too old, or a file of the program is younger. */
  #foreseen(
    place: { folder: string; key: Buffer },
    name: string,
    directory: string,
  ): Foreseen & { forms: Map<string, string> } {
    const forms = new Map<string, string>();
    try {
      const path = this.#lastOf(place.folder, name);
      if (path === undefined || isYounger(directory, statSync(path).mtimeMs)) return { ...nothing, forms };
      const claims: Foreseen["claims"][number][] = [];
      const leaving: Foreseen["leaving"][number][] = [];
      for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1)) {
        const note = JSON.parse(decrypted(line, place.key)) as Note; // this user's own: nobody else has the key
        if (note.form !== undefined) {
          forms.set(note.urn, note.form);
          if (note.target) claims.push({ urn: note.urn, target: note.target });
        } else {
          leaving.push({ urn: note.urn, ...ofLeavingNote(note.leaving) });
        }
      }
      const isSame = claims.every(({ urn, target }) => formOf(target, directory) === forms.get(urn));
      return isSame ? { claims, leaving, forms } : { ...nothing, forms: new Map() };
    } catch {
      return { ...nothing, forms: new Map() };
    }
  }

  /** The file of the last run but this one; removes all others. */
  #lastOf(folder: string, name: string): string | undefined {
    const others = readdirSync(folder)
      .filter((other) => other !== name)
      .map((other) => ({ path: join(folder, other), found: lstatSync(join(folder, other)) }))
      .filter(({ found }) => found.isFile() && isOwn(found))
      .toSorted((a, b) => b.found.mtimeMs - a.found.mtimeMs);
    const [last, ...older] = others;
    const isFresh = last !== undefined && this.#now() - last.found.mtimeMs < maxAgeMs;
    for (const { path } of isFresh ? older : others) rmSync(path, { force: true });
    return isFresh ? last.path : undefined;
  }
}

type Note = { urn: string; form: string; target?: RowTarget } | { urn: string; form?: undefined; leaving: LeavingNote };

const nothing: Foreseen = { claims: [], leaving: [] };

/** Digest of what a seed declares; of a file its size and time, since the rows of a large one take long to read. */
function formOf(shape: RowTarget, directory: string): string {
  const found =
    shape.source === undefined ? undefined : statSync(join(directory, shape.source), { throwIfNoEntry: false });
  return createHash("sha256")
    .update(JSON.stringify([shape, found?.size, found?.mtimeMs]))
    .digest("hex");
}

/** True if a file of the program was written after a time. */
const isYounger = (directory: string, time: number): boolean =>
  readdirSync(directory, { withFileTypes: true }).some(
    (entry) => entry.isFile() && statSync(join(directory, entry.name)).mtimeMs > time,
  );

function encrypted(text: string, key: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
}

function decrypted(line: string, key: Buffer): string {
  const bytes = Buffer.from(line, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
}

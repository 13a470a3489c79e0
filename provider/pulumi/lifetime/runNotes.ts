import { Identities } from "../../resources/model/identities.ts";
import type { Diff } from "../../resources/model/resource.ts";
import type { Comparison } from "../../resources/resource.ts";
import { RowClaims, type RowFindings } from "../../resources/rows/declared/claims.ts";
import type { RowTarget } from "../../resources/rows/declared/target.ts";
import { TeamClaims } from "../../resources/teamClaims.ts";
import { ofLeavingNote, toLeavingNote, type LeavingNote } from "./leavingNotes.ts";
import { PreviewNotes } from "./previewNotes.ts";
import { nameOfRun, startOf } from "./runFolder.ts";
import { RunJournal } from "./runJournal.ts";

interface Noted {
  claims: TeamClaims;
  rowClaims: RowClaims;
  identities: Identities;
}

/** The methods that note what a program declares and what becomes of it. Their arguments are JSON, but for the rows of `leave`. */
const notes: { [Name in keyof Noted]: readonly (keyof Noted[Name])[] } = {
  claims: ["claim", "forget", "found"],
  rowClaims: ["claim", "announce", "forget", "leave", "renew", "keepCells"],
  identities: ["checked", "compared", "has", "seen", "released"],
};

interface Surroundings {
  engine?: string | undefined;
  directory: string;
  /** The platform that the notes are about. */
  platform: () => string;
  /** True if programs of other languages register their seeds one after the other, which a preview alone sees together. */
  foresees?: boolean;
}

/** A provider's knowledge of its run: its own, and that of the other providers of the run on the same platform. */
export class RunNotes {
  readonly known: Noted;
  readonly #own: Noted;
  readonly #journal: RunJournal;
  readonly #platform: () => string;
  readonly #preview: PreviewNotes | undefined;

  constructor({ engine, directory, platform, foresees = false }: Surroundings) {
    this.#own = {
      claims: new TeamClaims(),
      rowClaims: new RowClaims(directory, foresees),
      identities: new Identities(),
    };
    this.#journal = new RunJournal(engine);
    // IDs are of the whole platform, whatever organization is configured.
    this.#platform = () => platform().replace(/#[^#]*$/, "");
    if (foresees && engine) {
      let name: string | undefined;
      const run = (): string => (name ??= nameOfRun(engine, startOf(engine)));
      const { rowClaims } = this.#own;
      this.#preview = new PreviewNotes(rowClaims, () => ({ name: run(), directory, platform: this.#platform() }));
    }
    this.known = {
      claims: this.#noteOf("claims"),
      rowClaims: this.#noteOf("rowClaims"),
      identities: this.#noteOf("identities"),
    };
  }

  /** Notes what a comparison found out for the resources that follow; returns the rest of it. */
  compared(urn: string | undefined, { findings = {}, ...change }: Comparison): Diff {
    const { people, leaving, renewed = [] } = findings;
    const { claims, rowClaims } = this.known;
    if (people) claims.found(urn, people);
    if (leaving && urn !== undefined) {
      rowClaims.leave(urn, leaving);
      this.#preview?.compared(urn, leaving);
    }
    for (const table of renewed) rowClaims.renew(table);
    return change;
  }

  /** Something changes on the platform from here on: the run is no preview. */
  acts(): void {
    this.#own.rowClaims.isActing = true;
    this.#preview?.isUpdate();
  }

  /** Takes back what is noted for the case of a kill, and what the others read: the engine ends its run in order. */
  close(): void {
    this.#journal.close();
  }

  /** Learns what the others have noted by now. */
  readonly others = (): Promise<void> => {
    this.hear();
    return Promise.resolve();
  };

  /** Learns what the others have noted since. */
  hear(): void {
    for (const { platform, object, method, with: args } of this.#journal.hear()) {
      if (platform === this.#platform() && isName(object)) this.#take(object, method, args);
    }
  }

  /** The answer of a piece of work once the others can hear what it noted: what depends on it must not begin before. */
  async announced<Answer>(work: Promise<Answer>): Promise<Answer> {
    const answer = await work;
    this.#journal.flush();
    return answer;
  }

  /** The object, telling the others each note. */
  #noteOf<Name extends keyof Noted>(object: Name): Noted[Name] {
    const note = (method: string, args: unknown[]): void =>
      this.#journal.note({ platform: this.#platform(), object, method, with: args });
    return new Proxy(this.#own[object], {
      get: (target, method) => {
        const member: unknown = Reflect.get(target, method, target);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => {
          if (isNote(object, method)) note(String(method), method === "leave" ? toNoteOfLeave(args) : args);
          const answer: unknown = Reflect.apply(member, target, args);
          this.#remember(object, method, args);
          return answer;
        };
      },
    });
  }

  /** Keeps what a preview learns for the update after it. */
  #remember(object: keyof Noted, method: string | symbol, [urn, target]: readonly unknown[]): void {
    if (object !== "rowClaims" || typeof urn !== "string") return;
    if (method === "claim") this.#preview?.checked(urn, target as RowTarget); // the arguments of that method
    if (method === "forget") this.#preview?.unknown(urn);
  }

  #take(object: keyof Noted, method: string, args: readonly unknown[]): void {
    if (!isNote(object, method)) return;
    const target = this.#own[object];
    const member: unknown = Reflect.get(target, method);
    // JSON has null for what is undefined.
    const known = (method === "leave" ? ofNoteOfLeave(args) : args).map((one) => one ?? undefined);
    if (typeof member === "function") Reflect.apply(member, target, known);
  }
}

// The arguments of `RowClaims.leave`, and what becomes of them in a note.
const toNoteOfLeave = ([urn, leaving]: readonly unknown[]): unknown[] => [
  urn,
  toLeavingNote(leaving as RowFindings["leaving"]),
];
const ofNoteOfLeave = ([urn, note]: readonly unknown[]): unknown[] => [urn, ofLeavingNote(note as LeavingNote)];

const isName = (name: string): name is keyof Noted => Object.hasOwn(notes, name);
const isNote = (object: keyof Noted, method: string | symbol): boolean => notes[object].some((one) => one === method);

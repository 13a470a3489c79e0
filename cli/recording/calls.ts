import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import { textsIn } from "../../provider/contract/wire.ts";
import type { RecordedExchange } from "./exchange.ts";
import { askOf, asksOf, signatureOf, type KnownStep } from "./factShapes.ts";

/** Bounds of what is kept for facts. */
const maxCalls = 2000;
const maxCharacters = 16_000_000;

/** An exchange that a fact may need: as its own, or as what made the thing that it is about. */
export interface RecordedCall extends RecordedExchange {
  /** True when no earlier call had the same signature. */
  isNew: boolean;
  /** ID of what it made, and where its answer has it. */
  made: { id: string; path: string; word: string } | undefined;
  /** IDs in its request. */
  mentions: ReadonlySet<string>;
}

const makers: Partial<Record<EndpointName, readonly [path: string, word: string]>> = {
  insertmicroapprow: ["rowID", "row"],
  insertorganization: ["organizationID", "organization"],
  insertteam: ["teamID", "team"],
  microappchildCreate: ["childID", "child"],
};

/** Changes of things that were there before; a fact may only change what it made. */
const subjects: Partial<Record<EndpointName, readonly string[]>> = {
  updatemicroapprow: ["rowID"],
  removemicroapprow: ["rowID"],
  updateorganization: ["organizationID"],
  deleteorganization: ["organizationID"],
  updateteam: ["teamID"],
  deleteteam: ["teamID"],
  insertteammembers: ["teamIDs"],
  updateteammember: ["teamID"],
  deleteteammember: ["teamID"],
  enforceteammembership: ["teamIDs"],
  microappchildCreate: ["appID"],
  microappchildUpdate: ["childID"],
  microappchildDelete: ["childID"],
};

/** Calls that reach people, cost something or can't be undone: never tried again as facts, unless they were refused. */
const unrepeatable: ReadonlySet<EndpointName> = new Set([
  ...(["sendnotification", "createappwithprompt", "microappchildUploadFileToStore", "microappchildStorecopy"] as const),
  "logout",
]);

/** True when a call changed, or may have changed, the platform. */
export const isChange = ({ name, refused }: RecordedExchange): boolean =>
  endpoints[name].effect !== "read" && refused === undefined;

/** Things that a call changes. */
export const subjectsOf = ({ name, sent }: RecordedExchange): string[] =>
  (subjects[name] ?? []).flatMap((key) => [...textsIn(sent[key])]);

/** The exchanges that facts may be made of, in their order. */
export class RecordedCalls {
  readonly all: RecordedCall[] = [];
  omitted = 0;
  readonly #signatures = new Set<string>();
  #characters = 0;
  readonly #known: ReadonlySet<string>;

  /** @param known steps of facts that need not be written again */
  constructor(known: readonly KnownStep[] = []) {
    this.#known = new Set(known.flatMap(asksOf));
  }

  take(exchange: RecordedExchange): void {
    const { name, answer, sent, refused } = exchange;
    if (exchange.request === undefined && refused === undefined) return;
    const signature = signatureOf(exchange);
    const isKnown = this.#signatures.has(signature) || this.#known.has(askOf(name, sent, refused !== undefined));
    const isNew = !isKnown && !(unrepeatable.has(name) && refused === undefined);
    if (!isNew && !isChange(exchange)) return;
    const size = JSON.stringify([sent, exchange.wire ?? null]).length;
    if (this.all.length >= maxCalls || this.#characters + size > maxCharacters) {
      this.omitted++;
      return;
    }
    this.#signatures.add(signature);
    this.#characters += size;
    const [path, word] = makers[name] ?? [];
    const id = path === undefined ? undefined : answer?.[path];
    const made = path !== undefined && word !== undefined && typeof id === "string" ? { id, path, word } : undefined;
    this.all.push({ ...exchange, isNew, made, mentions: new Set(textsIn(sent)) });
  }
}

import type { EndpointName } from "../contract/endpoints.ts";
import type { Failed } from "./http/retries.ts";

/** Parameters that hold IDs of things which calls make; the list of child records calls the row `appID`. */
const idNames = ["organizationID", "teamID", "teamIDs", "rowID", "embeddingRowID", "childID", "appID"];

/** The ID in the answer of each call that makes a thing. */
const makers: { readonly [Name in EndpointName]?: string } = {
  insertorganization: "organizationID",
  insertteam: "teamID",
  insertmicroapprow: "rowID",
  microappchildCreate: "childID",
};

/** The parameter with the ID of what a call removes. */
const removers: { readonly [Name in EndpointName]?: string } = {
  deleteorganization: "organizationID",
  deleteteam: "teamID",
  removemicroapprow: "rowID",
  microappchildDelete: "childID",
};

/** Calls about one member: a team that is there may lack them. */
const ofMembers: ReadonlySet<EndpointName> = new Set(["readteammember", "updateteammember", "deleteteammember"]);

/** Calls that answer with one thing, or with none. */
const readers: ReadonlySet<EndpointName> = new Set([
  "readorganization",
  "readteam",
  "microappdataRow",
  "microappchildRead",
]);

const firstWaitMs = 100;
const longestWaitMs = 1_500;

/**
 * The things that a client made within the last while. A platform whose copies are brought up to date later (eventual
 * consistency) does not find them at once, and that must not be taken for a deletion.
 */
export class RecentlyMade {
  readonly #forMs: number;
  readonly #now: () => number;
  /** When each was made, by ID, the oldest first. */
  readonly #times = new Map<string, number>();

  /** @param forMs milliseconds for which a thing may still be unseen; 0 turns it off */
  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  /** Notes what a call that went well has made or removed; returns its answer. */
  note<Answer extends object>(name: EndpointName, request: object, answer: Answer): Answer {
    if (this.#forMs === 0) return answer;
    const removed = textAt(request, removers[name]);
    if (removed !== undefined) this.#times.delete(removed);
    this.#add(textAt(answer, makers[name]));
    return answer;
  }

  /** Notes a creation under an ID of the caller's choice whose answer was lost. */
  noteOpen(request: object): void {
    const { organizationInfo, teamInfo } = request as { organizationInfo?: object; teamInfo?: object };
    if (this.#forMs > 0) this.#add(textAt(organizationInfo ?? teamInfo ?? {}, "_id"));
  }

  #add(made: string | undefined): void {
    if (made === undefined) return;
    this.#times.set(made, this.#now());
    for (const [id, time] of this.#times) {
      if (time + this.#forMs > this.#now()) break;
      this.#times.delete(id);
    }
  }

  /** Milliseconds before a call about a thing that was not found is sent again; undefined when that is an answer. */
  waitFor(name: EndpointName, request: object, looks: number): number | undefined {
    if (this.#times.size === 0 || ofMembers.has(name)) return undefined;
    const made = idsIn(request).flatMap((id) => this.#times.get(id) ?? []);
    const wait = Math.min(firstWaitMs * 2 ** looks, longestWaitMs);
    return made.some((time) => this.#now() + wait <= time + this.#forMs) ? wait : undefined;
  }
}

/** True when a call ended without the thing that it is about. */
export const isNotFound = (name: EndpointName, outcome: { answer: object } | { failed: Failed }): boolean =>
  "failed" in outcome
    ? outcome.failed.code === "notFound"
    : readers.has(name) && Object.values(outcome.answer).every((value) => value === undefined);

function idsIn(request: object): string[] {
  const { teamInfo = {} } = request as { teamInfo?: object };
  const values = [request, teamInfo].flatMap((part) => idNames.map((name): unknown => Reflect.get(part, name)));
  return values.flat().filter((value) => typeof value === "string");
}

function textAt(value: object, name: string | undefined): string | undefined {
  const found: unknown = name === undefined ? undefined : Reflect.get(value, name);
  return typeof found === "string" ? found : undefined;
}

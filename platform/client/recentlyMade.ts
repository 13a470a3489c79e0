import { endpoints, type EndpointName } from "../contract/endpoints.ts";
import type { Failed } from "./http/retries.ts";

/** Names of the IDs of things which calls make, in answers and requests. */
const madeIDs = ["organizationID", "teamID", "rowID", "childID"];

/** Names of other parameters that hold such IDs; the list of child records calls the row `appID`. */
const otherIDs = ["teamIDs", "embeddingRowID", "appID"];

/** Calls about one member: a team that is there may lack them. */
const ofMembers: ReadonlySet<EndpointName> = new Set(["readteammember", "updateteammember", "deleteteammember"]);

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
    const isRemoval = /^(delete|remove)|Delete$/.test(name) && !ofMembers.has(name);
    if (isRemoval) for (const removed of idsIn(request, madeIDs)) this.#times.delete(removed);
    for (const made of idsIn(answer, madeIDs)) this.#add(made);
    return answer;
  }

  /** Notes a creation under an ID of the caller's choice whose answer was lost. */
  noteOpen(request: object): void {
    const { organizationInfo, teamInfo } = request as { organizationInfo?: object; teamInfo?: object };
    if (this.#forMs > 0) for (const chosen of idsIn(organizationInfo ?? teamInfo ?? {}, ["_id"])) this.#add(chosen);
  }

  #add(made: string): void {
    this.#times.set(made, this.#now());
    for (const [id, time] of this.#times) {
      if (time + this.#forMs > this.#now()) break;
      this.#times.delete(id);
    }
  }

  /** Milliseconds before a call about a thing that was not found is sent again; undefined when that is an answer. */
  waitFor(name: EndpointName, request: object, looks: number): number | undefined {
    if (this.#times.size === 0 || ofMembers.has(name)) return undefined;
    const { teamInfo = {} } = request as { teamInfo?: object };
    const asked = [request, teamInfo].flatMap((part) => idsIn(part, [...madeIDs, ...otherIDs]));
    const made = asked.flatMap((id) => this.#times.get(id) ?? []);
    const wait = Math.min(firstWaitMs * 2 ** looks, longestWaitMs);
    return made.some((time) => this.#now() + wait <= time + this.#forMs) ? wait : undefined;
  }
}

/** True when a call ended without the thing that it is about. */
export const isNotFound = (name: EndpointName, outcome: { answer: object } | { failed: Failed }): boolean =>
  "failed" in outcome
    ? outcome.failed.code === "notFound"
    : endpoints[name].effect === "read" && Object.values(outcome.answer).every((value) => value === undefined);

/** The texts under these names, one or a list of them each. */
const idsIn = (part: object, names: readonly string[]): string[] =>
  names.flatMap((name): unknown => Reflect.get(part, name)).filter((value) => typeof value === "string");

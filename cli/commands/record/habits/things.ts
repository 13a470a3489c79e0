import type { AnswerOf, EndpointName, ParsedRequestOf } from "../../../../provider/contract/endpoints.ts";
import { codeOf } from "../../../../provider/contract/errors.ts";
import type { RecordedExchange } from "../../../recording/exchange.ts";
import { keep, type Sighting } from "../../../recording/sighting.ts";

interface Call<Name extends EndpointName> {
  request: ParsedRequestOf<Name>;
  /** Undefined for a refusal. */
  answer: AnswerOf<Name> | undefined;
  /** Code of a refusal. */
  code: string | undefined;
  message: string;
  caller: string;
}
type Takers = { readonly [Name in EndpointName]?: (call: Call<Name>) => Iterable<Sighting> };

const aboutRequest: ReadonlySet<string | undefined> = new Set(["invalidRequest", "rejected", "conflict"]);

/** Organizations, teams and members, as far as the calls so far have made, listed or deleted them. */
export class ThingsSoFar {
  /** The name of each organization, and of each team with its organization. */
  readonly #organizations = new Map<string, string>();
  readonly #teams = new Map<string, { organizationID: string; name: string }>();
  /** The user who made a team, until its members are listed or changed. */
  readonly #creators = new Map<string, string>();
  /** User IDs and addresses of listed members. */
  readonly #members = new Map<string, ReadonlySet<string>>();
  /** Roles that were given, until they are read. */
  readonly #roles = new Map<string, string>();
  readonly #deleted = new Map<string, true>();
  /** Things whose description was taken away. */
  readonly #cleared = new Map<string, true>();

  /** Learns from a call; yields what it shows together with earlier ones. */
  take({ name, request, answer, refused, status, headers }: RecordedExchange): Iterable<Sighting> {
    if (request === undefined || (answer === undefined && refused === undefined)) return [];
    const code = refused === undefined ? undefined : codeOf(status, refused);
    const call = { request, answer, code, message: refused ?? "", caller: headers["x-user-id"] ?? "" };
    // The call is of the endpoint's types: the contract has read both.
    return this.#takers[name]?.(call as never) ?? [];
  }

  readonly #takers: Takers = {
    insertorganization: ({ request: { organizationInfo: info }, answer, ...refusal }) => {
      const isTaken = [...this.#organizations.values()].includes(info.name);
      if (answer) keep(this.#organizations, answer.organizationID, info.name);
      return [
        ...(isTaken && answer ? [["organizationNames", "free"] as const] : []),
        ...chosen(info._id, answer?.organizationID, refusal),
      ];
    },
    insertteam: ({ request: { teamInfo: info }, answer, caller, ...refusal }) => {
      const isSame = ({ organizationID, name }: { organizationID: string; name: string }): boolean =>
        organizationID === info.organizationID && name === info.name;
      const isTaken = [...this.#teams.values()].some(isSame);
      if (answer) {
        keep(this.#teams, answer.teamID, info);
        keep(this.#creators, answer.teamID, caller);
      }
      return [
        ...(isTaken && refusal.code === "conflict" ? [["teamNames", "unique"] as const] : []),
        ...chosen(info._id, answer?.teamID, refusal),
      ];
    },
    updateorganization: ({ request: { organizationID, organizationInfo }, answer }) =>
      this.#described(organizationID, organizationInfo.description, answer),
    updateteam: ({ request: { teamID, teamInfo }, answer }) => this.#described(teamID, teamInfo.description, answer),
    readorganization: ({ answer }) => this.#read(answer?.organization),
    readteam: ({ answer }) => this.#read(answer?.team),
    deleteorganization: ({ request: { organizationID: id }, answer, code }) => {
      const teams = [...this.#teams].filter(([, { organizationID }]) => organizationID === id);
      if (answer) {
        this.#organizations.delete(id);
        for (const [teamID] of teams) this.#teams.delete(teamID);
      }
      return [
        ...(teams.length > 0 && answer ? [["cascade", "deletes"] as const] : []),
        ...this.#deletion(id, answer, code),
      ];
    },
    deleteteam: ({ request: { teamID }, answer, code }) => {
      if (answer) this.#teams.delete(teamID);
      return this.#deletion(teamID, answer, code);
    },
    insertteammembers: ({ request: { teamIDs, emails = [], userIDs = [] }, code }) => {
      const names = [...emails.map((email) => email.toLowerCase()), ...userIDs];
      const isAgain = teamIDs.some((id) => names.some((name) => this.#members.get(id)?.has(name) === true));
      this.#changed(teamIDs);
      for (const id of teamIDs) for (const name of names) this.#deleted.delete(`${id} ${name}`);
      return isAgain && aboutRequest.has(code) ? [["memberAgain", "refused"]] : [];
    },
    teammembers: ({ request: { teamIDs }, answer }) => {
      const [id, ...others] = teamIDs;
      if (!answer || id === undefined || others.length > 0) return [];
      const list = answer.teamMembers;
      const names = list.flatMap(({ userID = "", email = "" }) => [userID, email.toLowerCase()]);
      keep(this.#members, id, new Set(names.filter((name) => name !== "")));
      const creator = this.#creators.get(id);
      this.#creators.delete(id);
      return [
        ...(creator === undefined ? [] : [["creatorJoins", names.includes(creator) ? "yes" : "no"] as const]),
        ...list.flatMap(({ userID, role }) => this.#hasRole(id, userID, role)),
      ];
    },
    updateteammember: ({ request: { teamID, userID, role }, code, message }) => {
      if (code === undefined && teamID !== undefined && userID !== undefined) {
        keep(this.#roles, `${teamID} ${userID}`, role);
      }
      return aboutRequest.has(code) && /\broles?\b/.test(message) ? [["roleChange", "refused"]] : [];
    },
    readteammember: ({ request, answer }) => {
      const { teamID = request.teamID, userID = request.userID, role } = answer?.teamMember ?? {};
      return teamID === undefined ? [] : this.#hasRole(teamID, userID, role);
    },
    deleteteammember: ({ request: { teamID, userID }, answer, code }) => {
      if (teamID === undefined || userID === undefined) return [];
      this.#changed([teamID]);
      return this.#deletion(`${teamID} ${userID}`, answer, code);
    },
    enforceteammembership: ({ request: { teamIDs } }) => {
      this.#changed([...teamIDs, ...this.#creators.keys(), ...this.#members.keys()]);
      return [];
    },
    updatemicroapprow: ({ request: { rowID }, answer }) =>
      this.#deleted.has(rowID) ? [["updateUnknownRow", answer ? "success" : "notFound"]] : [],
    removemicroapprow: ({ request: { rowID }, answer, code }) => {
      const wasGone = this.#deleted.has(rowID);
      if (answer) keep(this.#deleted, rowID, true);
      return wasGone && (answer !== undefined || code === "notFound")
        ? [["removeUnknownRow", answer ? "success" : "notFound"]]
        : [];
    },
    insertmicroapprows: ({ code }) => (code === "notImplemented" ? [["batchInserts", "no"]] : []),
    microappchildRead: ({ code }) => (code === "notImplemented" ? [["childRead", "no"]] : []),
  };

  #changed(teamIDs: readonly string[]): void {
    for (const id of teamIDs) {
      this.#creators.delete(id);
      this.#members.delete(id);
    }
  }

  /** A deletion, perhaps of what is gone already. */
  #deletion(key: string, answer: unknown, code: string | undefined): Sighting[] {
    const wasGone = this.#deleted.has(key);
    if (answer !== undefined) keep(this.#deleted, key, true);
    if (!wasGone || (answer === undefined && code !== "notFound")) return [];
    return [["unknownDelete", answer === undefined ? "notFound" : "success"]];
  }

  #described(id: string, description: string | null | undefined, answer: unknown): Sighting[] {
    if (answer === undefined || description === undefined) return [];
    if (description === null) keep(this.#cleared, id, true);
    else this.#cleared.delete(id);
    return [];
  }

  #read(thing: { _id: string; description?: string | null | undefined } | undefined): Sighting[] {
    if (!thing || !this.#cleared.delete(thing._id)) return [];
    return [["nullDescription", (thing.description ?? "") === "" ? "clears" : "ignored"]];
  }

  #hasRole(teamID: string, userID: string | undefined, role: string | undefined): Sighting[] {
    const key = `${teamID} ${userID ?? ""}`;
    const wanted = this.#roles.get(key);
    if (wanted === undefined || role === undefined) return [];
    this.#roles.delete(key);
    return [["roleChange", role === wanted ? "yes" : "ignored"]];
  }
}

/** Shows if the ID that a caller chose was taken. */
function chosen(
  wanted: string | undefined,
  made: string | undefined,
  { code, message }: { code: string | undefined; message: string },
): Sighting[] {
  if (wanted === undefined) return [];
  if (made !== undefined) return [["chosenIDs", made === wanted ? "honoured" : "ignored"]];
  return aboutRequest.has(code) && /\b_id\b/.test(message) ? [["chosenIDs", "refused"]] : [];
}

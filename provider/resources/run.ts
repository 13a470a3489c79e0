import { some } from "../../platform/messages/text.ts";
import { isManaged, type ListedMember, namesOf, type Person, type RoleChange, type Wanted } from "../people/people.ts";
import { chosenID, describeNamed, type NamedResource, readName } from "../pulumi/names.ts";
import { RowClaims, type RowFindings } from "../seedRows/claims.ts";
import type { InputProblem } from "./common.ts";

/** Results of a comparison that other resources of the run depend on. */
export interface Findings extends Partial<RowFindings> {
  /** The user IDs of people whom the resource declares by their addresses. */
  people?: readonly Person[];
}

/** What the resources of one run declare and find out, in the memory of the process that serves them. */
export class Run {
  readonly claims = new TeamClaims();
  readonly rowClaims: RowClaims;
  readonly identities = new Identities();
  /** Names of the organizations, by URN. */
  readonly organizationNames = new Map<string, OrganizationName>();

  /**
   * @param directory the program's folder
   * @param mayGrow true where a seed may come that nobody knows of yet
   */
  constructor(directory: string, mayGrow = false) {
    this.rowClaims = new RowClaims(directory, mayGrow);
  }

  /** For the context of a resource. */
  get known(): Pick<Run, "claims" | "rowClaims" | "identities" | "organizationNames"> {
    const { claims, rowClaims, identities, organizationNames } = this;
    return { claims, rowClaims, identities, organizationNames };
  }

  /** Notes what a comparison found out for the resources that follow. */
  note(urn: string | undefined, { people, leaving, renewed = [] }: Findings = {}): void {
    if (people) this.claims.found(urn, people);
    if (leaving && urn !== undefined) this.rowClaims.leave(urn, leaving);
    for (const table of renewed) this.rowClaims.renew(table);
  }
}

/** The name of an organization in a run. */
export interface OrganizationName {
  /** As it is declared now. */
  name: string;
  /** The one that it has on the platform and gives up in this run. */
  former?: string | undefined;
  /** True once it has given that up. */
  isGiven?: boolean;
}

type Inputs = Readonly<Record<string, unknown>>;

/** The resource that a replacement replaces, as far as this run knows it: without its ID when there was no diff. */
export interface Replaced {
  id: string | undefined;
  inputs: Inputs;
}

/** This run's knowledge of one URN. */
interface Known {
  /** True when the program declares it. */
  checked: boolean;
  /** The inputs of the last run. */
  old: Inputs | undefined;
  /** The thing in the state, from a comparison, or from reading a state that has it once. */
  before: { id: string; inputs: Inputs | undefined } | undefined;
  /** All that states have under it. */
  seen: Set<string>;
  /** The ID that the resource keeps, or has got. */
  current: string | undefined;
  /** True while the engine replaces a thing and has not made the new one. */
  replacing: boolean;
}

/**
 * Which resource of a run has which ID on the platform. An engine knows a resource by its URN, the platform a thing by
 * its ID: a deletion may meet what another resource has by now. One process works for one run.
 */
export class Identities {
  readonly #known = new Map<string, Known>();
  /** URNs by the IDs that they have, or had. */
  readonly #urns = new Map<string, Set<string>>();

  /**
   * Notes a check: the program declares the resource. The first check brings the inputs of the last run. A check without
   * any, of a resource in the state, means that the engine replaces it, whatever the diff was.
   */
  checked(urn: string, old: Inputs): void {
    const known = this.#of(urn);
    known.checked = true;
    if (Object.keys(old).length > 0) Object.assign(known, { old, replacing: false });
    else if (known.old !== undefined || known.before?.inputs !== undefined) {
      Object.assign(known, { replacing: true, current: undefined });
    }
  }

  /** True when the program is known to declare it. */
  isDeclared(urn: string): boolean {
    return this.#known.get(urn)?.checked ?? false;
  }

  /** A state was read; `inputs` when it is of a thing that is ours. */
  seen(urn: string, id: string, inputs: Inputs | undefined): void {
    const known = this.#with(urn, id);
    known.seen.add(id);
    // A state may still name the URN from before a renaming, which is another resource's by now.
    known.before = known.seen.size > 1 ? undefined : { id, inputs };
  }

  /** Notes a diff, which shows whether the resource keeps its ID. Engines also diff what they may have to delete first. */
  compared(urn: string, id: string, keeps: boolean): void {
    const known = this.#with(urn, id);
    known.seen.add(id);
    known.before = { id, inputs: known.before?.inputs };
    if (known.checked) known.current = keeps ? id : undefined;
  }

  /** A create or an update is done. */
  has(urn: string, id: string): void {
    Object.assign(this.#with(urn, id), { current: id, replacing: false });
  }

  /** A deletion is done, or was not necessary. */
  released(urn: string, id: string): void {
    const known = this.#of(urn);
    if (known.current === id && !known.checked) known.current = undefined;
    if (known.before?.id === id) known.before = undefined;
    known.seen.delete(id);
  }

  /** Another resource that the program declares and that has this ID. */
  other(urn: string, id: string): NamedResource | undefined {
    for (const another of this.#urns.get(id) ?? []) {
      if (another === urn) continue;
      const { checked, current } = this.#of(another);
      if (checked && current === id && readName(another).kind === readName(urn).kind) return readName(another);
    }
    return undefined;
  }

  /** URNs of the resources that the program declares and that have this ID. */
  holders(id: string): string[] {
    return [...(this.#urns.get(id) ?? [])].filter((urn) => this.#of(urn).checked && this.#of(urn).current === id);
  }

  /** The owner of a thing whose deletion is due: another resource, or its successor under the same URN. */
  findOwner(urn: string, id: string): (NamedResource & { itself: boolean }) | undefined {
    const other = this.other(urn, id);
    if (other) return { ...other, itself: false };
    const known = this.#known.get(urn);
    return known?.checked && known.current === id ? { ...readName(urn), itself: true } : undefined;
  }

  /** The resource that is being replaced under this URN; undefined when none is, or none that this run knows. */
  replaced(urn: string | undefined): Replaced | undefined {
    const known = this.#known.get(urn ?? "");
    if (!known?.replacing) return undefined;
    return { id: known.before?.id, inputs: known.old ?? known.before?.inputs ?? {} };
  }

  /** How many replacements under one URN there were, the one that is under way included; undefined for none. */
  generation(urn: string | undefined): number | undefined {
    const known = this.#known.get(urn ?? "");
    const last = (known?.old ?? known?.before?.inputs)?.["generation"];
    const count = typeof last === "number" ? last : 0;
    if (known?.replacing) return count + 1;
    return known?.old === undefined || count === 0 ? undefined : count;
  }

  /** The ID to create a thing with: the derived one, or the next one while that is a resource's of this run. */
  chosen(urn: string | undefined, ...parts: readonly string[]): string | undefined {
    for (let apart = 0; ; apart++) {
      const id = chosenID(urn, ...parts, ...(apart > 0 ? [`apart ${apart}`] : []));
      if (id === undefined || urn === undefined || !this.#isTaken(urn, id)) return id;
    }
  }

  /** Also by one that the state has and the program has not declared yet. */
  #isTaken(urn: string, id: string): boolean {
    const { kind } = readName(urn);
    return [...(this.#urns.get(id) ?? [])].some((one) => {
      const { current, seen } = this.#of(one);
      const has = seen.has(id) || (current === id && one !== urn);
      return has && readName(one).kind === kind;
    });
  }

  /** Finds the record of a URN, and links the ID to it. */
  #with(urn: string, id: string): Known {
    setAt(this.#urns, id).add(urn);
    return this.#of(urn);
  }

  #of(urn: string): Known {
    const known = this.#known.get(urn) ?? {
      ...{ checked: false, old: undefined, before: undefined, seen: new Set(), current: undefined, replacing: false },
    };
    this.#known.set(urn, known);
    return known;
  }
}

/** The members that a resource declares: a TeamRoster a team's, a TeamMember one. */
interface TeamClaim {
  kind: "TeamRoster" | "TeamMember";
  teamID: string;
  /** The members that it declares. */
  people: readonly Person[];
  /** Only of a TeamRoster that removes undeclared members: the members that it leaves alone. */
  ignore?: readonly string[];
}

/**
 * The members that the resources of a run declare. No provider sees the program. But one process checks all resources of
 * a provider configuration, before anything that left the program is deleted.
 */
export class TeamClaims {
  readonly #claims = new Map<string, TeamClaim>();
  /** A test by URN for each roster that decides on more than its declared members. */
  readonly #deciding = new Map<string, (member: ListedMember) => boolean>();
  /** URNs by what they speak about: a team, a user in a team. */
  readonly #about = new Map<string, Set<string>>();
  /** Subjects of each URN. */
  readonly #spoken = new Map<string, Set<string>>();
  /** By team and user ID: the roles that people have as they are declared, unchanged or set by this run. */
  readonly #roles = new Map<string, Pick<RoleChange, "role"> & { urn: string }>();
  /** Lists that were compared with them: what is noted after that was seen there. */
  readonly #compared = new WeakSet<object>();
  /** Administrators that teams name now and named in the last run, by the team's URN or ID. */
  readonly #administrators = new Map<string, { now: string | undefined; before: string | undefined }>();

  /** Notes a claim, in place of an earlier one of the same resource; returns the other resource that contradicts it. */
  claim(urn: string, claim: TeamClaim): InputProblem[] {
    this.forget(urn);
    const problem = this.#contradiction(claim);
    this.#claims.set(urn, claim);
    const { ignore } = claim;
    if (ignore) this.#deciding.set(urn, isManaged(ignore));
    this.#index(urn, claim);
    return problem ? [problem] : [];
  }

  /** Drops the claim of a resource that was deleted, or whose team is not known. */
  forget(urn: string | undefined): void {
    if (urn === undefined || !this.#claims.delete(urn)) return;
    for (const [who, one] of this.#roles) if (one.urn === urn) this.#roles.delete(who);
    this.#deciding.delete(urn);
    for (const about of this.#spoken.get(urn) ?? []) this.#about.get(about)?.delete(urn);
    this.#spoken.delete(urn);
  }

  /**
   * The user IDs of those whom a resource declares by their addresses: lists of a platform may have IDs alone. With a role,
   * they have that one by now.
   */
  found(urn: string | undefined, people: readonly Wanted[]): void {
    const claim = this.#claims.get(urn ?? "");
    if (urn === undefined || !claim) return;
    this.#index(urn, { ...claim, people });
    for (const { userID, role } of people)
      if (userID && role !== undefined) this.#roles.set(`${claim.teamID} ${userID}`, { role, urn });
  }

  /** Members whose roles are others than this run left: another's change may take one. A list is compared once. */
  misplaced(teamID: string, list: readonly ListedMember[], except?: string): RoleChange[] {
    if (this.#compared.has(list)) return [];
    this.#compared.add(list);
    return list.flatMap((member) => {
      const { role, urn } = this.#roles.get(`${teamID} ${member.userID}`) ?? {};
      return role === undefined || urn === except || (member.role ?? role) === role ? [] : [{ member, role }];
    });
  }

  /** Notes the administrator whom a team names, and the one of the last run. */
  administer(team: string | undefined, now: string | undefined, before?: string): void {
    if (team !== undefined) this.#administrators.set(team, { now, before });
  }

  /** The first of some teams that names a user as its administrator. */
  administered(teams: Iterable<string>, user: Person): NamedResource | undefined {
    const names = namesOf(user);
    const urn = [...teams].find((one) => names.includes(this.#administrators.get(one)?.now ?? ""));
    return urn === undefined ? undefined : readName(urn);
  }

  /** Administrators whom the last run named and no team names any more. */
  dismissed(teams: readonly string[]): Person[] {
    const former = teams.flatMap((one) => this.#administrators.get(one)?.before ?? []);
    return former.map((userID) => ({ userID })).filter((one) => this.administered(teams, one) === undefined);
  }

  /** True where a resource of this run declares members of a team. */
  isOn(teamID: string, urn: string | undefined): boolean {
    return this.#claims.get(urn ?? "")?.teamID === teamID;
  }

  /** The resource that declares a membership, other than the one that asks. */
  declaring(teamID: string, member: ListedMember, except?: string): NamedResource | undefined {
    const urns = namesOf(member).flatMap((name) => this.#urns(`team ${teamID} ${name}`));
    const urn = urns.find((one) => one !== except);
    return urn === undefined ? undefined : readName(urn);
  }

  /** The resource that decides on a member now, other than the one that asks. */
  deciding(teamID: string, member: ListedMember, except?: string): NamedResource | undefined {
    const rosters = this.#urns(`team ${teamID} TeamRoster`);
    const roster = rosters.find((urn) => urn !== except && this.#deciding.get(urn)?.(member));
    return this.declaring(teamID, member, except) ?? (roster === undefined ? undefined : readName(roster));
  }

  #index(urn: string, { kind, teamID, people }: TeamClaim): void {
    for (const what of [kind, ...people.flatMap(namesOf)]) {
      setAt(this.#about, `team ${teamID} ${what}`).add(urn);
      setAt(this.#spoken, urn).add(`team ${teamID} ${what}`);
    }
  }

  #urns(about: string): string[] {
    return [...(this.#about.get(about) ?? [])];
  }

  #contradiction(claim: TeamClaim): InputProblem | undefined {
    const { kind, teamID, people } = claim;
    const others = (about: string, of: TeamClaim["kind"]): [string, TeamClaim][] =>
      this.#urns(about).flatMap((urn) => {
        const other = this.#claims.get(urn);
        return other?.kind === of ? [[urn, other]] : [];
      });
    const problem = (property: string, urn: string, reason: string): InputProblem => {
      return { property, reason: `${describeNamed(readName(urn))} ${reason}` };
    };
    const person = people[0];
    const property = person?.email === undefined ? "userID" : "email";
    const who = person?.email ?? person?.userID ?? "";
    const sameUser = people.flatMap(namesOf);
    const mixed = others(`team ${teamID} ${otherKind[kind]}`, otherKind[kind])[0];
    if (mixed) {
      const reason = `says who is in team ${teamID} as well. Declare the members of one team in a TeamRoster or as TeamMembers, not both`;
      return problem("teamID", mixed[0], reason);
    }
    if (kind === "TeamMember") {
      const second = sameUser.flatMap((name) => others(`team ${teamID} ${name}`, kind))[0];
      return (
        second && problem(property, second[0], `declares ${who} a member of team ${teamID} as well. Keep one of them`)
      );
    }
    const rosters = others(`team ${teamID} ${kind}`, kind);
    const shared = new Set(sameUser.flatMap((name) => this.#urns(`team ${teamID} ${name}`)));
    // Two rosters that remove nobody and have nobody in common are no two owners of anybody.
    const second = rosters.find(([urn, other]) => claim.ignore ?? other.ignore ?? shared.has(urn));
    return second && problem("teamID", second[0], `says who is in team ${teamID} as well. Keep one of them`);
  }
}

/** That some stay whom a deletion would take out, for people; how many when nobody may be named. */
export function stays(people: readonly string[] | number, teamIDs: readonly string[], owner: NamedResource): string {
  const who = typeof people === "number" ? `${people} of its members` : some(people, 5);
  const stay = typeof people !== "number" && people.length === 1 ? "stays a member" : "stay members";
  const teams = teamIDs.length === 1 ? "team" : "teams";
  return `${who} ${stay} of ${teams} ${some(teamIDs, 5)}: ${describeNamed(owner)} declares that`;
}

const otherKind = { TeamMember: "TeamRoster", TeamRoster: "TeamMember" } as const;

/** The set of a key; an empty one is made where there is none. */
function setAt(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key) ?? new Set();
  sets.set(key, known);
  return known;
}

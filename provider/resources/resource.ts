import type { z } from "zod";
import { some } from "../../platform/messages/text.ts";
import { isManaged, type LiveMember, namesOf, type Person, type RoleChange, type Wanted } from "../people/people.ts";
import { RowClaims, type RowFindings } from "../seedRows/claims.ts";
import { describeNamed, Identities, type NamedResource, readName, setAt } from "./model/identities.ts";
import type { CheckedInputs, Context, Diff, Given, InputProblem, Observed, OfflineContext } from "./model/resource.ts";

/** Context of a resource that talks to the platform. */
export interface ResourceContext extends Context {
  /** Memberships declared by the resources of this run. */
  claims: TeamClaims;
  /** Which seed of this run declares which rows. */
  rowClaims: RowClaims;
}

/** Context of check and diff. */
export interface OfflineResourceContext extends OfflineContext, Pick<ResourceContext, "claims" | "rowClaims"> {}

/**
 * One resource: its inputs and outputs as zod objects that carry the facts (`replaces`, `secret`, description) as
 * metadata, and its behaviour. Outputs always hold the inputs as they are applied beside what the platform adds.
 */
export interface Resource<Inputs extends z.ZodObject = z.ZodObject, Outputs extends z.ZodObject = z.ZodObject> {
  /** Name of the type, e.g. `Team`. */
  name: string;
  summary: string;
  /** For the documentation: inputs under a name. `${crew.id}` is of the example called crew. */
  example: { name: string; inputs: z.input<Inputs> };
  /** For the documentation: the form of the ID that an import takes, such as `<teamID>`; or what to do where none is enough. */
  importedBy: { id: string; otherwise?: string } | { otherwise: string };
  inputs: Inputs;
  /** Values that the platform adds to the inputs. */
  outputs: Outputs;
  /** True when the old one goes before the new one comes, because both would be the same thing on the platform. */
  deleteBeforeReplace?: boolean;
  /** For what the platform knows by ID, such that two resources may get to have one ID. */
  identity?: Identity<Inputs, Outputs>;
  /**
   * Checks and completes inputs beyond their schema; `outputs` are those that are known already. `old` holds
   * the inputs of the last run. Offline.
   */
  check?: (
    context: OfflineResourceContext,
    news: Given<z.output<Inputs>>,
    old: Partial<z.output<Inputs>>,
  ) => Promise<CheckedInputs<z.output<Inputs>, z.output<Outputs>>>;
  /** Finds changes beyond a comparison of single inputs. Offline, and without side effects: it may be called again. */
  diff?: (
    context: OfflineResourceContext,
    change: Diff,
    old: State<Inputs, Outputs>,
    news: Given<z.output<Inputs>>,
  ) => Promise<Comparison>;
  /** Plans its deletion, with the same refusals. Offline, and without side effects. */
  departs?: (context: OfflineResourceContext, state: State<Inputs, Outputs>) => Promise<Findings>;
  /**
   * Throws, in a preview of an engine that asks for creates, what would refuse this one; answers the counts of a seed whose
   * rows it has seen. `look` leads to the platform, for reads alone; its answer is undefined where a preview looks at none.
   */
  foresee?: (
    context: OfflineResourceContext & Pick<Context, "sleep">,
    news: Given<z.output<Inputs>>,
    look: () => Promise<ResourceContext | undefined>,
  ) => Promise<string | undefined>;
  create: (context: ResourceContext, inputs: z.output<Inputs>) => Promise<Observed<State<Inputs, Outputs>>>;
  /** Reads the resource; undefined when it does not exist. `state` is empty during an import. */
  read: (
    context: ResourceContext,
    id: string,
    state: Partial<State<Inputs, Outputs>>,
  ) => Promise<Observed<State<Inputs, Outputs>> | undefined>;
  update: (
    context: ResourceContext,
    id: string,
    old: State<Inputs, Outputs>,
    inputs: z.output<Inputs>,
  ) => Promise<State<Inputs, Outputs>>;
  delete: (context: ResourceContext, id: string, state: State<Inputs, Outputs>) => Promise<void>;
}

/** Behaviour of a thing whose deletion is due while another resource, or its own replacement, has its ID. */
interface Identity<Inputs extends z.ZodObject, Outputs extends z.ZodObject> {
  /** A sentence that it stays. */
  stays: (state: State<Inputs, Outputs>, owner: IdOwner) => string;
  /** Cleans up outside of the platform. */
  letGo?: (context: ResourceContext, state: State<Inputs, Outputs>) => Promise<void>;
}

/** The owner of an ID that is to be deleted; `itself` is what has come in its place. */
interface IdOwner {
  kind: string;
  name: string;
  itself: boolean;
}

export type State<Inputs extends z.ZodObject, Outputs extends z.ZodObject> = z.output<
  z.ZodObject<Omit<Inputs["shape"], keyof Outputs["shape"]> & Outputs["shape"]>
>;

/** Declares a resource. */
export const resource = <Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  declaration: Resource<Inputs, Outputs>,
): Resource<Inputs, Outputs> => declaration;

/** Results of a comparison that other resources of the run depend on. */
export interface Findings extends Partial<RowFindings> {
  /** The user IDs of people whom the resource declares by their addresses. */
  people?: readonly Person[];
}

/** The result of a diff, which changes nothing itself: whoever asks for it notes the findings. */
export interface Comparison extends Diff {
  findings?: Findings;
}

/** What the resources of one run declare and find out, in the memory of the process that serves them. */
export class Run {
  readonly claims = new TeamClaims();
  readonly rowClaims: RowClaims;
  readonly identities = new Identities();

  /**
   * @param directory the program's folder
   * @param mayGrow true where a seed may come that nobody knows of yet
   */
  constructor(directory: string, mayGrow = false) {
    this.rowClaims = new RowClaims(directory, mayGrow);
  }

  /** For the context of a resource. */
  get known(): Pick<Run, "claims" | "rowClaims" | "identities"> {
    const { claims, rowClaims, identities } = this;
    return { claims, rowClaims, identities };
  }

  /** Notes what a comparison found out for the resources that follow; returns the rest of it. */
  compared(urn: string | undefined, { findings = {}, ...change }: Comparison): Diff {
    const { people, leaving, renewed = [] } = findings;
    if (people) this.claims.found(urn, people);
    if (leaving && urn !== undefined) this.rowClaims.leave(urn, leaving);
    for (const table of renewed) this.rowClaims.renew(table);
    return change;
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
  readonly #deciding = new Map<string, (member: LiveMember) => boolean>();
  /** URNs by what they speak about: a team, a user in a team. */
  readonly #about = new Map<string, Set<string>>();
  /** Subjects of each URN. */
  readonly #spoken = new Map<string, Set<string>>();
  /** By team and user ID: the roles that people have as they are declared, unchanged or set by this run. */
  readonly #roles = new Map<string, Pick<RoleChange<LiveMember>, "role"> & { urn: string }>();
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
  misplaced<Live extends LiveMember>(teamID: string, list: readonly Live[], except?: string): RoleChange<Live>[] {
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
  declaring(teamID: string, member: LiveMember, except?: string): NamedResource | undefined {
    const urns = namesOf(member).flatMap((name) => this.#urns(`team ${teamID} ${name}`));
    const urn = urns.find((one) => one !== except);
    return urn === undefined ? undefined : readName(urn);
  }

  /** The resource that decides on a member now, other than the one that asks. */
  deciding(teamID: string, member: LiveMember, except?: string): NamedResource | undefined {
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

import type { Member } from "../../provider/contract/members.ts";

/** Most organizations, teams and users that are kept, each. */
const most = 5000;

export interface KnownUser {
  id: string | undefined;
  email: string | undefined;
  /** True for people who logged in with a password. */
  logsIn: boolean;
}

export interface KnownTeam {
  id: string;
  organizationID: string | undefined;
  name: string;
  description?: string | null | undefined;
  members: { user: KnownUser; role: "admin" | "member"; id: string | undefined }[];
}

export interface KnownOrganization {
  id: string;
  name: string;
  description?: string | null | undefined;
}

/** Organizations, teams and people that came by. */
export class Directory {
  readonly organizations = new Map<string, KnownOrganization>();
  readonly teams = new Map<string, KnownTeam>();
  readonly users = new Set<KnownUser>();
  /** The first user to log in or to send a token. */
  first: KnownUser | undefined;
  omitted = 0;
  readonly #byID = new Map<string, KnownUser>();
  readonly #byEmail = new Map<string, KnownUser>();

  /** The user of an ID, of an address, or of both; undefined when neither is known. */
  user(id: string | undefined, email: string | undefined): KnownUser | undefined {
    const address = email?.toLowerCase();
    const [one, other] = [id && this.#byID.get(id), address && this.#byEmail.get(address)];
    const found = one || other || this.#newUser(id ?? address);
    if (!found) return undefined;
    if (one && other && one !== other) this.#join(one, other);
    found.id ??= id;
    found.email ??= email;
    if (id !== undefined) this.#byID.set(id, found);
    if (address !== undefined) this.#byEmail.set(address, found);
    return found;
  }

  #newUser(name: string | undefined): KnownUser | undefined {
    if (name === undefined) return undefined;
    if (this.users.size >= most) {
      this.omitted++;
      return undefined;
    }
    const made = { id: undefined, email: undefined, logsIn: false };
    this.users.add(made);
    return made;
  }

  /** Two turn out to be one: one was known by the ID, the other by the address. */
  #join(kept: KnownUser, other: KnownUser): void {
    this.users.delete(other);
    kept.email ??= other.email;
    kept.logsIn ||= other.logsIn;
    if (this.first === other) this.first = kept;
    for (const { members } of this.teams.values()) {
      for (const member of members) if (member.user === other) member.user = kept;
      const [one, ...twice] = members.filter(({ user }) => user === kept);
      if (one) for (const again of twice) members.splice(members.indexOf(again), 1);
    }
  }

  organization(id: string, values: Partial<KnownOrganization>): void {
    put(this.organizations, id, { name: id, ...this.organizations.get(id) }, values, () => this.omitted++);
  }

  team(id: string, values: Partial<KnownTeam>): void {
    const before = this.teams.get(id) ?? { name: id, organizationID: undefined, members: [] };
    put(this.teams, id, before, values, () => this.omitted++);
  }

  deleteOrganization(id: string): void {
    this.organizations.delete(id);
    for (const team of this.teams.values()) if (team.organizationID === id) this.teams.delete(team.id);
  }

  /** Takes a member as it was read or written. */
  join(teamID: string, { userID, email, role, teamMemberID }: Member): void {
    if (!this.teams.has(teamID)) this.team(teamID, {});
    const user = this.user(userID, email);
    const team = this.teams.get(teamID);
    if (!user || !team) return;
    const found = team.members.find((member) => member.user === user) ?? { user, role: "member", id: undefined };
    if (!team.members.includes(found)) team.members.push(found);
    found.id = teamMemberID ?? found.id;
    if (role === "admin" || role === "member") found.role = role;
  }

  /** Takes the list of a team's members. */
  listed(teamID: string, members: readonly Member[]): void {
    this.team(teamID, { members: [] });
    for (const member of members) this.join(teamID, member);
  }

  /** The memberships that a call names: by their own ID, or by team and user. */
  named({ teamMemberID, teamID, userID }: Member): { team: KnownTeam; member: KnownTeam["members"][number] }[] {
    return [...this.teams.values()].flatMap((team) =>
      team.members
        .filter(({ id, user }) =>
          id !== undefined && id === teamMemberID ? true : team.id === teamID && user.id === userID,
        )
        .map((member) => ({ team, member })),
    );
  }

  /** Puts a user into exactly these teams of the organizations that they are of. */
  enforce(teamIDs: readonly string[], member: Member): void {
    const user = this.user(member.userID, member.email);
    if (!user) return;
    const places = new Set(teamIDs.map((id) => this.teams.get(id)?.organizationID));
    for (const team of this.teams.values()) {
      if (teamIDs.includes(team.id) || !places.has(team.organizationID)) continue;
      team.members = team.members.filter((one) => one.user !== user);
    }
    for (const id of teamIDs) this.join(id, member);
  }
}

function put<Thing>(
  all: Map<string, Thing & { id: string }>,
  id: string,
  before: Omit<Thing, "id">,
  values: Partial<Thing>,
  omit: () => void,
): void {
  if (!all.has(id) && all.size >= most) {
    omit();
    return;
  }
  const known = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  all.set(id, { ...before, ...known, id } as Thing & { id: string }); // what is left out stays
}

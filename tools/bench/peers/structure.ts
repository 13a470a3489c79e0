/** Structure that each peer brings up: an organization, its teams, and people who are in the platform already. */
export interface Structure {
  organization: string;
  /** By ID, with what the description of each is. */
  teams: Readonly<Record<string, string>>;
  members: readonly { team: string; userID: string; email: string }[];
}

/** Resources that each peer works on at a time. */
export const atOnce = 10;

const people = 100;
const teams = 10;

export const users = Array.from({ length: people }, (_, at) => ({
  id: `user${at}`,
  email: `u${at}@example.com`,
  password: "none",
}));

/** @param changed with another description of one team */
export const structure = (changed: boolean): Structure => ({
  organization: "bench",
  teams: Object.fromEntries(
    Array.from({ length: teams }, (_, at) => [`team${at}`, changed && at === 0 ? "Another one" : "A team"]),
  ),
  members: users.map(({ id, email }, at) => ({ team: `team${at % teams}`, userID: id, email })),
});

/** A tool, ready to bring the structure up on one platform. */
export interface Peer {
  /** With its version, as the table shows it. */
  name: string;
  up: (structure: Structure) => Promise<void>;
  down: () => Promise<unknown>;
  remove: () => Promise<void>;
}

/** Why a tool can't be had on this machine. */
export class NotHere extends Error {}

/** People that peers bring up: an organization, its teams, and members who are in the platform already. */
export interface People {
  organization: string;
  /** By ID, with what the description of each is. */
  teams: Readonly<Record<string, string>>;
  members: readonly { team: string; userID: string; email: string }[];
}

/** Rows that peers bring up, by their natural key. */
export type PeerRows = Readonly<Record<string, string>>;

/** Resources that each peer works on at a time. */
export const atOnce = 10;

const people = 100;
const teams = 10;
const rows = 1_000;

/** The table of the rows. */
export const table = { name: "parts", fields: { Code: { type: "text", sort: 1 }, Name: "text" } };

export const users = Array.from({ length: people }, (_, at) => ({
  id: `user${at}`,
  email: `u${at}@example.com`,
  password: "none",
}));

/** @param changed with another description of one team */
export const declarePeople = (changed: boolean): People => ({
  organization: "bench",
  teams: Object.fromEntries(
    Array.from({ length: teams }, (_, at) => [`team${at}`, changed && at === 0 ? "Another one" : "A team"]),
  ),
  members: users.map(({ id, email }, at) => ({ team: `team${at % teams}`, userID: id, email })),
});

/** @param changed with another name of one row */
export const declareRows = (changed: boolean): PeerRows =>
  Object.fromEntries(
    Array.from({ length: rows }, (_, at) => [`P${at}`, changed && at === 0 ? "Another one" : `Part ${at}`]),
  );

/** A tool, ready to bring something up on one platform. */
export interface Peer<Structure> {
  /** With its version, as the table shows it. */
  name: string;
  up: (structure: Structure) => Promise<void>;
  down: () => Promise<unknown>;
  remove: () => Promise<void>;
}

/** Why a tool can't be had on this machine. */
export class NotHere extends Error {}

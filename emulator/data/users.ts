import type { Database } from "./database.ts";
import { notFound } from "./platformError.ts";

/** Someone with an account. An invited user has never signed in and has no password. */
export interface User {
  id: string;
  email: string;
  /** Administrator of the whole platform. */
  admin: boolean;
  invited: boolean;
}

interface Kept {
  id: string;
  email: string;
  admin: number;
  invited: number;
}

const columns = "id, email, admin, invited";
const userOf = ({ id, email, admin, invited }: Kept): User => ({
  id,
  email,
  admin: admin === 1,
  invited: invited === 1,
});

export function userByID(database: Database, id: string): User | undefined {
  const found = database.one<Kept>(`SELECT ${columns} FROM users WHERE id = ?`, id);
  return found && userOf(found);
}

/** E-mail addresses are compared without regard to case (assumed). */
export function userByEmail(database: Database, email: string): User | undefined {
  const found = database.one<Kept>(`SELECT ${columns} FROM users WHERE email = ?`, email);
  return found && userOf(found);
}

export function requireUser(database: Database, id: string): User {
  const found = userByID(database, id);
  if (!found) throw notFound("User", id);
  return found;
}

/** The user of an address; a new one is invited. */
export function userOrInvited(database: Database, email: string, newID: () => string, now: number): User {
  const found = userByEmail(database, email);
  if (found) return found;
  const id = newID();
  database.run("INSERT INTO users (id, email, admin, invited, created) VALUES (?, ?, 0, 1, ?)", id, email, now);
  return { id, email, admin: false, invited: true };
}

/** The platform's first administrator; undefined when there is none. */
export function findAdministrator(database: Database): User | undefined {
  const found = database.one<Kept>(`SELECT ${columns} FROM users WHERE admin = 1 ORDER BY created, id LIMIT 1`);
  return found && userOf(found);
}

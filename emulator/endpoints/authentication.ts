import type { CallContext, Handler, User } from "../data/callContext.ts";
import type { Database } from "../data/database.ts";
import { hashToken, isPassword, newToken } from "../data/hashing.ts";
import { userByEmail, userByID } from "../data/people.ts";
import { forbidden, PlatformError, userNotFoundFor } from "../data/platformError.ts";

type Headers = Readonly<Record<string, string | undefined>>;
type Data = Pick<CallContext, "database" | "settings" | "now">;

const refused = (message: string) => new PlatformError("unauthorized", message);

interface Session {
  user_id: string;
  created: number;
}

/** The user whose token and ID the headers name. */
export function findSignedIn({ database, settings, now }: Data, headers: Headers): User {
  const { "x-auth-token": token, "x-user-id": userID } = headers;
  if (!token || !userID) throw refused("You must be logged in: X-Auth-Token and X-User-Id are required");
  const session = database.one<Session>("SELECT user_id, created FROM sessions WHERE token = ?", hashToken(token));
  const ttlMs = settings.tokenSeconds === undefined ? Infinity : settings.tokenSeconds * 1000;
  const user = session?.user_id === userID ? userByID(database, userID) : undefined;
  if (!session || !user) throw refused("You must be logged in: the token is not valid");
  if (now - session.created >= ttlMs) throw refused("You must be logged in: the token has expired");
  return user;
}

/** The user who has the operator's key that the headers name. */
export function requireKey({ database }: Data, headers: Headers): User {
  const key = headers["x-api-key"];
  if (!key) throw refused("x-api-key is required");
  const found = database.one<{ user_id: string }>("SELECT user_id FROM api_keys WHERE key = ?", hashToken(key));
  const user = found && userByID(database, found.user_id);
  if (!user) throw refused("x-api-key is not valid");
  return user;
}

export const login: Handler<"login"> = ({ email, password }, { database, now }) => {
  const user = userByEmail(database, email);
  const kept = user && database.one<{ password: string | null }>("SELECT password FROM users WHERE id = ?", user.id);
  if (!user || !kept?.password || !isPassword(password, kept.password)) {
    throw refused("Login failed: wrong e-mail address or password");
  }
  const authToken = newToken();
  database.run("INSERT INTO sessions VALUES (?, ?, ?, ?)", hashToken(authToken), user.id, now, now);
  return { authToken, userId: user.id };
};

/** Ends the session of a token. */
export function endSession(database: Database, token: string): void {
  database.run("DELETE FROM sessions WHERE token = ?", hashToken(token));
}

export const logout: Handler<"logout"> = (_request, { database, token }) => {
  if (token !== undefined) endSession(database, token);
  return {};
};

export const userid: Handler<"userid"> = ({ email }, { database, settings }) => {
  if (!settings.userLookup) throw forbidden("The endpoint is not enabled");
  const user = userByEmail(database, email);
  if (!user) throw userNotFoundFor(email);
  return { userID: user.id };
};

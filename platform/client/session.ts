import type { AnswerOf } from "../contract/endpoints.ts";
import { ApiError } from "../contract/wire.ts";

/** Token and user ID of authenticated calls. */
export type Credentials = AnswerOf<"login">;

/** Either `email` and `password` to log in with, or `token` and `userId` from elsewhere. */
export interface Account {
  /** Address to log in with. */
  email?: string | undefined;
  /** Password to log in with. */
  password?: string | undefined;
  /** Token of a session that was begun elsewhere; it is neither renewed nor ended. */
  token?: string | undefined;
  /** ID of the user whose token it is. */
  userId?: string | undefined;
}

type Login = (email: string, password: string) => Promise<Credentials>;

/** The session of one client: begun by the first call that needs it, renewed once for all callers. */
export class Session {
  readonly #account: Account;
  readonly #login: Login;
  #current: Promise<Credentials> | undefined;
  /** The credentials of `#current` once they are there. */
  #established: Credentials | undefined;
  readonly #tokens = new Set<string>();

  constructor(account: Account, login: Login) {
    this.#account = account;
    this.#login = login;
  }

  /** True when a refused token can be replaced; a token from the options can't. */
  get renewable(): boolean {
    return this.#account.token === undefined;
  }

  /**
   * Advice about a refused token. It depends on where the token came from: the options, or a login that had gone well.
   */
  get hint(): string {
    return this.renewable
      ? "The login itself went well: the platform ended the session right after it. Look whether the account may have one session at a time, and whether another run or window uses it."
      : "The token that was given is refused: obtain a new one, or set email and password.";
  }

  /** Every token that was in use, for hiding them in messages. */
  get tokens(): Iterable<string> {
    return this.#tokens;
  }

  /** Credentials to send; logs in when there is no session. `refused` are those that the platform no longer accepts. */
  credentials(endpoint: string, refused?: Credentials): Promise<Credentials> {
    const { token, userId, email, password } = this.#account;
    if (token !== undefined && userId !== undefined) return Promise.resolve({ authToken: token, userId });
    if (email === undefined || password === undefined) {
      const missing =
        token === undefined ? "email and password, or token and userId, are not set" : "userId is not set";
      return Promise.reject(new ApiError({ code: "unauthorized", endpoint, message: `Nothing was sent: ${missing}` }));
    }
    if (refused !== undefined && refused === this.#established) this.#forget();
    return (this.#current ??= this.#begin(email, password));
  }

  /** Forgets the session that began here, and returns its credentials for logging out. */
  end(): Credentials | undefined {
    const ended = this.#established;
    this.#forget();
    return ended;
  }

  #forget(): void {
    this.#current = undefined;
    this.#established = undefined;
  }

  async #begin(email: string, password: string): Promise<Credentials> {
    try {
      const credentials = await this.#login(email, password);
      this.#established = credentials;
      this.#tokens.add(credentials.authToken);
      return credentials;
    } catch (error) {
      // Wrong credentials stay wrong: asking again for each call may lock the account.
      if (!(error instanceof ApiError && error.code === "unauthorized")) this.#current = undefined;
      throw error;
    }
  }
}

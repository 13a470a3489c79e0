import type { AnswerOf } from "../contract/endpoints.ts";
import { ApiError } from "../contract/errors.ts";

/** What identifies the caller on authenticated calls. */
export type Credentials = AnswerOf<"login">;

/** Either an e-mail address and password to log in with, or a token that was obtained elsewhere. */
export interface Account {
  email?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
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

  /** Whether a refused token can be replaced: a token that was given can't. */
  get renewable(): boolean {
    return this.#account.token === undefined;
  }

  /** Every token that was in use, for keeping them out of texts. */
  get tokens(): Iterable<string> {
    return this.#tokens;
  }

  /** Credentials to send; logs in when nobody did. `refused` are those that the platform takes no longer. */
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

  /** Ends the session that was begun here and answers which it was; the caller logs it out. */
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

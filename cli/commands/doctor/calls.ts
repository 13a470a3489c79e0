import { createClient } from "../../../provider/client/client.ts";
import type { Calls } from "../../../provider/client/http/call.ts";
import type { Client, ClientOptions } from "../../../provider/client/options.ts";
import type { AnswerOf, EndpointName, RequestOf } from "../../../provider/contract/endpoints.ts";
import { ApiError } from "../../../provider/contract/errors.ts";
import type { Configuration } from "../../../provider/pulumi/configuration/configuration.ts";

/**
 * Every endpoint that may be called. They read, but for `login` and `logout`, which begin and end the session.
 * Independently of this list the client refuses all calls that may change something.
 */
export const readingEndpoints = [
  "login",
  "logout",
  "readorganization",
  "userid",
  "teammembers",
  "microappdata",
  "createappwithpromptStatus",
] as const satisfies readonly EndpointName[];
type Reading = (typeof readingEndpoints)[number];

/** Milliseconds that one call may take. */
const callMs = 30_000;

/** The calls are spent: a table whose pages are very small takes more than others. */
export class CallsSpent extends Error {}

interface Options {
  url: string;
  settings: Configuration;
  /** How the platform was seen to behave. */
  profile?: ClientOptions["profile"];
  /** Highest number of calls, those without an account included. */
  most: number;
  /** Milliseconds that one call may take (default 30,000). */
  timeoutMs?: number | undefined;
}

/** The calls to the platform: those on the list alone, counted, each sent once. */
export class ReadingCalls {
  readonly most: number;
  readonly #options: Options;
  readonly #allowed: ReadonlySet<string> = new Set(readingEndpoints);
  readonly #clients: Client[] = [];
  #client: Client | undefined;
  #session: AnswerOf<"login"> | undefined;
  #hasTriedLogin = false;
  #made = 0;

  constructor(options: Options) {
    this.#options = options;
    this.most = options.most;
  }

  /** Number of calls so far. */
  get made(): number {
    return this.#made;
  }

  /** The user who makes the calls; undefined before the login. */
  get userID(): string | undefined {
    return this.#session?.userId;
  }

  /** Notes one call. Throws CallsSpent when there must be no other. */
  count(): void {
    if (this.#made >= this.most) throw new CallsSpent(`${this.most} calls were made`);
    this.#made++;
  }

  /** Logs in, or takes the token of the settings. A second login is never tried: too many lock an account. */
  async login(signal: AbortSignal): Promise<void> {
    const { token, userID, email, password } = this.#options.settings;
    if (token !== undefined && userID !== undefined) this.#use({ authToken: token, userId: userID });
    else {
      if (this.#hasTriedLogin) throw new Error("a login was tried already");
      this.#hasTriedLogin = true;
      this.count();
      const nobody = this.#connect({});
      this.#use(await nobody.login({ email: email ?? "", password: password ?? "" }, { signal }));
    }
  }

  /** Calls an endpoint as the user. */
  async call<Name extends Reading>(name: Name, request: RequestOf<Name>, signal: AbortSignal): Promise<AnswerOf<Name>> {
    if (!this.#allowed.has(name)) throw new Error(`${name} is not on the list`);
    if (!this.#client) throw new Error("nobody is logged in");
    this.count();
    const client: Calls<Reading> = this.#client;
    return client[name](request, { signal });
  }

  /** The reads of a table, of which there may be `most`. */
  reads(most: number): Calls<"microappdata"> {
    let left = most;
    return {
      microappdata: (request, options = {}) => {
        if (left-- <= 0) return Promise.reject(new CallsSpent(`${most} calls were made for this table`));
        return this.call("microappdata", request, options.signal ?? new AbortController().signal);
      },
    };
  }

  /** Ends the session that began here. */
  async close(): Promise<void> {
    if (this.#hasTriedLogin && this.#session && this.#client) {
      this.#made++;
      await this.#client.logout(this.#session, { timeout: 2_000 }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error; // the token expires by itself
      });
    }
    for (const client of this.#clients) await client.close();
  }

  #use(session: AnswerOf<"login">): void {
    this.#session = session;
    // With a token of its own the client never logs in by itself.
    this.#client = this.#connect({ token: session.authToken, userId: session.userId });
  }

  #connect(account: { token?: string; userId?: string }): Client {
    const { url, settings, profile, timeoutMs = callMs } = this.#options;
    const client = createClient({
      endpoint: url,
      ...account,
      apiKey: settings.apiKey,
      wireNames: settings.wireNames,
      profile,
      readOnly: true,
      timeouts: { connect: timeoutMs, headers: timeoutMs, body: timeoutMs, call: timeoutMs },
      retries: { attempts: 1, connects: 1 },
    });
    this.#clients.push(client);
    return client;
  }
}

import type { ErrorCode } from "../../contract/wire.ts";

/** Time-outs in milliseconds. */
export interface SenderTimeouts {
  /** For opening a connection (default 10,000). */
  connect: number;
  /** From the end of the request to the answer's headers (default 120,000). */
  headers: number;
  /** Between two parts of the answer's body (default 120,000). */
  body: number;
}

/** The failure of a request that brought no reply. `unreachable` means that nothing was sent. */
export class TransportError extends Error {
  readonly code: Extract<ErrorCode, "unreachable" | "timeout" | "connectionLost" | "badAnswer" | "cancelled">;
  /** True when trying again is pointless. */
  readonly lasting: boolean;

  constructor(code: TransportError["code"], message: string, lasting = false) {
    super(message);
    this.name = "TransportError";
    this.code = code;
    this.lasting = lasting;
  }
}

/** A request to an origin. */
export interface Sending {
  method: "GET" | "POST";
  /** Path with query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** An answer whose body has not been read. */
export interface RawAnswer {
  status: number;
  header: (name: "retry-after" | "date" | "location") => string | undefined;
  body: AsyncIterable<Uint8Array>;
}

/** Sends requests to one origin. A bundle for Node has that of undici, one for browsers that of `fetch`. */
export interface HttpSender {
  send: (request: Sending, signal: AbortSignal) => Promise<RawAnswer>;
  /** Describes the failure of a request, or of the body that it brought, without anything that was sent. */
  failureOf: (error: unknown) => TransportError;
  /** Drops all connections; running requests fail as cancelled. */
  close: () => Promise<void>;
}

export interface HttpSenderOptions {
  timeouts: SenderTimeouts;
  /** Highest number of connections. */
  connections: number;
}

/** Codes of an error. Nothing else of it is passed on: its text may hold what was sent. */
export function codesOf(error: unknown): { code: string; syscall: string | undefined } {
  const { code, syscall, errors: attempts } = (error ?? {}) as { code?: unknown; syscall?: unknown; errors?: unknown };
  const first = Array.isArray(attempts) ? codesOf(attempts[0]) : undefined; // one error for each address of a name
  return {
    code: typeof code === "string" ? code : (first?.code ?? "no code"),
    syscall: typeof syscall === "string" ? syscall : first?.syscall,
  };
}

const unconnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EMFILE"]);

/** Describes the failure of a connection by its codes; undefined where they name none. */
export function failureOfConnection(error: unknown, origin: string): TransportError | undefined {
  const { code, syscall } = codesOf(error);
  if (syscall === "connect" || syscall === "getaddrinfo" || unconnected.has(code)) {
    return new TransportError("unreachable", `Nothing answers at ${origin} (${code})`);
  }
  if (/CERT|ERR_TLS|ERR_SSL|EPROTO|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return new TransportError("unreachable", `No secure connection to ${origin} is possible (${code})`, true);
  }
  return undefined;
}

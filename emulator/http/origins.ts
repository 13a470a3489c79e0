import type { Arrived, Outgoing } from "./server.ts";

// A browser lets a page read what another origin answers only where the answer names the page's origin.

export const isPreflight = ({ method, headers }: Arrived): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/** Answers a browser that asks what a page may send: what clients send, and for two hours. */
export const preflight = (origin: string): Outgoing =>
  allowPages(
    {
      status: 204,
      body: Buffer.alloc(0),
      headers: {
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "content-type, x-auth-token, x-user-id, x-api-key",
        "access-control-max-age": "7200",
      },
    },
    origin,
  );

/** An answer that pages of an origin may read; without one, that depends on the origin alone. */
export const allowPages = (outgoing: Outgoing, origin: string | undefined): Outgoing => ({
  ...outgoing,
  headers: {
    ...outgoing.headers,
    vary: "origin",
    ...(origin === undefined
      ? {}
      : { "access-control-allow-origin": origin, "access-control-expose-headers": "date, retry-after" }),
  },
});

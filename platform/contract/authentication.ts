import { z } from "zod";
import { endpoint, parameters } from "./endpoint.ts";
import { done, found, holderIn } from "./envelopes.ts";
import { email, id } from "./values.ts";
import type { Json } from "./wire.ts";

const session = z.object({
  authToken: z
    .string()
    .regex(/^[\x21-\x7e\x80-\xff]+$/)
    .describe("Token for the header X-Auth-Token. Its lifetime is not documented."),
  userId: id.describe("The user's ID, for the header X-User-Id."),
});

export const login = endpoint({
  summary: "Starts a session.",
  path: "/api/login",
  auth: "none",
  effect: "idempotent",
  request: z.object({ email, password: z.string().min(1) }),
  answer: session,
  // An older form has the values under `data`.
  wrap: (answer) => ({ status: "success", ...answer, data: answer }),
  unwrap: (wire) => holderIn(wire, "login"),
  errors: ["unauthorized"],
});

export const logout = endpoint({
  summary: "Ends the session of the token.",
  path: "/api/logout",
  auth: "token",
  effect: "idempotent",
  // The specification has the IDs in the headers, clients in the field send them in the body: both are sent.
  request: session.partial(),
  ...done,
  errors: ["unauthorized"],
});

export const userid = endpoint({
  summary: "Finds the user ID that belongs to an e-mail address. Works only where it is enabled.",
  method: "GET",
  path: "/api/userid",
  auth: "token",
  effect: "read",
  request: z.object({ email }),
  accept: parameters, // the query, a GET's JSON body and a POST's are all in use
  answer: z.object({ userID: id }),
  wrap: (answer): Json => ({ body: { status: "success", message: "User found", ...answer } }),
  unwrap: (wire) => ({ userID: found(wire, "userid") }),
  errors: ["notFound", "forbidden"],
});

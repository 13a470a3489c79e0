import { z } from "zod";
import { endpoint, parameters } from "./endpoint.ts";
import { done } from "./envelopes.ts";
import { answeredID, email, id } from "./values.ts";
import { firstOf, isObject, placesOf, type Json } from "./wire.ts";

const session = z.object({
  authToken: z
    .string()
    .regex(/^[\x21-\x7e\x80-\xff]+$/)
    .describe("Token for the header X-Auth-Token. Its lifetime is not documented."),
  userId: answeredID.describe("The user's ID, for the header X-User-Id."),
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
  unwrap: (wire) => firstOf(wire, "data", "body", "result") ?? wire,
  errors: ["unauthorized"],
});

export const logout = endpoint({
  summary: "Ends the session of the token.",
  path: "/api/logout",
  auth: "token",
  effect: "idempotent",
  // The specification has the IDs in the headers, clients in the field send them in the body: both are sent.
  request: session.extend({ userId: id }).partial(), // numbers are IDs in answers alone
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
  answer: z.object({ userID: answeredID }),
  wrap: (answer): Json => ({ body: { status: "success", message: "User found", ...answer } }),
  unwrap: (wire) => {
    const found = firstOf(wire, ...placesOf("userID", "userId"), "body", "result", "data") ?? wire;
    return isObject(found) ? found : { userID: found };
  },
  errors: ["notFound", "forbidden"],
});

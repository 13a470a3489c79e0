import { orUndefinedIfNotFound } from "../../platform/contract/errors.ts";
import { InputError } from "./function.ts";

/**
 * Turns the platform's "not found" into an error of the input that named the thing. What was asked for is not quoted: an
 * engine does not tell a plugin which arguments of a function are secrets.
 */
export async function requireFound<Answer>(
  property: string,
  what: string,
  asked: Promise<Answer | undefined>,
): Promise<Answer> {
  const answer = await orUndefinedIfNotFound(asked);
  if (answer === undefined) throw new InputError(property, `there is no such ${what} on the platform`);
  return answer;
}

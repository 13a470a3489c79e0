import satisfies from "semver/functions/satisfies.js";
import validRange from "semver/ranges/valid.js";
import { Refusal } from "../errors.ts";

/** The version of the Pulumi CLI that this engine was held against. */
export const pulumiVersion = "3.260.0";

/**
 * Refuses a range of versions of the CLI that this engine does not stand for.
 * @param range as Pulumi writes it: `>=3.5.0 !3.7.7`, alternatives between `||`
 * @param where what asks for it
 */
export function refuseOtherVersion(range: string, where: string): void {
  const alternatives = range.split("||").map((part) =>
    part
      .trim()
      .replaceAll(/([<>=!]+)\s+/g, "$1")
      .split(/\s+/),
  );
  const wrong = alternatives.flat().find((token) => validRange(token.replace(/^!=?/, "")) === null || token === "");
  if (wrong !== undefined) throw new Refusal(`${where}: '${range}' is not a range of versions such as >=3.200.0`);
  const includes = (token: string): boolean =>
    token.startsWith("!") ? !satisfies(pulumiVersion, token.replace(/^!=?/, "")) : satisfies(pulumiVersion, token);
  if (alternatives.some((tokens) => tokens.every(includes))) return;
  throw new Refusal(
    `${where}: Pulumi ${range} is required, and the embedded engine does what Pulumi ${pulumiVersion} does: use a Pulumi ` +
      "CLI of that range, or widen the range",
  );
}

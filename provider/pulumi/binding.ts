import { withoutUndefined } from "../../platform/contract/values.ts";
import { quote } from "../../platform/messages/text.ts";
import { once, ResourceError } from "../resources/model/resource.ts";
import { type Configuration, originOf } from "./configuration.ts";
import type { Properties } from "./properties.ts";

/** The output by which each resource knows the platform that it is on. */
export const bindingOutput = "platform";

/** A platform as states name it: its address without an account, and the organization when the configuration has one. */
export const platformOf = once(
  ({ endpoint, organizationID }: Configuration) =>
    addressOf(endpoint) + (organizationID === undefined ? "" : `#${organizationID}`),
);

/** The address of a platform, without what a new emulator file is planted with. */
export function addressOf(endpoint: string): string {
  // The query names what a new file is planted with.
  if (endpoint.startsWith("emulator:")) return endpoint.replace(/\?.*$/, "");
  if (!URL.canParse(endpoint)) return endpoint;
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}

/** A resource's outputs, with the platform that it is on. */
export const bind = (outputs: Properties, configuration: Configuration): Properties => ({
  ...withoutUndefined(outputs), // which has no form in a message
  [bindingOutput]: platformOf(configuration),
});

/** True when the platform's address changed (movedFrom). Throws when the state is of another platform. */
export function isMoved(state: Properties, configuration: Configuration): boolean {
  const bound = state[bindingOutput];
  const here = platformOf(configuration);
  if (typeof bound !== "string" || bound === here) return false;
  const [[address, known], [now, wanted]] = [bound.split("#"), here.split("#")];
  // A state from before the configuration named an organization may say itself where it is, as a team's does.
  const ownID = state["organizationID"];
  const organization = known ?? (typeof ownID === "string" ? ownID : undefined);
  const sameOrganization = organization === undefined || wanted === undefined || organization === wanted;
  const { movedFrom } = configuration;
  if (sameOrganization && address === now) return false;
  if (movedFrom !== undefined && [bound, address].includes(addressOf(movedFrom))) return true;
  const there = sameOrganization ? bound : `${address}#${organization}`;
  const place = nameOf(configuration, address);
  throw new ResourceError(
    `it belongs to the platform ${there}, and the configuration says ${place}: nothing was sent. Use the stack or the ` +
      `configuration of that platform; if it is the same platform in another place, set microapps:movedFrom to ${quote(bound)}.`,
  );
}

/** The platform of a configuration in an error: of the endpoint its origin alone, the rest may be a secret in the wrong place. */
function nameOf({ endpoint, organizationID }: Configuration, other: string | undefined): string {
  const origin = originOf(endpoint);
  const address = addressOf(endpoint);
  const place = origin === "emulator:" ? "another emulator" : address === origin ? origin : `${origin} with a path`;
  return (address === other ? address : place) + (organizationID === undefined ? "" : `#${organizationID}`);
}

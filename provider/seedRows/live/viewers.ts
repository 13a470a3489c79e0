import { messageOf } from "../../../machine/failures.ts";
import { orUndefinedIfNotFound } from "../../../platform/contract/errors.ts";
import { quote } from "../../../platform/messages/text.ts";
import { type Context, ResourceError } from "../../resources/model/resource.ts";
import { isAddress, type NamedViewers, type ViewerIDs } from "../kept/viewers.ts";

/** The addresses that a seed names, each with its place. */
const addressesOf = ({ viewers = [], userID }: NamedViewers): { place: string; address: string }[] =>
  [
    ...viewers.map((address, at) => ({ place: `viewers[${at}]`, address })),
    ...(userID === undefined ? [] : [{ place: "userID", address: userID }]),
  ].filter(({ address }) => isAddress(address));

/** Looks up the addresses that a seed names. Throws for those that nobody has; undefined where it names none. */
export async function lookUpViewers(context: Context, seed: NamedViewers): Promise<ViewerIDs | undefined> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const { place, address } of addressesOf(seed)) {
    if (found.has(address)) continue;
    try {
      const user = await orUndefinedIfNotFound(context.client.userid({ email: address }, { signal: context.signal }));
      const id = user?.userID;
      if (id === undefined) missing.push(`${place}: no user of the platform has the address ${quote(address)}`);
      else found.set(address, id);
    } catch (error) {
      throw new ResourceError(
        `${place}: ${quote(address)} can't be looked up, so name the user's ID: ${messageOf(error)}`,
      );
    }
  }
  if (missing.length > 0)
    throw new ResourceError(
      `${missing.join("\n")}\nInvite who is missing first, as a member of a team, or correct the address.`,
    );
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

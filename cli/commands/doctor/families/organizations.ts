import { nearest } from "../../../../machine/spelling.ts";
import { ApiError, isAdvised } from "../../../../provider/contract/errors.ts";
import type { Check } from "../checks.ts";
import type { CheckContext } from "../context.ts";
import { noteFinding, well, wrong, type Finding } from "../findings.ts";
import { command, setting } from "../mending.ts";
import type { Subject } from "../subject.ts";
import { callsOf, explainExpired, explainUnanswered } from "./account.ts";

/** Organizations that are looked at. */
const most = 10;

/** A check of the organization that the configuration names, and of each one of the state. */
export function organizationChecks({ settings, declared }: Subject): Check[] {
  const configured = settings?.organizationID;
  const ids = [
    ...new Set([...(configured === undefined ? [] : [configured]), ...declared.organizations.map(({ id }) => id)]),
  ];
  if (ids.length === 0) {
    const look = (): Finding =>
      noteFinding("None is configured, and the state has none.", "An up makes those that the program declares.");
    return [{ id: "organization", title: "organization", needs: ["login"], look }];
  }
  return ids.slice(0, most).map((id) => ({
    id: `organization:${id}`,
    title: `organization ${id}`,
    needs: ["login"],
    look: (context) => lookAt(context, id, id === configured),
  }));
}

async function lookAt(context: CheckContext, id: string, isConfigured: boolean): Promise<Finding> {
  try {
    const { organization } = await callsOf(context).call("readorganization", { organizationID: id }, context.signal);
    if (!organization) return missing(context, id, isConfigured);
    return well(`It is "${organization.name}", and this account may read it.`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "unauthorized") return explainExpired(context, error);
    if (["notFound", "invalidRequest"].includes(error.code) && !isAdvised(error))
      return missing(context, id, isConfigured);
    if (error.code !== "forbidden") return explainUnanswered(context, "readorganization", error);
    return wrong(
      `This account may not read organization ${id}.`,
      "It is not a member: have an administrator add it, or log in as one.",
      [setting(context.subject.place, "email")],
    );
  }
}

function missing({ subject: { declared, place } }: CheckContext, id: string, isConfigured: boolean): Finding {
  const seen = `There is no organization ${id} on the platform.`;
  if (!isConfigured) {
    return wrong(seen, "The state remembers it: it was removed by hand, or the state is of another platform.", [
      command(place, "refresh"),
    ]);
  }
  const called = declared.organizations.find(({ name }) => name === id);
  if (called) {
    return wrong(
      `microapps:organizationID has the name of an organization and not its ID.`,
      `The ID of "${id}" is ${called.id}.`,
      [setting(place, "organizationID", called.id)],
    );
  }
  const near = nearest(
    id,
    declared.organizations.map((each) => each.id),
  );
  if (near !== undefined) return wrong(seen, `Did you mean ${near}?`, [setting(place, "organizationID", near)]);
  const means = /\s|^[A-Z][a-z]+$/.test(id)
    ? "It looks like a name, and an ID is wanted: the platform shows it, and so does the state of whoever made it."
    : "The ID is mistyped, or of another platform.";
  return wrong(seen, means, [setting(place, "organizationID")]);
}

import { ApiError, isAdvised } from "../../../../provider/contract/errors.ts";
import { printableLine } from "../../../../provider/messages/text.ts";
import type { ReadingCalls } from "../calls.ts";
import type { Check } from "../checks.ts";
import type { CheckContext } from "../context.ts";
import { noteFinding, well, wrong, type Finding } from "../findings.ts";
import { command, setting, unsetting } from "../mending.ts";
import { shown } from "./connection.ts";

/** The calls of a session, which is there by now. */
export const callsOf = ({ learned: { calls } }: CheckContext): ReadingCalls => {
  if (!calls) throw new Error("the platform has answered by now");
  return calls;
};

/** The platform's own message, in one line: nobody else knows the reason. */
export const wordsOf = ({ platformMessage }: ApiError): string => printableLine(platformMessage).replace(/[.]+$/, "");

/** An ID that no platform gives. */
const nobody = "none";

const login: Check = {
  id: "login",
  title: "login",
  needs: ["answer"],
  look: async (context) => {
    const { settings } = context.subject;
    const calls = callsOf(context);
    try {
      await calls.login(context.signal);
      if (settings?.token === undefined)
        return well(`The platform takes ${settings?.email ?? ""} as user ${calls.userID ?? ""}.`);
      await tryToken(context);
      return well(`The platform takes the token of user ${calls.userID ?? ""}.`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return refusedLogin(context, error);
    }
  },
};

/** A token is not logged in with: any answer but a refusal shows that it is good. */
async function tryToken(context: CheckContext): Promise<void> {
  const { organizationID = nobody } = context.subject.settings ?? {};
  try {
    await callsOf(context).call("readorganization", { organizationID }, context.signal);
  } catch (error) {
    if (!(error instanceof ApiError) || !["notFound", "forbidden", "invalidRequest"].includes(error.code)) throw error;
  }
}

const refused = (finding: Finding): Finding => ({ ...finding, isRefusal: true });

function refusedLogin(context: CheckContext, error: ApiError): Finding {
  const { place, settings } = context.subject;
  const words = wordsOf(error);
  const { email = "", password = "", token, userID } = settings ?? {};
  if (error.code === "rateLimited" || /\block|too many|attempts/i.test(words)) {
    const means =
      "Wait before the next try: each one may make it longer. An administrator of the platform can unlock an account.";
    return refused(wrong(`The platform takes no login for now: ${words}.`, means));
  }
  if (error.code === "unauthorized" && token !== undefined) {
    const means = "It has expired, or belongs to another user than microapps:userID, or to another platform.";
    return refused(
      wrong(`The platform refuses the token of user ${userID ?? ""}: ${words}.`, means, [
        setting(place, "token"),
        setting(place, "userID"),
        unsetting(place, "token"),
      ]),
    );
  }
  if (
    token === undefined &&
    ["unauthorized", "forbidden", "notFound", "rejected", "invalidRequest"].includes(error.code)
  ) {
    const strange = [["password", password] as const, ["email", email] as const].find(([, value]) =>
      /^\s|\s$|[\r\n]/.test(value),
    );
    if (strange) {
      const [key] = strange;
      const seen = `The platform refuses the login, and the ${key} begins or ends with white space or a line break.`;
      return refused(
        wrong(seen, "It came with the file or the command that it was copied from.", [setting(place, key)]),
      );
    }
    const means =
      "The password or the address is wrong, or the user is unknown here. It was tried once: more may lock the account.";
    return refused(
      wrong(`The platform refuses the login of ${email}: ${words}.`, means, [
        setting(place, "password"),
        setting(place, "email"),
      ]),
    );
  }
  return explainUnanswered(context, "login", error);
}

/** A call that brought no answer that can be used: most of the reasons pass. */
export function explainUnanswered(context: CheckContext, what: string, error: ApiError): Finding {
  const here = shown(context);
  const { code, status, platformMessage } = error;
  const again = [command(context.subject.place, "doctor")];
  if (code === "badAnswer") {
    const means = "It is none of the forms that are known of this platform, or was cut on its way.";
    return wrong(
      `${here} answers ${what} in a form that is not known: ${printableLine(platformMessage)}.`,
      means,
      again,
    );
  }
  if (code === "rateLimited") {
    return wrong(`${here} takes no more calls for now (HTTP 429).`, "Wait a few minutes, and run this again.", again);
  }
  const later = "It, or something on the way, does not work or is very slow: try again later.";
  if (code === "timeout") return wrong(`${here} gives no answer to ${what}.`, later, again);
  if (code === "connectionLost" || code === "unreachable") {
    return wrong(`${here} ends the connection without an answer to ${what}.`, later, again);
  }
  if (status !== undefined && status >= 500) return wrong(`${here} fails at ${what} (HTTP ${status}).`, later, again);
  const means = isAdvised(error) ? error.hint : "The platform's operator knows why.";
  return wrong(`${here} refuses ${what}: ${wordsOf(error)}.`, means, again);
}

const rightsCheck = (organizations: readonly Check[]): Check => ({
  id: "rights",
  title: "rights",
  needs: ["login", ...organizations.map(({ id }) => id)],
  look: async (context) => {
    const { declared, settings } = context.subject;
    const calls = callsOf(context);
    const who = settings?.email ?? `user ${calls.userID ?? ""}`;
    const teamIDs = declared.teams.slice(0, maxTeams);
    if (teamIDs.length === 0) {
      return noteFinding(
        `No endpoint says what ${who} may do, and the state has no team to see it by.`,
        "The first up shows it: creating an organization takes an administrator of the platform.",
      );
    }
    try {
      const { teamMembers } = await calls.call("teammembers", { teamIDs }, context.signal);
      const own = teamMembers.filter(
        ({ userID, email }) =>
          userID === calls.userID || (email !== undefined && email.toLowerCase() === settings?.email?.toLowerCase()),
      );
      if (own.length === 0) return noteFinding(`${who} is in none of the ${teamIDs.length} teams of the state.`, means);
      const admin = own.filter(({ role }) => role === "admin").length;
      if (own.every(({ role }) => role === undefined))
        return noteFinding(`${who} is in ${own.length} teams; the platform lists no roles.`, means);
      const teams = teamIDs.length === 1 ? "the state's team" : `the state's ${teamIDs.length} teams`;
      const seen = `${who} is administrator of ${admin === teamIDs.length ? "" : `${admin} of `}${teams}.`;
      return admin === teamIDs.length ? well(seen) : noteFinding(seen, means);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "unauthorized") return explainExpired(context, error);
      if (error.code === "notFound")
        return noteFinding(
          "A team of the state is not on the platform.",
          "It was removed by hand: the next refresh sees it.",
        );
      if (error.code !== "forbidden") return explainUnanswered(context, "teammembers", error);
      return notAllowed(who, context);
    }
  },
});

const maxTeams = 50;
const means =
  "Teams and members can be changed by administrators of the organization, of the team, or of the platform.";

const notAllowed = (who: string, { subject: { place } }: CheckContext): Finding =>
  wrong(
    `${who} may not read the teams of the state.`,
    "The account is not a member of their organization: log in as an administrator, or be made one.",
    [setting(place, "email")],
  );

/** A session that ends while it is used. */
export const explainExpired = ({ subject: { place } }: CheckContext, error: ApiError): Finding =>
  refused(
    wrong(
      `The platform ended the session after the login: ${wordsOf(error)}.`,
      "Tokens live too short for a run, or somebody logs the account out: use an account of its own.",
      [setting(place, "email")],
    ),
  );

const apiKey: Check = {
  id: "apiKey",
  title: "API key",
  needs: ["login"],
  look: async (context) => {
    const { declared, settings, place } = context.subject;
    if (settings?.apiKey === undefined) {
      if (!declared.usesApps) return well("None is set, and no app is generated that would need one.");
      return wrong("No API key is set, and the program generates apps.", "The platform's operator gives it.", [
        setting(place, "apiKey"),
      ]);
    }
    try {
      await callsOf(context).call("createappwithpromptStatus", { appID: nobody }, context.signal);
      return well("The platform takes it.");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "unauthorized") {
        if (!/key/i.test(wordsOf(error))) return explainExpired(context, error);
        return wrong(
          `The platform refuses the API key: ${wordsOf(error)}.`,
          "It was revoked or mistyped, or is of another platform: ask the operator.",
          [setting(place, "apiKey")],
        );
      }
      if (["notFound", "invalidRequest"].includes(error.code)) return well("The platform takes it.");
      if (error.code === "forbidden" || error.code === "notImplemented") {
        return noteFinding(
          `Apps can't be generated: ${wordsOf(error)}.`,
          "It takes a deployment of one's own, and a license for it.",
        );
      }
      return explainUnanswered(context, "createappwithpromptStatus", error);
    }
  },
};

export { login as loginCheck, rightsCheck, apiKey as keyCheck };

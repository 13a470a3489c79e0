import { isObject, answerIn, refusalIn } from "../../../../provider/contract/wire.ts";
import { printableLine } from "../../../../provider/messages/text.ts";
import type { Check } from "../checks.ts";
import type { CheckContext } from "../context.ts";
import { well, wrong, type Finding } from "../findings.ts";
import { setting } from "../mending.ts";
import { codeOf, type Reached } from "../network.ts";
import { addressOf, toProbeAddress, shown } from "./connection.ts";

/** True if what answers is the platform: it refuses, in its own form, who has no session. */
export const answerCheck: Check = {
  id: "answer",
  title: "answer",
  needs: ["certificate"],
  look: async (context) => {
    const { learned, timeoutMs } = context;
    const url = addressOf(context);
    learned.calls?.count();
    let reached: Reached;
    try {
      reached = await context.network.request(toProbeAddress(url), "POST", timeoutMs);
    } catch (error) {
      return unanswered(context, codeOf(error));
    }
    learned.answer = reached;
    const finding = findingOf(context, reached);
    if (finding) return finding.isElsewhere ? elsewhere(context, finding) : finding;
    return well(`${shown(context)} answers as the platform does.`);
  },
};

/** A connection that ends without an answer: perhaps it should have been a secure one. */
async function unanswered(context: CheckContext, code: string): Promise<Finding> {
  const url = addressOf(context);
  const { place } = context.subject;
  if (url.protocol === "http:" && code !== "ETIMEDOUT") {
    const secure = new URL(url);
    secure.protocol = "https:";
    if (url.port === "") secure.port = "80";
    const isSecure = await context.network.certificate(secure, context.timeoutMs).then(
      () => true,
      () => false,
    );
    if (isSecure) return secureInstead(context, secure);
  }
  const seen =
    code === "ETIMEDOUT"
      ? `${shown(context)} takes connections and gives no answer.`
      : `${shown(context)} ends the connection without an answer (${code}).`;
  return wrong(seen, "The platform, or something on the way, is not working: try again later, or ask the operator.", [
    setting(place, "endpoint"),
  ]);
}

const secureInstead = (context: CheckContext, secure: URL): Finding =>
  wrong(`${shown(context)} wants https:// and not http://.`, "Nothing secret was sent.", [
    setting(context.subject.place, "endpoint", secure.origin + secure.pathname.replace(/\/+$/, "")),
  ]);

interface Judgement extends Finding {
  /** True if the platform may be at another path of the server. */
  isElsewhere?: boolean;
}

/** Describes the problem of an answer; nothing for an answer of the platform. */
function findingOf(context: CheckContext, { status, location, text }: Reached): Judgement | undefined {
  const { place } = context.subject;
  const endpoint = [setting(place, "endpoint")];
  const here = shown(context);
  if (status >= 300 && status < 400) return redirected(context, status, location);
  const trimmed = (text ?? "").trim();
  const wire = answerIn(trimmed);
  const refusal = wire === undefined ? undefined : refusalIn(wire);
  if (status === 407 || status === 511) {
    return wrong(
      `Something on the way wants a login of its own (HTTP ${status}).`,
      "It is a proxy or the network's own page: log in there first.",
    );
  }
  if (status === 429) {
    return wrong(
      `${here} takes no more calls for now (HTTP 429).`,
      "It limits calls by account or address: wait a few minutes, and run this again.",
    );
  }
  if (status >= 500) {
    const words = refusal === undefined ? "" : `: ${printableLine(refusal)}`;
    return wrong(
      `${here} is not working now (HTTP ${status})${words}.`,
      "Try again later; if it persists, ask the platform's operator.",
    );
  }
  if (/http request was sent to https|https port/i.test(trimmed)) {
    const secure = new URL(addressOf(context).href.replace(/^http:/, "https:"));
    return secureInstead(context, secure);
  }
  if (text === undefined) return { ...foreign(here, "something endless"), mend: endpoint };
  if (wire === undefined) {
    const what = trimmed.startsWith("<")
      ? "a web page"
      : trimmed === ""
        ? `nothing (HTTP ${status})`
        : "something that is not JSON";
    return { ...foreign(here, what), mend: endpoint, isElsewhere: true };
  }
  if (status === 404 || status === 405) {
    return { ...foreign(here, `HTTP ${status} in JSON`), mend: endpoint, isElsewhere: true };
  }
  const isOurs =
    refusal !== undefined ||
    status === 401 ||
    status === 403 ||
    (isObject(wire) && ("status" in wire || "body" in wire));
  return isOurs ? undefined : { ...foreign(here, "JSON of another kind"), mend: endpoint, isElsewhere: true };
}

const foreign = (here: string, what: string): Finding =>
  wrong(
    `${here} answers with ${what} where the platform's API should be.`,
    "The endpoint is another server's, or its path is wrong.",
  );

function redirected(context: CheckContext, status: number, location: string | undefined): Finding {
  const url = addressOf(context);
  const { place } = context.subject;
  const here = shown(context);
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol)) {
    return wrong(`${here} redirects to no address (HTTP ${status}).`, "No redirect is followed.", [
      setting(place, "endpoint"),
    ]);
  }
  if (target.origin === url.origin) {
    return wrong(
      `${here} redirects to another path (HTTP ${status}).`,
      "A login page stands before it, or the endpoint's path is wrong.",
      [setting(place, "endpoint")],
    );
  }
  const means = "No redirect is followed: the password would go where nobody said. If that is your platform, say so.";
  return wrong(`${here} redirects to ${target.origin} (HTTP ${status}).`, means, [
    setting(place, "endpoint", target.origin),
  ]);
}

/** Tries the server without the endpoint's path, where there is one. */
async function elsewhere(context: CheckContext, { isElsewhere: _, ...finding }: Judgement): Promise<Finding> {
  const url = addressOf(context);
  const calls = context.learned.calls;
  if (url.pathname.replace(/\/+$/, "") === "") return finding;
  calls?.count();
  const root = await context.network.request(toProbeAddress(url, ""), "POST", context.timeoutMs).catch(() => undefined);
  if (root === undefined || findingOf(context, root) !== undefined) return finding;
  return wrong(
    `The platform answers at ${url.origin}, and not below the path of the endpoint.`,
    "The endpoint is the address without /api.",
    [setting(context.subject.place, "endpoint", url.origin)],
  );
}

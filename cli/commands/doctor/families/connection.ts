import { isIP } from "node:net";
import { messageOf } from "../../../../machine/failures.ts";
import { hostOf, ProxyError, proxyFor, describeProxy } from "../../../../provider/client/http/proxies.ts";
import { endpoints } from "../../../../provider/contract/endpoints.ts";
import { readProfile } from "../../../../provider/layers/profileFile.ts";
import { some } from "../../../../provider/messages/text.ts";
import { locatePlatform } from "../../../../provider/pulumi/platform.ts";
import { ReadingCalls } from "../calls.ts";
import type { Check } from "../checks.ts";
import type { CheckContext } from "../context.ts";
import { noteFinding, well, wrong, type Finding } from "../findings.ts";
import { quoteForShell, setting } from "../mending.ts";
import { codeOf } from "../network.ts";
import { sentence, describePlatform } from "../subject.ts";

const name: Check = {
  id: "name",
  title: "name",
  needs: ["configuration"],
  look: async (context) => {
    const problem = proxyProblem(context);
    if (problem !== undefined) return wrong(sentence(problem));
    const url = await start(context);
    if (typeof url === "string") {
      return wrong(sentence(url), undefined, [setting(context.subject.place, "endpoint")]);
    }
    const host = hostOf(url);
    if (context.learned.stopEmulator) return well("The emulator has started.");
    const proxy = proxyFor(url, context.subject.place.environment);
    if (proxy) return well(`Requests go through the proxy ${describeProxy(proxy)}, which looks up ${host}.`);
    if (isIP(host) !== 0) return well(`${host} is an address.`);
    try {
      const addresses = await context.network.addresses(host);
      return well(`${host} is ${some(addresses, 3)}.`);
    } catch (error) {
      const isUnknown = codeOf(error) === "ENOTFOUND";
      const seen = isUnknown
        ? `No server is called ${host}.`
        : `The name ${host} can't be looked up (${codeOf(error)}).`;
      const means = isUnknown
        ? "The endpoint is mistyped, or its name is known in another network (a VPN) alone."
        : "This machine reaches no name server.";
      return wrong(seen, means, [setting(context.subject.place, "endpoint")]);
    }
  },
};

/** Describes the problem of the proxy that the environment names. */
function proxyProblem({ subject: { settings, place } }: CheckContext): string | undefined {
  const address = URL.parse(settings?.endpoint ?? "");
  try {
    if (address) proxyFor(address, place.environment);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The address of the platform, or what is wrong with it: an emulator may not start. */
async function start({ subject, learned, most, timeoutMs }: CheckContext): Promise<URL | string> {
  const { settings, folder } = subject;
  if (!settings) throw new Error("the configuration was found to be well");
  let profile: ReturnType<typeof readProfile>;
  try {
    profile = readProfile(settings.profile, folder);
  } catch (error) {
    return `microapps:profile can't be taken: ${messageOf(error)}`;
  }
  try {
    const { url, isEmulator, close } = await locatePlatform(settings.endpoint, folder);
    if (isEmulator) learned.stopEmulator = close;
    const { username, password, search, hash } = new URL(url);
    if (username || password || search || hash) {
      return "microapps:endpoint must be a plain address, without user, password, query or fragment";
    }
    learned.profile = profile;
    learned.calls = new ReadingCalls({ url, settings, profile, most, timeoutMs });
    return (learned.url = new URL(url));
  } catch (error) {
    return `The emulator does not start: ${messageOf(error)}`;
  }
}

const addressOf = ({ learned }: CheckContext): URL => {
  if (!learned.url) throw new Error("the address is known by now");
  return learned.url;
};

const connection: Check = {
  id: "connection",
  title: "connection",
  needs: ["name"],
  look: async (context) => {
    const url = addressOf(context);
    const origin = shown(context);
    try {
      await context.network.connect(url, context.timeoutMs);
    } catch (error) {
      if (error instanceof ProxyError) {
        const means = "Where the platform is reached without a proxy, NO_PROXY names its host.";
        return wrong(`${error.message}.`, means, [`export NO_PROXY=${quoteForShell(hostOf(url))}`]);
      }
      const code = codeOf(error);
      const mend = [setting(context.subject.place, "endpoint")];
      if (code === "ECONNREFUSED") {
        const means = "The port is wrong, or the platform is not running.";
        return wrong(`Nothing listens at ${origin}.`, means, mend);
      }
      const seen = code === "ETIMEDOUT" ? `${origin} does not answer.` : `${origin} can't be reached (${code}).`;
      const means = "A firewall drops what is sent, the address is wrong, or the network is down.";
      return wrong(seen, means, mend);
    }
    return well(`${origin} takes connections.`);
  },
};

/** The platform at the beginning of a sentence. */
const shown = ({ subject: { settings } }: CheckContext): string =>
  settings === undefined || settings.endpoint.startsWith("emulator:") ? "The emulator" : describePlatform(settings);

const certificate: Check = {
  id: "certificate",
  title: "certificate",
  needs: ["connection"],
  look: async (context) => {
    const url = addressOf(context);
    const { place } = context.subject;
    if (url.protocol === "http:") {
      if (!context.subject.settings?.insecure) return well("None is needed: http:// stays on this machine.");
      return noteFinding("microapps:insecure allows http://.", "Everybody on the way can read passwords and answers.", [
        setting(place, "endpoint", `https://${url.host}`),
      ]);
    }
    const checked = place.environment["NODE_TLS_REJECT_UNAUTHORIZED"] !== "0";
    if (!checked) {
      const means = "Whoever is on the way can pass for the platform and read the password.";
      return wrong("NODE_TLS_REJECT_UNAUTHORIZED=0 believes every certificate.", means, [
        "unset NODE_TLS_REJECT_UNAUTHORIZED",
      ]);
    }
    try {
      const found = await context.network.certificate(url, context.timeoutMs);
      if (found.refused === undefined) return well(`It is valid until ${dayOf(found.to)}.`);
      return refusedCertificate(context, found);
    } catch (error) {
      return withoutTLS(context, codeOf(error));
    }
  },
};

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function refusedCertificate(
  { now, subject: { place } }: CheckContext,
  found: { refused: string | undefined; from: number; to: number; isForHost: boolean },
): Finding {
  if (found.to < now()) {
    const means = "The platform's operator has to renew it, unless the clock of this machine is wrong.";
    return wrong(`The certificate of the platform has expired on ${dayOf(found.to)}.`, means, ["date"]);
  }
  if (found.from > now()) {
    const means = "The clock of this machine is wrong, or the certificate was installed too early.";
    return wrong(`The certificate of the platform is valid from ${dayOf(found.from)} on.`, means, ["date"]);
  }
  if (!found.isForHost) {
    const means = "The endpoint names the server by another name than its certificate does, or it is another server.";
    return wrong("The certificate is for another name than the endpoint's.", means, [setting(place, "endpoint")]);
  }
  const isSelfSigned = found.refused?.includes("SELF_SIGNED") ?? false;
  const seen = isSelfSigned
    ? "The certificate of the platform is signed by itself, or by an authority that is not known here."
    : `The certificate of the platform is not believed (${found.refused ?? ""}).`;
  const means =
    "If the operator's authority is a private one, name its certificate; otherwise this may be another server.";
  return wrong(seen, means, ["export NODE_EXTRA_CA_CERTS=<file of the authority's certificate>"]);
}

/** A server that does not speak TLS may speak without. */
async function withoutTLS(context: CheckContext, code: string): Promise<Finding> {
  const url = addressOf(context);
  const plain = new URL(url);
  plain.protocol = "http:";
  if (url.port === "") plain.port = "443";
  context.learned.calls?.count();
  const answers = await context.network.request(plain, "GET", context.timeoutMs).then(
    ({ text }) => !/https/i.test(text ?? ""),
    () => false,
  );
  const { place } = context.subject;
  if (!answers) {
    return wrong(
      `No secure connection to ${shown(context)} is possible (${code}).`,
      "The server, or something on the way, ends it.",
      [setting(place, "endpoint")],
    );
  }
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const means = isHere ? "On this machine http:// is enough." : "Another port may be the right one: ask the operator.";
  const mend = isHere ? setting(place, "endpoint", plain.origin + pathIn(context)) : setting(place, "endpoint");
  return wrong(`${shown(context)} answers http:// and not https://.`, means, [mend]);
}

const pathIn = (context: CheckContext): string => addressOf(context).pathname.replace(/\/+$/, "");

/** Address for a request without a session, which every platform refuses in its own form. */
export function toProbeAddress(url: URL, base = url.pathname.replace(/\/+$/, "")): URL {
  return new URL(base + endpoints.readorganization.path, url.origin);
}

const clock: Check = {
  id: "clock",
  title: "clock",
  needs: ["answer"],
  look: ({ learned: { answer } }) => {
    if (answer?.date === undefined) return noteFinding("The platform does not say what time it is.");
    const behindMs = answer.date - answer.ownDate;
    const minutes = Math.round(Math.abs(behindMs) / 60_000);
    if (minutes < maxMinutes) return well("It agrees with the platform's.");
    const amount = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
    return wrong(
      `The clock of this machine is ${amount} ${behindMs > 0 ? "behind" : "ahead of"} the platform's.`,
      "Approvals, certificates and tokens expire by it.",
      ["timedatectl set-ntp true"],
    );
  },
};

/** Minutes from which on clocks differ: headers have no fractions, and answers take a while. */
const maxMinutes = 5;

export const connectionChecks: readonly Check[] = [name, connection, certificate];
export const clockCheck = clock;
export { addressOf, shown };

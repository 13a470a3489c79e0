import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { tunnel } from "../../../provider/client/http/proxies.ts";
import { machineNetwork } from "./network.ts";
import { account, Clinic, secrets, type Case } from "./testing/clinic.ts";
import { always, at } from "./testing/front.ts";

let clinic: Clinic;
beforeAll(async () => (clinic = await Clinic.open()));
afterAll(() => clinic.close());

const seed = (text: string): string => `seeds: { r: ${text} }\n`;
const unknownName = (): Promise<never> => Promise.reject(Object.assign(new Error("no name"), { code: "ENOTFOUND" }));
const hours = (count: number): Case["surroundings"] => ({
  network: {
    ...machineNetwork,
    request: async (...words) => {
      const reached = await machineNetwork.request(...words);
      return { ...reached, ownDate: reached.ownDate + count * 3_600_000 };
    },
  },
});
const on = (date: string): Case["surroundings"] => ({ now: () => Date.parse(date) });
const distant = "https://platform.example.com";
const throughNobody = { url: new URL(`http://me:${secrets.proxy}@127.0.0.1:9`), variable: "HTTPS_PROXY" };
const behindNobody: Case["surroundings"] = {
  network: { ...machineNetwork, connect: (...words) => tunnel(throughNobody, ...words).then(() => undefined) },
};
const failure = (message: string): object => ({ status: "failure", message });

/** The problem, the first sentence, and the exit status. */
test.each<[string, Case, string, 0 | 2 | 3]>([
  ["a wrong port", { config: { endpoint: "<nobody>" } }, "Nothing listens at <nobody>.", 2],
  [
    "http:// for https://",
    { config: { endpoint: "<secure without s>" } },
    "<secure without s> wants https:// and not http://.",
    2,
  ],
  [
    "https:// for http://",
    { config: { endpoint: "<front with s>" } },
    "<front with s> answers http:// and not https://.",
    2,
  ],
  [
    "the path of the API in the endpoint",
    { config: { endpoint: "<platform>/api" } },
    "The platform answers at <platform>, and not below the path of the endpoint.",
    2,
  ],
  [
    "a path that leads nowhere",
    { config: { endpoint: "<front>/elsewhere" }, answer: always(404, failure("nothing here")) },
    "<front> answers with HTTP 404 in JSON where the platform's API should be.",
    2,
  ],
  [
    "a redirect to another host",
    { config: { endpoint: "<front>" }, answer: always(302, "", { location: "https://sso.example.com/login?to=x" }) },
    "<front> redirects to https://sso.example.com (HTTP 302).",
    2,
  ],
  [
    "a redirect to a login page",
    { config: { endpoint: "<front>" }, answer: always(302, "", { location: "/login" }) },
    "<front> redirects to another path (HTTP 302).",
    2,
  ],
  [
    "a web page",
    { config: { endpoint: "<front>" }, answer: always(200, "<!doctype html><title>Welcome</title>") },
    "<front> answers with a web page where the platform's API should be.",
    2,
  ],
  [
    "another API",
    { config: { endpoint: "<front>" }, answer: always(404, { detail: "Not Found" }) },
    "<front> answers with HTTP 404 in JSON where the platform's API should be.",
    2,
  ],
  [
    "an API that says yes to everybody",
    { config: { endpoint: "<front>" }, answer: always(200, { users: [] }) },
    "<front> answers with JSON of another kind where the platform's API should be.",
    2,
  ],
  [
    "a gateway without a platform",
    { config: { endpoint: "<front>" }, answer: always(502, "<html>Bad Gateway</html>") },
    "<front> is not working now (HTTP 502).",
    2,
  ],
  [
    "a proxy in front of the network",
    { config: { endpoint: "<front>" }, answer: always(407, "") },
    "Something on the way wants a login of its own (HTTP 407).",
    2,
  ],
  [
    "a proxy that is none",
    { config: { endpoint: distant }, environment: { HTTPS_PROXY: `socks5://me:${secrets.proxy}@127.0.0.1:9` } },
    "HTTPS_PROXY must name a proxy by an address with http:// or https://.",
    2,
  ],
  [
    "a proxy that is not there",
    {
      config: { endpoint: distant },
      environment: { HTTPS_PROXY: throughNobody.url.href },
      surroundings: behindNobody,
    },
    "The proxy http://127.0.0.1:9 (HTTPS_PROXY) can't be reached, or does not answer (ECONNREFUSED).",
    2,
  ],
  [
    "a mistyped host",
    {
      config: { endpoint: "https://platfrom.example.com" },
      surroundings: { network: { ...machineNetwork, addresses: unknownName } },
    },
    "No server is called platfrom.example.com.",
    2,
  ],
  [
    "a certificate signed by itself",
    { config: { endpoint: "<secure>" } },
    "The certificate of the platform is signed by itself, or by an authority that is not known here.",
    2,
  ],
  [
    "a certificate that has expired",
    { config: { endpoint: "<secure>" }, surroundings: on("2200-01-01") },
    "The certificate of the platform has expired on 2126-10-29.",
    2,
  ],
  [
    "a certificate of the future",
    { config: { endpoint: "<secure>" }, surroundings: on("2001-01-01") },
    "The certificate of the platform is valid from 2026-11-22 on.",
    2,
  ],
  [
    "a certificate of another host",
    { config: { endpoint: "<elsewhere>" } },
    "The certificate is for another name than the endpoint's.",
    2,
  ],
  [
    "certificates that are not looked at",
    { config: { endpoint: "<secure>" }, environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } },
    "NODE_TLS_REJECT_UNAUTHORIZED=0 believes every certificate.",
    2,
  ],
  [
    "a wrong password",
    { config: { password: secrets.other } },
    "The platform refuses the login of ada@example.com: Login failed: wrong e-mail address or password.",
    3,
  ],
  [
    "the login of another platform",
    { config: { email: "eve@example.com" } },
    "The platform refuses the login of eve@example.com: Login failed: wrong e-mail address or password.",
    3,
  ],
  [
    "a password with the line break of its file",
    { config: { password: `${account.password}\n` } },
    "The platform refuses the login, and the password begins or ends with white space or a line break.",
    3,
  ],
  [
    "an account that is locked",
    { config: { endpoint: "<front>" }, answer: at("/login", always(401, failure("Account locked after 5 attempts"))) },
    "The platform takes no login for now: Account locked after 5 attempts.",
    3,
  ],
  [
    "too many logins",
    {
      config: { endpoint: "<front>" },
      answer: at("/login", always(429, failure("Slow down"), { "retry-after": "60" })),
    },
    "The platform takes no login for now: Slow down.",
    3,
  ],
  [
    "a login that answers otherwise",
    { config: { endpoint: "<front>" }, answer: at("/login", always(200, { session: "abc" })) },
    "<front> answers login in a form that is not known: The answer is not as documented: authToken; it has session.",
    2,
  ],
  [
    "a token that has expired",
    { config: { password: undefined, token: secrets.other, userID: "someone" } },
    "The platform refuses the token of user someone: You must be logged in: the token is not valid.",
    3,
  ],
  [
    "a token without its user",
    { config: { password: undefined, token: secrets.other } },
    "microapps:token needs microapps:userID beside it.",
    2,
  ],
  [
    "an API key that was revoked",
    { config: { apiKey: secrets.other } },
    "The platform refuses the API key: x-api-key is not valid.",
    2,
  ],
  [
    "apps without an API key",
    { file: "apps: { a: { userEmail: ada@example.com, appPrompt: An app } }\n" },
    "No API key is set, and the program generates apps.",
    2,
  ],
  [
    "an organization's ID with a typo",
    { config: { organizationID: "org-acne" } },
    "There is no organization org-acne on the platform.",
    2,
  ],
  [
    "an organization's name for its ID",
    { config: { organizationID: "Acme" } },
    "microapps:organizationID has the name of an organization and not its ID.",
    2,
  ],
  [
    "an account that is in no organization",
    { config: { email: "bob@example.com", password: secrets.other } },
    "This account may not read organization org-acme.",
    2,
  ],
  [
    "a table that is not there",
    { file: seed("{ table: region, key: Code, rows: [{ Code: A }] }") },
    "There is no table region on the platform.",
    2,
  ],
  ["a table by its name", { tables: ["My regions:Code"] }, "There is no table My regions on the platform.", 2],
  [
    "a key in another letter case",
    { file: seed("{ table: regions, key: code, rows: [{ code: A }] }") },
    'No row of table regions has the label "code", which is in its key.',
    2,
  ],
  [
    "a label with a slip",
    { file: seed("{ table: regions, key: Code, rows: [{ Code: A, Nmae: a }] }") },
    'No row of table regions has the label "Nmae", and the table has "Name".',
    2,
  ],
  ["a key that rows share", { tables: ["twins:Code"] }, "A key is in several rows of table twins: A.", 2],
  [
    "a key that secret rows share, and that is not named",
    { file: seed("{ table: twins, key: Code, sensitive: true, rows: [{ Code: A }] }") },
    "A key is in several rows of table twins.",
    2,
  ],
  [
    "a clock that is hours ahead",
    { surroundings: hours(5) },
    "The clock of this machine is 5 hours ahead of the platform's.",
    2,
  ],
  [
    "a clock that is hours behind",
    { surroundings: hours(-3) },
    "The clock of this machine is 3 hours behind the platform's.",
    2,
  ],
  [
    "names of the other form",
    { config: { endpoint: "<front>" }, answer: at("/storecopy", always(404, failure("no such endpoint"))) },
    "The platform calls storecopy otherwise: s3copy.",
    2,
  ],
  [
    "no endpoint",
    { config: { endpoint: undefined } },
    "No endpoint is configured: run `config set microapps:endpoint https://<platform>` for a platform, or `config set microapps:endpoint 'emulator:<file>?seed=<platform.yaml>'` for the emulator (or set MICROAPPS_ENDPOINT).",
    2,
  ],
  [
    "no password",
    { config: { password: undefined } },
    "No credentials are configured: set microapps:email and microapps:password (with --secret), or microapps:token and microapps:userID.",
    2,
  ],
  [
    "an endpoint without its scheme",
    { config: { endpoint: "platform.example.com" } },
    "microapps:endpoint must be an address that begins with https:// (or http://), or emulator:<file>.",
    2,
  ],
  [
    "an endpoint with a password in it",
    { config: { endpoint: `https://me:${secrets.proxy}@platform.example.com` } },
    "microapps:endpoint must be a plain address, without user, password, query or fragment.",
    2,
  ],
  [
    "http:// to another machine",
    { config: { endpoint: "http://platform.example.com" } },
    "Nothing was sent: microapps:endpoint begins with http:// and is on another machine, so everybody on the way could read the password: use https://, or set microapps:insecure to true.",
    2,
  ],
  [
    "a setting that nobody reads",
    { config: { readonly: "true" } },
    "microapps:readonly is no configuration; did you mean microapps:readOnly?",
    2,
  ],
  [
    "a password of three letters",
    { config: { password: "abc" } },
    "The configuration is wrong: microapps:password has less than 4 characters, and no message could hide it: use a longer one.",
    2,
  ],
  [
    "a password of the environment for an endpoint of the stack",
    { environment: { MICROAPPS_PASSWORD: secrets.other } },
    "Nothing was sent: MICROAPPS_PASSWORD is set in the environment, and the endpoint comes from the stack or its state: a credential of the environment is used only where the environment says: set MICROAPPS_ENDPOINT to the address of its platform, or MICROAPPS_ALLOWED_ENDPOINTS to the origin (https://<host>, or emulator:), also in the environment.",
    2,
  ],
  [
    "an origin that is not allowed",
    { environment: { MICROAPPS_ALLOWED_ENDPOINTS: "https://platform.example.com" } },
    "Nothing was sent: the origin of microapps:endpoint is not among those of MICROAPPS_ALLOWED_ENDPOINTS: add it there, or correct the endpoint.",
    2,
  ],
  [
    "a mistyped variable",
    { environment: { MICROAPPS_READONLY: "true" } },
    "The variable MICROAPPS_READONLY is not read; did you mean MICROAPPS_READ_ONLY?",
    2,
  ],
  [
    "another passphrase",
    { environment: { PULUMI_CONFIG_PASSPHRASE: "y" } },
    "Incorrect passphrase: set PULUMI_CONFIG_PASSPHRASE to the one this stack was created with.",
    2,
  ],
  [
    "a stack that is not there",
    { stack: "dve" },
    "No stack named 'dve' found; did you mean 'dev'? If not, make it with 'stack init dve'.",
    2,
  ],
  [
    "a mistake in the Environment file",
    { file: "seeds: { r: { table: regions, kye: Code } }\n" },
    'Environment file dev.yaml has a problem: dev.yaml:1:31: unknown key "kye"; did you mean "key"?',
    2,
  ],
  [
    "an emulator without its seed",
    { config: { endpoint: "emulator:x.db?seed=nowhere.yaml" } },
    "The emulator does not start: the seed <folder>/nowhere.yaml can't be read: there is no such file; correct its path.",
    2,
  ],
  ["a table without rows", { tables: ["empty:Code"] }, "It is there, and this account sees no rows in it.", 0],
  [
    "a slash behind the endpoint",
    { config: { endpoint: "<platform>/" }, tables: ["empty:Code"] },
    "It is there, and this account sees no rows in it.",
    0,
  ],
])("%s", async (_, one, seen, status) => {
  const { status: ended, findings } = await clinic.look(one);
  const first = findings.find(({ is }) => is === (status === 0 ? "noted" : "wrong"));
  expect(clinic.steady(first?.seen ?? "nothing")).toBe(seen);
  expect(ended).toBe(status);
});

test("a command that mends does nothing else, whatever the endpoint is called", async () => {
  const { findings } = await clinic.look({
    config: { endpoint: "https://a;$(id).example.com" },
    environment: { HTTPS_PROXY: throughNobody.url.href },
    surroundings: behindNobody,
  });
  const commands = findings.flatMap(({ mend = [] }) => mend);
  expect(commands).toEqual(["export NO_PROXY='a;$(id).example.com'"]);
});

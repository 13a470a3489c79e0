import { routesOf, type WireNames } from "../platform/contract/endpoints.ts";
import { defaultAdministrator } from "../platform/seed/schema.ts";
import { administrate, adminPath, health, healthPath } from "./admin/actions.ts";
import type { Database } from "./data/database.ts";
import { filePath, findSignedFile } from "./data/files.ts";
import { hashToken, isPassword } from "./data/hashing.ts";
import { openapi } from "./http/openapi.ts";
import { type Answering, type Arrived, isLoopback, isOwnHost, type Outgoing } from "./http/server.ts";
import { type Hosted, type HostedPlatforms, instancePath } from "./platform/hosted.ts";

export interface ExposureOptions {
  /** Address to listen on. Default: 127.0.0.1, which only this machine reaches. */
  host?: string | undefined;
  /** Further names, such as `platform.test`, that requests may have in their Host header. Default: none. */
  allowHosts?: readonly string[] | undefined;
  /** Address that clients reach it by, such as a proxy's. Default: that of the request at hand. */
  publicUrl?: string | undefined;
  /** Origins, such as `http://localhost:5173`, whose pages a browser lets call the platform. Default: none. */
  allowOrigins?: readonly string[] | undefined;
  /** Lets other machines use `/_emulator/`, with the token. Default: false, this machine alone. */
  allowAdmin?: boolean | undefined;
}

/** How an emulator may be reached. */
export interface Exposure {
  /** True if a Host header names this emulator. */
  isOurs: (host: string) => boolean;
  /** Address that clients are given; that of their own request when it is left out. */
  publicUrl: string | undefined;
  /** Origins whose pages may call the platform. */
  origins: readonly string[];
  /** True if other machines administrate it, with its token. */
  allowAdmin: boolean;
}

/** Reads how an emulator may be reached; throws for an address or origin that is none. */
export function readExposure(options: ExposureOptions): Exposure {
  const { host = "127.0.0.1", allowHosts = [], allowOrigins = [], allowAdmin = false } = options;
  const publicUrl = options.publicUrl?.replace(/\/+$/, "");
  const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");
  if (publicUrl !== undefined && !isWebAddress(publicUrl))
    throw new Error("the public address must be an http(s) address, such as https://platform.example.com");
  const origins = allowOrigins.map((origin) => {
    const named = isWebAddress(origin) ? new URL(origin).origin : undefined;
    if (named === origin.replace(/\/$/, "").toLowerCase()) return named;
    const every = origin === "*" ? ": with * any page that is open on this machine would reach it" : "";
    throw new Error(`the origin ${origin} must be one of pages, such as http://localhost:5173${every}`);
  });
  return { isOurs: hostCheck(host, allowHosts, publicUrl), publicUrl, origins, allowAdmin };
}

/**
 * Decides by its Host header whether a request is meant for this emulator. DNS rebinding makes a foreign page a caller
 * of this machine: it comes under a name of its own. Where other machines reach the emulator any name may lead here,
 * unless the names are listed. The public address counts as listed.
 */
function hostCheck(address: string, names: readonly string[], publicUrl = ""): (host: string) => boolean {
  const isOpen = !isLoopback(address);
  const published = URL.parse(publicUrl)?.host;
  const listed = new Set([...names, ...(published === undefined ? [] : [published])].map((name) => name.toLowerCase()));
  const isAddress = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])(:\d+)?$/i;
  return (host) =>
    isOwnHost(host) ||
    (isOpen && (names.length === 0 || isAddress.test(host))) ||
    [host, host.replace(/:\d+$/, "")].some((name) => listed.has(name.toLowerCase()));
}

/** Throws when other machines reach a platform with credentials that everybody knows. */
export function refuseKnownCredentials(database: Database, address: string): void {
  if (isLoopback(address)) return;
  const { email, password, apiKey } = defaultAdministrator;
  const user = database.one<{ password: string | null }>("SELECT password FROM users WHERE email = ?", email);
  const known = user?.password ? isPassword(password, user.password) : false;
  const key = database.one("SELECT 1 FROM api_keys WHERE key = ?", hashToken(apiKey)) !== undefined;
  if (!known && !key) return;
  throw new Error(
    `other machines reach ${address}, and the ${known ? "password" : "key"} of the administrator is the one that ` +
      `everybody knows: give a seed with an administrator of your own, or MICROAPPS_EMULATOR_PASSWORD, and a new data file`,
  );
}

/** Routes each request to its platform and to the part that answers. */
export function routeRequests(
  platforms: HostedPlatforms,
  { wireNames, isOurs, publicUrl, origins, allowAdmin }: Exposure & { wireNames: WireNames },
): Answering {
  const routes = routesOf(wireNames);
  const answered = async (hosted: Hosted, request: Arrived, path: string) => {
    const { method, headers, query, body } = request;
    const { name, platform } = hosted;
    const host = headers["host"] ?? "localhost";
    const isHost = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host); // one that can stand in an address
    const base = publicUrl ?? (isHost ? `http://${host}` : platforms.main.platform.url);
    const url = `${base}${instancePath(name)}`;
    const admin = (path: string) => administrate({ ...hosted, all: platforms, url: base, allowAdmin }, request, path);
    if (path === "") return answer(failed(308, "The console ends with a slash", { location: `${url}/` }));
    if (path === "/" && method === "GET") return answer(await admin("console/index.html"));
    if (path.startsWith(adminPath)) return answer(await admin(path.slice(adminPath.length)));
    if (path.startsWith(filePath)) return answer(fileOf(platform.database, path.slice(filePath.length), request));
    if (path === "/openapi.json") return answer({ status: 200, body: openapi(url), headers: {} });
    const route = routes.get(path);
    if (!route) return answer(failed(404, `There is no endpoint ${path}`));
    if (!route.methods.includes(method))
      return answer(failed(405, `${path} takes ${route.methods.join(" or ")}`, { allow: route.methods.join(", ") }));
    return platform.answer({ name: route.name, headers, query: Object.fromEntries(query), body, url });
  };
  return async (request) => {
    const { method, headers } = request;
    if (!isOurs(headers["host"] ?? "localhost")) return answer(failed(403, foreignHost));
    const origin = origins.find((origin) => origin === headers["origin"]);
    if (origin === undefined && isForeignPage(request)) return answer(failed(403, foreignPage));
    if (request.path === healthPath && method === "GET") return answer(health(platforms.main));
    const [, name = "", path = request.path] = /^\/instances\/([^/]+)(\/.*|$)/.exec(request.path) ?? [];
    const allowed = path.startsWith(adminPath) ? undefined : origin;
    const isPreflight = method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
    const found =
      isPreflight && allowed !== undefined
        ? answer(preflight)
        : await platforms.use(name, (hosted) => answered(hosted, request, path));
    const { outgoing, ending } = found ?? answer(failed(404, `There is no instance ${name}`));
    if (origins.length === 0) return { outgoing, ending };
    // A browser lets a page read what another origin answers only where the answer names the page's origin.
    const open = { "access-control-allow-origin": allowed ?? "", "access-control-expose-headers": "date, retry-after" };
    const added = { vary: "origin", ...(allowed === undefined ? {} : open) };
    return { outgoing: { ...outgoing, headers: { ...outgoing.headers, ...added } }, ending };
  };
}

/** Tells a browser what a page may send: what clients send, and for two hours. */
const preflight: Outgoing = {
  status: 204,
  body: Buffer.alloc(0),
  headers: {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, x-auth-token, x-user-id, x-api-key",
    "access-control-max-age": "7200",
  },
};

/** True for a request that a page of another origin can send without the browser's preflight: it has no content type. */
function isForeignPage({ method, headers: { origin, host = "", "content-type": type } }: Arrived): boolean {
  if (method === "GET" || method === "HEAD" || type !== undefined || origin === undefined) return false;
  return URL.parse(origin)?.host !== host;
}

const foreignPage = "A page of another origin says what it sends: Content-Type must be application/json";

const foreignHost =
  "This platform is called by this machine's own names: localhost, 127.0.0.1 or [::1]; start the emulator with " +
  "--allow-host <name> for another one";

const answer = (outgoing: Outgoing) => ({ outgoing, ending: "answer" as const });

/** Serves a stored file to whoever has its signed address; never as a page that a browser would run. */
function fileOf(database: Database, path: string, { method, query }: Arrived): Outgoing {
  if (method !== "GET") return failed(405, "Files are read with GET", { allow: "GET" });
  const file = findSignedFile(database, path, query);
  if (!file) return failed(404, "There is no such file, or the signature does not belong to it");
  const headers = {
    "content-type": /^[\x20-\x7e]+$/.test(file.type) ? file.type : "application/octet-stream",
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
    "x-content-type-options": "nosniff",
  };
  return { status: 200, body: file.bytes, headers };
}

const failed = (status: number, message: string, headers: Record<string, string> = {}): Outgoing => ({
  ...{ status, headers },
  body: { status: "failure", message },
});

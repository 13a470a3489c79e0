import { knownPathSpellings, routesOf, type WireNames } from "../provider/contract/endpoints.ts";
import type { Switches } from "../provider/habits/deviations.ts";
import { administrate, adminPath, health, healthPath } from "./admin/actions.ts";
import { filePath, findSignedFile } from "./data/files.ts";
import { openapi } from "./http/openapi.ts";
import type { Answering, Arrived, Outgoing } from "./http/server.ts";
import type { Exposure } from "./platform/exposure.ts";
import { type Hosted, type HostedPlatforms, instancePath } from "./platform/hosted.ts";
import type { Platform } from "./platform/platform.ts";

/** How the emulator is reached. */
export interface RoutingOptions extends Exposure {
  wireNames: WireNames;
}

/** Routes each request to its platform and to the part that answers. */
export function routeRequests(platforms: HostedPlatforms, options: RoutingOptions): Answering {
  const { wireNames, isOurs, publicUrl, origins, allowAdmin } = options;
  const routes = routesOf(wireNames);
  const answered = async (hosted: Hosted, request: Arrived, path: string) => {
    const { method, headers, query, body } = request;
    const { name, platform } = hosted;
    const host = headers["host"] ?? "localhost";
    const base = publicUrl ?? (isHost(host) ? `http://${host}` : platforms.main.platform.url);
    const url = `${base}${instancePath(name)}`;
    const admin = (path: string) => administrate({ ...hosted, all: platforms, url: base, allowAdmin }, request, path);
    if (path === "")
      return answer({ ...failed(308, "The console ends with a slash"), headers: { location: `${url}/` } });
    if (path === "/" && method === "GET") return answer(await admin("console/index.html"));
    if (path.startsWith(adminPath)) return answer(await admin(path.slice(adminPath.length)));
    if (path.startsWith(filePath)) return answer(fileOf(platform, path.slice(filePath.length), request));
    if (path === "/openapi.json") return answer({ status: 200, body: openapi(url), headers: {} });
    const route = routes.get(path);
    if (!route || !answersTo(platform.dialect.habits, path)) return answer(failed(404, `There is no endpoint ${path}`));
    if (!route.methods.includes(method)) {
      return answer(failed(405, `${path} takes ${route.methods.join(" or ")}`, { allow: route.methods.join(", ") }));
    }
    return platform.answer({ name: route.name, headers, query: Object.fromEntries(query), body, url });
  };
  return async (request) => {
    const { method, headers } = request;
    if (!isOurs(headers["host"] ?? "localhost")) return answer(failed(403, foreignHost));
    const origin = origins.find((origin) => origin === headers["origin"]);
    if (origin === undefined && isForeignPage(request)) return answer(failed(403, foreignPage));
    if (request.path === healthPath && method === "GET") return answer(health(platforms.main));
    const [, name = "", path = request.path] = /^\/instances\/([^/]+)(\/.*|$)/.exec(request.path) ?? [];
    const isOpen = origin !== undefined && !path.startsWith(adminPath);
    if (isOpen && isPreflight(request)) return answer(preflight(origin));
    const found = await platforms.use(name, (hosted) => answered(hosted, request, path));
    const answering = found ?? answer(failed(404, `There is no instance ${name}`));
    if (origins.length === 0) return answering;
    return { ...answering, outgoing: allowPages(answering.outgoing, isOpen ? origin : undefined) };
  };
}

/** True if a platform knows a path that has two spellings by this one. */
function answersTo({ storecopyPath, uploadPath }: Switches, path: string): boolean {
  const ours = { storecopy: storecopyPath, uploadFileToStore: uploadPath };
  for (const [name, spelling] of Object.entries(knownPathSpellings)) {
    const habit = ours[name as keyof typeof ours];
    if (habit !== "either" && (path.endsWith(`/${name}`) || path.endsWith(`/${spelling}`))) {
      return path.endsWith(`/${habit}`);
    }
  }
  return true;
}

/**
 * True for a request that a page of another origin can send without the browser's preflight: it has no content type.
 */
function isForeignPage({ method, headers }: Arrived): boolean {
  const { origin, host = "" } = headers;
  if (method === "GET" || method === "HEAD" || headers["content-type"] !== undefined || origin === undefined)
    return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

const foreignPage = "A page of another origin says what it sends: Content-Type must be application/json";

const foreignHost =
  "This platform is called by this machine's own names: localhost, 127.0.0.1 or [::1]; start the emulator with " +
  "--allow-host <name> for another one";

/** True if a Host header can stand in an address. */
const isHost = (host: string): boolean => /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host);

const answer = (outgoing: Outgoing) => ({ outgoing, ending: "answer" as const });

/** Serves a stored file to whoever has its signed address; never as a page that a browser would run. */
function fileOf(platform: Platform, path: string, { method, query }: Arrived): Outgoing {
  if (method !== "GET") return failed(405, "Files are read with GET", { allow: "GET" });
  const file = findSignedFile(platform.database, path, query);
  if (!file) return failed(404, "There is no such file, or the signature does not belong to it");
  return {
    status: 200,
    body: file.bytes,
    headers: {
      "content-type": headerText(file.type),
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
      "x-content-type-options": "nosniff",
    },
  };
}

const headerText = (text: string): string => (/^[\x20-\x7e]+$/.test(text) ? text : "application/octet-stream");

const failed = (status: number, message: string, headers: Record<string, string> = {}): Outgoing => ({
  status,
  body: { status: "failure", message },
  headers,
});

// A browser lets a page read what another origin answers only where the answer names the page's origin.

export const isPreflight = ({ method, headers }: Arrived): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/** Answers a browser that asks what a page may send: what clients send, and for two hours. */
export const preflight = (origin: string): Outgoing =>
  allowPages(
    {
      status: 204,
      body: Buffer.alloc(0),
      headers: {
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "content-type, x-auth-token, x-user-id, x-api-key",
        "access-control-max-age": "7200",
      },
    },
    origin,
  );

/** An answer that pages of an origin may read; without one, that depends on the origin alone. */
export const allowPages = (outgoing: Outgoing, origin: string | undefined): Outgoing => ({
  ...outgoing,
  headers: {
    ...outgoing.headers,
    vary: "origin",
    ...(origin === undefined
      ? {}
      : { "access-control-allow-origin": origin, "access-control-expose-headers": "date, retry-after" }),
  },
});

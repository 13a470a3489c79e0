import { endpoints, knownPathSpellings, type EndpointName, type WireNames } from "./endpoints.ts";
import { isObject } from "./wire.ts";

export interface Route {
  name: EndpointName;
  methods: readonly string[];
}

/** Endpoints by path, each under every spelling that is in use. */
export function routesOf(wireNames: WireNames = {}): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const [name, { path, method }] of Object.entries(endpoints)) {
    // GET requests are also sent as POST; the parameters of `list` are also sent in the query, so GET is likely.
    const methods = method === "GET" || path.endsWith("/list") ? ["GET", "POST"] : ["POST"];
    const route = { name: name as EndpointName, methods }; // keys of the contract's table
    routes.set(path, route);
    for (const renamed of ["storecopy", "uploadFileToStore"] as const) {
      if (!path.endsWith(`/${renamed}`)) continue;
      for (const spelling of [knownPathSpellings[renamed], wireNames[renamed]]) {
        if (spelling !== undefined) routes.set(path.replace(/[^/]+$/, spelling), route);
      }
    }
  }
  return routes;
}

/** Renames a deployment's parameter names in a body to the contract's. */
export function withOurNames(body: unknown, wireNames: WireNames = {}): unknown {
  const theirs = wireNames.platformFormat;
  if (theirs === undefined || !isObject(body) || !Object.hasOwn(body, theirs)) return body;
  return { platformFormat: body[theirs], ...body };
}
